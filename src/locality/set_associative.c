/* SPDX-License-Identifier: MIT */
#include "set_associative.h"

#include <assert.h>
#include <math.h>

double nm_set_associative_miss(uint64_t distance, uint64_t sets, uint64_t ways)
{
	const double p = 1 / (double)sets;
	double term, hit = 0;

	assert(sets && ways);
	if (distance < ways)
		return 0;
	if (sets == 1)
		return 1;
	term = exp((double)distance * log1p(-p)); /* none of them in the set; then one, two, ... */
	for (uint64_t i = 0; i < ways; i++) {
		hit += term;
		term *= (double)(distance - i) / (double)(i + 1) * p / (1 - p);
	}
	return fmax(0, 1 - hit);
}
