/* SPDX-License-Identifier: MIT
 *
 * pairs.h - runs a fault of a file's pairs, its repair, or the fault over 16K.
 *
 *     PROGRAM NAME fault|repaired|still      PROGRAM: lists the names
 *
 * All three do the same work: the same code on other data, or the same loops in another order. What the fault takes
 * longer than over 16K is what it waits. Prints what was computed, and its processor time in ns; only the loop is
 * measured. Places are taken modulo the size, which changes none of them in 32M.
 */
#ifndef NM_CALIBRATION_PAIRS_H
#define NM_CALIBRATION_PAIRS_H

#include "loops.h"

enum { MILLION = 1 << 20, STILL = 2048 /* words */ };

/* Words of memory, a power of two, and whether the fault is repaired. */
typedef void prepare(uint64_t *w, size_t n, int repaired);
typedef uint64_t pair_loop(uint64_t *w, size_t n);

struct pair {
	const char *name;
	prepare *prepare;
	pair_loop *fault, *repaired;
};

/* Both loops of a pair, over w[0, n): one text, compiled for each; `mask` is n - 1. */
#define UNUSED __attribute__((unused))
#define BOTH_OF(name) \
	uint64_t name(uint64_t *w UNUSED, size_t n UNUSED, size_t mask UNUSED, int repaired UNUSED)
#define PAIR(name)                                                                              \
	static inline __attribute__((always_inline)) BOTH_OF(name);                             \
	static uint64_t name##_fault(uint64_t *w, size_t n) { return name(w, n, n - 1, 0); }    \
	static uint64_t name##_repaired(uint64_t *w, size_t n) { return name(w, n, n - 1, 1); } \
	static inline __attribute__((always_inline)) BOTH_OF(name)
#define BOTH(name, prepare)                                   \
	{                                                     \
#name, prepare, name##_fault, name##_repaired \
	}
#define TIMES(count) for (size_t times = 0; times < (count); times++)
#define EACH(i, count) for (size_t i = 0; i < (count); i++)

static void numbers(uint64_t *w, size_t n, int repaired)
{
	(void)repaired;
	set_up(w, n, REALS);
}

static int run_pair(const struct pair *pairs, unsigned count, int argc, char **argv)
{
	unsigned k = 0;

	while (argc > 1 && k < count && strcmp(pairs[k].name, argv[1]) != 0)
		k++;
	if (argc < 3 || k == count) {
		for (k = 0; k < count; k++)
			puts(pairs[k].name);
		return argc > 1;
	}
	const int repaired = !strcmp(argv[2], "repaired");
	const size_t n = strcmp(argv[2], "still") ? WORDS : STILL;
	uint64_t *w = aligned_alloc(4096, ALL + 4096);

	if (!w)
		return 2;
	NEARMISS_MEASURE_OFF();
	memset(w, 0, ALL);
	pairs[k].prepare(w, n, repaired);
	const uint64_t begin = now();
	NEARMISS_MEASURE_ON();
	const uint64_t result = (repaired ? pairs[k].repaired : pairs[k].fault)(w, n);
	NEARMISS_MEASURE_OFF();
	printf("%" PRIu64 " %" PRIu64 "\n", result, now() - begin);
	free(w);
	return 0;
}

#endif
