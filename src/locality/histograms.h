/* SPDX-License-Identifier: MIT
 *
 * histograms.h - histograms of distances, in the bins of bins.h: of stack distances by who touched a line and
 * who had touched it before, of reuse distances by who touched it.
 *
 * A histogram is kept in parts of 16 bins, which exist from their first count on: distances of one pair lie
 * close to each other. A part has 44 bytes. A hash finds it, and before the hash stands a direct-mapped cache
 * of the parts found last: loops bring the same few again and again.
 */
#ifndef NM_HISTOGRAMS_H
#define NM_HISTOGRAMS_H

#include <stddef.h>
#include <stdint.h>

#include "stack.h"

enum nm_distance_unit { NM_DISTANCE_LINES, NM_DISTANCE_REFERENCES };

/* One bin of one histogram. */
struct nm_bin_count {
	uint32_t key, previous; /* previous: 0 with reuse distances, and where there is none */
	uint16_t bin;           /* bins.h */
	uint8_t unit;           /* enum nm_distance_unit */
	uint64_t count;
};

struct nm_histograms;

struct nm_histograms *nm_histograms_new(void); /* NULL: out of memory */
void nm_histograms_free(struct nm_histograms *histograms);

/* Counts the first of each of the touches. Of a reference that touches several lines the touch with the
 * largest stack distance counts; all of them must be in one call. 0 or NM_ENOMEM. */
int nm_histograms_add(struct nm_histograms *histograms, const struct nm_touch *touches, size_t count);

/* All bins with a count, in no order; malloc'ed.  0 or NM_ENOMEM. */
int nm_histograms_list(const struct nm_histograms *histograms, struct nm_bin_count **ret_counts,
		       size_t *ret_count);

#endif
