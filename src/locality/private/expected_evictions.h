/* SPDX-License-Identifier: MIT
 *
 * expected_evictions.h - how many lines a fully associative cache with random replacement has evicted by each
 * moment of a run that begins with an empty cache, from reuse samples.
 *
 * A cache evicts nothing before it is full, which is when as many lines have been touched as it has (footprint.h).
 * From then on each miss evicts a line, and a line of L leaves with probability f(n) = 1 - (1 - 1/L)^n before n
 * lines are evicted (Berg and Hagersten, ISPASS 2004, equation 1). In a window of the run let R be the misses per
 * reference. A touch whose line was touched A references before has seen the R A misses of the window, or as many
 * as earlier windows had where it reaches back into them. So window after window
 *
 *     R = fresh lines per reference + the part of the other touches * the mean of f over those that end there,
 *
 * which is the paper's equation 3 with a miss ratio that is constant in each window. Where all windows are alike
 * and no line is fresh, it is equation 6.
 */
#ifndef NM_EXPECTED_EVICTIONS_H
#define NM_EXPECTED_EVICTIONS_H

#include "footprint.h"
#include "vector.h"

struct nm_eviction_cell;

struct nm_evictions {
	uint32_t windows;
	double length;  /* references of a window */
	double touches; /* lines that a reference touches, on average */
	struct nm_vec(
	    struct nm_eviction_cell) cells; /* touches that end in a window, of about one distance */
	size_t first[NM_WINDOWS + 1];       /* of these, of each window */
	struct nm_vec(double) at;           /* moments, */
	double *touched;                    /* and lines touched by then: [replicate][moment] */
	/* The cache that was solved last, for all samples and for each replicate: */
	double log_stay; /* log(1 - 1/L) */
	struct nm_eviction_path {
		double full;                    /* when it is; never: INFINITY */
		double evicted[NM_WINDOWS + 1]; /* at the start of each window, and at the end */
		double ratio[NM_WINDOWS];       /* misses per reference, once it is full */
	} paths[1 + NM_REPLICATES];
};

/* Weighs the footprint anew.  0 or NM_ENOMEM. */
int evictions_make(struct nm_evictions *ret_evictions, struct nm_footprint *footprint);
void evictions_done(struct nm_evictions *evictions);

/* Follows a cache of so many lines through the run. */
void evictions_solve(struct nm_evictions *evictions, uint64_t lines);

/* Lines that the solved cache has evicted by a moment. */
double evictions_by(const struct nm_evictions *evictions, unsigned replicate, double reference);

/* The probability that a line has left the solved cache after so many evictions. */
double evictions_leave(const struct nm_evictions *evictions, double evicted);

#endif
