/* SPDX-License-Identifier: MIT
 *
 * shards_counts.h - what SHARDS (shards.c) counted of the touches of sampled lines, and the estimates from it.
 */
#ifndef NM_SHARDS_COUNTS_H
#define NM_SHARDS_COUNTS_H

#include "bins.h"
#include "estimator.h"
#include "vector.h"

enum { NM_SHARDS_PARTS = 16, NM_SHARDS_BINS = NM_BIN_COLD + 1 };

/* Touches by a key in a bin of distances; key 0: of all keys. */
struct nm_shards_row {
	uint32_t key, bin;
	int64_t touches;
	double weight;            /* sum of their weights */
	double blur;              /* sum of the variances of their distances, by weight */
	double distance, squares; /* sums of distances and of their squares, by weight */
	uint64_t most; /* no distance is longer: as many touches were made in between, of any lines */
	/* touches that would look cold if their line had a larger hash: their number, and the number of
	 * touches that they represent */
	float known, alike;
	/* `weight` of lines by hash, each times the root of 1 - 1/w: less where more lines are sampled */
	float parts[NM_SHARDS_PARTS];
};

struct nm_shards_counts {
	/* first the rows of key 0, one for each bin; other keys have the first bin of each quarter of an octave */
	struct nm_vec(struct nm_shards_row) rows;
	struct nm_vec(double) doubtful; /* [key]: weight of touches that look cold but may not be */
	struct nm_vec(double) lost;     /* [key]: weight of touches for which there was no row */
	struct nm_vec(uint64_t) told;   /* [key]: references, of lines that are sampled or not */
};

/* An estimate for each group, as nm_estimator.estimate() gives it. Sizes between quarters of an octave are taken
 * to be the next larger quarter, except for the whole. step: lines by which one sampled line may change a
 * distance. 0 or NM_ENOMEM. */
int shards_estimate(const struct nm_shards_counts *counts, const struct nm_groups *groups, uint64_t lines,
		    double step, struct nm_estimate *ret_estimates);

#endif
