/* SPDX-License-Identifier: MIT
 *
 * families_check.h - estimates of a stream's miss ratios beside the truth: simulated fully associative caches of
 * random replacement and exact stack distances.
 */
#ifndef NM_TEST_FAMILIES_CHECK_H
#define NM_TEST_FAMILIES_CHECK_H

#include "estimator.h"
#include "families.h"

/* Groups: the whole, then objects, then keys. */
enum { FAMILY_SIZES = 12, FAMILY_GROUPS = FAMILY_OBJECTS + FAMILY_KEYS };

struct family_truth {
	uint64_t lines[FAMILY_SIZES]; /* of the caches, ascending; around the footprint they are dense */
	uint64_t references[FAMILY_GROUPS];
	double lru[FAMILY_SIZES][FAMILY_GROUPS], random[FAMILY_SIZES][FAMILY_GROUPS]; /* miss ratios */
};

void family_find_truth(const struct family_stream *stream, uint64_t seed, struct family_truth *ret_truth);

/* One method at one rate. Objects have rates of their own, as in analyses, or all have one, as in recordings. */
struct family_method {
	const struct nm_estimator *estimator;
	double rate;
	int recorded;
};

void family_estimate(const struct family_stream *stream, const struct family_truth *truth,
		     const struct family_method *method, uint64_t seed,
		     struct nm_estimate ret_estimates[FAMILY_SIZES][FAMILY_GROUPS]);

#endif
