/* SPDX-License-Identifier: MIT
 *
 * estimates.h - adds miss ratio curves of an estimator to the result: of the whole program, and of each
 * thread, object, function and line with enough samples.
 *
 * There are four sizes in each octave, from 1 KB until only cold misses are left. A point equal to the
 * previous one is left out.
 */
#ifndef NM_ESTIMATES_H
#define NM_ESTIMATES_H

#include "estimator.h"
#include "result.h"

enum { NM_ESTIMATE_LEAST_SAMPLES = 30 /* for a curve to be kept */ };

/* The estimator, and its keys: attr_of[key] is an index in result->attrs, for keys from 1 to keys - 1. */
struct nm_estimate_query {
	const struct nm_estimator *estimator;
	void *self;
	double rate; /* as in struct nm_result_estimate */
	const uint32_t *attr_of;
	size_t keys;
	const uint64_t *references; /* of each of result->attrs; NULL: unknown */
	unsigned line;              /* bytes */
};

/* Appends rows.  0 or NM_ENOMEM. */
int nm_estimates_add(struct nm_result *result, const struct nm_estimate_query *query);

#endif
