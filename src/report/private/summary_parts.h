/* SPDX-License-Identifier: MIT
 *
 * summary_parts.h - what the first screen says beside the first pairs.
 */
#ifndef NM_REPORT_SUMMARY_PARTS_H
#define NM_REPORT_SUMMARY_PARTS_H

#include "pairs.h"
#include "report_priv.h"

/* ---- folds.c: what is summed up instead of shown by rows. Pairs that cost less than a percent of the time that the
 * run waits, as "others (n)", and dynamic linking and waiting in MPI, where no line of the program is at fault. ---- */

/* Folds the rows of the report "pairs", which were selected without what is apart (pairs.h): the selection has
 * read all. 0 or a code. */
int nm_fold_rows(const struct nm_selection *selection, struct nm_table *pairs, struct nm_error *err);

/* ---- merged.c: the profiles that a merged one was made of: reports of them, and the lines about them ---- */

enum { NM_MERGED_REPORTS = 4 };
extern const struct nm_report nm_merged_reports[NM_MERGED_REPORTS];

/* The groups; none if the profile is not merged. */
int nm_groups_fill(struct nm_profile *profile, const struct nm_selection *selection,
		   struct nm_report_table *ret_groups, struct nm_error *err);

/* "merged      6 profiles; 4 alike: rank 1-4; 2 alike: rank 0, 5 (most in ...)". 0 or NM_ENOMEM. */
int nm_groups_print(const struct nm_table *groups, unsigned width, FILE *out);

/* ---- mpi_waits.c: how much of a run waits in MPI. Progress loops hit the first level, so misses say nothing of them;
 * references do. Where a library has no symbols, not all loops are known. ---- */

struct nm_mpi_waits {
	double references; /* share of the references, 0 to 1 */
	char place[256];   /* the user's line or function that waits most; "": unknown */
	double at_place;   /* its share of what waits */
};

/* 0 or a code. */
int nm_mpi_waits_fill(struct nm_profile *profile, const struct nm_selection *selection,
		      struct nm_mpi_waits *ret_waits, struct nm_error *err);

/* Prints nothing where nothing waits. */
void nm_mpi_waits_print(const struct nm_mpi_waits *waits, unsigned width, FILE *out);

#endif
