/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * random.c - random numbers that are the same in each run: splitmix64 (Steele, Lea, Flood, Fast splittable
 * pseudorandom number generators, 2014).
 */
#include "hermetic_priv.h"

static ULong state;

void nm_random_seed(ULong seed) { state = seed; }

static ULong draw(void)
{
	ULong z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

void nm_random_fill(void *at, SizeT bytes)
{
	UChar *to = at;

	while (bytes > 0) {
		const ULong word = draw();
		const SizeT n = bytes < sizeof word ? bytes : sizeof word;

		VG_(memcpy)(to, &word, n);
		to += n;
		bytes -= n;
	}
}
