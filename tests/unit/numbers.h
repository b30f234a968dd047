/* SPDX-License-Identifier: MIT
 *
 * numbers.h - numbers for the streams that models and their twins are given: the same in every run.
 * (splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 16.)
 */
#ifndef NM_TEST_NUMBERS_H
#define NM_TEST_NUMBERS_H

#include <stdint.h>

static uint64_t rng_state; /* a test may begin anew from any */

static inline uint64_t rng(void)
{
	uint64_t x = rng_state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* One of [0, n). */
static inline uint64_t below(uint64_t n) { return rng() % n; }

#endif
