/* SPDX-License-Identifier: MIT
 *
 * rows.h - facts of several profiles, summed by the keys of the request and put beside each other.
 */
#ifndef NM_DIFF_ROWS_H
#define NM_DIFF_ROWS_H

#include "facts.h"

struct nm_diff_row {
	const struct nm_diff_names
	    *names[NM_DIFF_SIDES]; /* as each profile has them; NULL: it has no such row */
	int64_t sums[NM_DIFF_SIDES][NM_DIFF_METRICS];
};

struct nm_diff_rows {
	struct nm_vec(struct nm_diff_row) at; /* those with a change, by its size */
	size_t unchanged;                     /* rows that are the same in all profiles */
};

/* From the first profile to the last. */
static inline int64_t nm_diff_change(const struct nm_diff_row *row, unsigned count,
				     enum nm_diff_metric metric)
{
	return row->sums[count - 1][metric] - row->sums[0][metric];
}

/* Initialise *rows with {0}. has: by key; `by` ranks rows, the largest change first. 0 or NM_ENOMEM. */
int nm_diff_rows_make(const struct nm_diff_side *sides, unsigned count, const char *has,
		      enum nm_diff_metric by, struct nm_diff_rows *rows);

#endif
