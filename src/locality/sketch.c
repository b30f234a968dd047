/* SPDX-License-Identifier: MIT */
#include "sketch.h"

#include <math.h>

void nm_sketch_merge(uint8_t *to, const uint8_t *from)
{
	for (unsigned i = 0; i < NM_SKETCH; i++)
		to[i] = to[i] < from[i] ? from[i] : to[i];
}

double nm_sketch_count(const uint8_t *sketch)
{
	const double m = NM_SKETCH, alpha = 0.7213 / (1 + 1.079 / m);
	double sum = 0, estimate;
	unsigned empty = 0;

	for (unsigned i = 0; i < NM_SKETCH; i++) {
		sum += 1 / (double)(1ull << sketch[i]);
		empty += !sketch[i];
	}
	estimate = alpha * m * m / sum;
	return estimate <= 2.5 * m && empty ? m * log(m / empty) : estimate;
}
