/* SPDX-License-Identifier: MIT
 *
 * rest.h - sums over all pairs of object and line, for what a ranking does not show by rows.
 */
#ifndef NM_REPORT_REST_H
#define NM_REPORT_REST_H

#include <stdint.h>

#include "report_selection.h"

/* An SQL condition on the columns of `counts` and `places`: the dynamic linker's code, when it works for no
 * call of the user's, and the tables in which it looks symbols up. */
extern const char nm_linking_condition[];

struct nm_rest {
	int64_t pairs, misses, last_misses, cycles;
};

/* *ret_linking: of dynamic linking; *ret_other: of all other pairs of the process that is selected. 0 or a code. */
int nm_rest_sum(struct nm_profile *profile, const struct nm_selection *selection, struct nm_rest *ret_other,
		struct nm_rest *ret_linking, struct nm_error *err);

#endif
