/* SPDX-License-Identifier: MIT
 *
 * lots.h - what the benchmark's programs share: random numbers that are the same everywhere, and their one
 * argument.
 */
#ifndef LOTS_H
#define LOTS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Marsaglia, "Xorshift RNGs" (2003): a generator of 64 bits. */
static inline uint64_t draw(void)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* A number below n. */
static inline uint32_t draw_below(uint32_t n) { return (uint32_t)((draw() >> 32) * n >> 32); }

/* The i-th argument as a number. */
static inline long argument(int argc, char **argv, int i)
{
	if (argc <= i) {
		fprintf(stderr, "%s: argument %d is missing\n", argv[0], i);
		exit(1);
	}
	return atol(argv[i]);
}

/* Memory, or the end of the program. */
static inline void *need(void *memory)
{
	if (!memory) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

#endif
