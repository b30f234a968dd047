/* SPDX-License-Identifier: MIT
 *
 * folds.h - what the first screen sums up instead of showing it by rows: pairs that cost less than a percent
 * of the time that the run waits, as "others (n)", and dynamic linking and waiting in MPI, where no line of the program
 * is at fault.
 */
#ifndef NM_REPORT_FOLDS_H
#define NM_REPORT_FOLDS_H

#include "pair_sums.h"
#include "table.h"

/* Folds the rows of the report "pairs", which were selected without what is apart (pair_sums.h). 0 or a code. */
int nm_fold_rows(const struct nm_pair_sums *all, struct nm_table *pairs, struct nm_error *err);

#endif
