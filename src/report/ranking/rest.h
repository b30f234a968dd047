/* SPDX-License-Identifier: MIT
 *
 * rest.h - sums over all pairs of object and line, for what a ranking does not show by rows.
 */
#ifndef NM_REPORT_REST_H
#define NM_REPORT_REST_H

#include <stdint.h>

#include "report_selection.h"

/* What the first screen keeps apart, as the SQL expression on columns of `counts` and `places` numbers it. Linking: the
 * dynamic linker's code, when it works for no call of the user's, and the tables in which it looks symbols up. Waiting:
 * the progress loops of MPI. */
enum nm_apart { NM_APART_NOT, NM_APART_LINKING, NM_APART_WAITING, NM_APARTS };
#define NM_WAITING_IN_MPI "waiting in MPI" /* their user_function in the views */
extern const char nm_apart_expression[];

struct nm_rest {
	int64_t pairs, misses, last_misses, cycles;
};

/* The sums of all pairs of the process that is selected, by enum nm_apart. 0 or a code. */
int nm_rest_sum(struct nm_profile *profile, const struct nm_selection *selection,
		struct nm_rest ret_rest[NM_APARTS], struct nm_error *err);

#endif
