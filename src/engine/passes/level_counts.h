/* SPDX-License-Identifier: MIT
 *
 * level_counts.h - what a simulated hierarchy counted becomes the levels of a result.
 */
#ifndef NM_LEVEL_COUNTS_H
#define NM_LEVEL_COUNTS_H

#include "pass.h"

/* What the model counted at a level, by key. */
struct nm_level_counts {
	struct nm_counts *counts;
	struct nm_extras *extras; /* NULL: the level has none */
	size_t rows, extra_rows;
};

/* Of a finished hierarchy, which may be freed then, before memory is taken for the result. levels: [NM_MAX_LEVELS],
 * all {0}. 0 or NM_ENOMEM. */
int nm_level_counts_take(struct nm_level_counts *levels, struct nm_hierarchy *hierarchy,
			 const struct nm_pass_merge *merge, struct nm_result *result);

/* Adds them to the result, unless `status` is a failure, and frees them. `status`, or NM_ENOMEM. */
int nm_level_counts_merge(struct nm_level_counts *levels, const struct nm_pass_merge *merge,
			  struct nm_result *result, int status);

#endif
