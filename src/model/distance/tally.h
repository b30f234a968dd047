/* SPDX-License-Identifier: MIT
 *
 * tally.h - counts references by who touched a line, who had touched it before, and how far apart: histograms
 * in the bins of bins.h, of stack distances by pair, of reuse distances by who touched.
 *
 * Short distances, which most touches have, are counted in small arrays: for each pair the stack distances
 * below 16, for each key the reuse distances below 1,024. Long ones are rows of a hash. It is far larger than
 * the host's caches, so a direct-mapped cache stands before it: loops bring the same few rows again and
 * again.
 */
#ifndef NM_TALLY_H
#define NM_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "stack.h"

enum nm_distance_unit { NM_DISTANCE_LINES, NM_DISTANCE_REFERENCES };

struct nm_tally_row {
	uint32_t key, previous; /* previous: 0 with reuse distances, and where there is none */
	uint16_t bin;           /* bins.h */
	uint8_t unit;           /* enum nm_distance_unit */
	uint8_t used;           /* 0: a free slot */
	uint64_t count;
};

struct nm_tally;

struct nm_tally *nm_tally_new(void); /* NULL: out of memory */
void nm_tally_free(struct nm_tally *tally);

/* Counts the first of each of the touches. Of a reference that touches several lines the touch with the
 * largest stack distance counts; all of them must be in one call. 0 or NM_ENOMEM. */
int nm_tally_add(struct nm_tally *tally, const struct nm_touch *touches, size_t count);

/* All rows, in no order, the tally's; nothing may be added afterwards.  0 or NM_ENOMEM. */
int nm_tally_rows(struct nm_tally *tally, struct nm_tally_row **ret_rows, size_t *ret_count);

#endif
