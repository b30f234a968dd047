/* SPDX-License-Identifier: MIT
 *
 * loops.h - runs one of a file's loops over much or little memory, with the same instructions.
 *
 *     PROGRAM NAME BYTES [STEPS]      PROGRAM: lists the names
 *
 * Prints what the loop computes, and its processor time in ns. What a loop takes longer over much memory is
 * what it waits: bench/calibration.py compares that with the verdict. Only the loop is measured. Sizes are
 * powers of two up to ALL.
 */
#ifndef NM_CALIBRATION_LOOPS_H
#define NM_CALIBRATION_LOOPS_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nearmiss/client.h"

enum { ALL = 32 << 20, WORDS = ALL / 8, LINE = 8 /* words */ };

/* A loop over the words w[0, n); n is a power of two. */
typedef uint64_t kernel(uint64_t *w, size_t n, uint64_t steps);

enum setup {
	NUMBERS,
	REALS,
	SMALL,
	SORTED,
	LINKED,
	LINKED_IN_ORDER,
	LINKED_HALF,
	LINKED_HALVES,
	LINKED_QUARTERS,
	RING,      /* of lines: the first words are the next line and the one before */
	SUCCESSORS /* each word leads to another, at random */
};

struct loop {
	const char *name;
	kernel *run;
	uint64_t steps;
	enum setup setup;
};

#define KERNEL(name) static uint64_t name(uint64_t *w, size_t n, uint64_t steps)
#define STEPS(i) for (uint64_t i = 0; i < steps; i++)
#define ROW(name, millions, setup)                             \
	{                                                      \
#name, name, (uint64_t)((millions)*1e6), setup \
	}

static inline uint64_t next(uint64_t x) { return x * 6364136223846793005u + 1442695040888963407u; }
static inline size_t drawn(uint64_t x, size_t n) { return (size_t)(x >> 32) & (n - 1); }
static inline double *real(uint64_t *w) { return (double *)(void *)w; }

/* A random cycle through all places of a part, `stride` words apart; each holds the index of the next. */
static void link_part(uint64_t *w, size_t n, size_t stride, int in_order)
{
	const size_t count = n / stride;
	uint64_t x = 1;

	for (size_t i = 0; i < count; i++)
		w[i * stride] = (in_order ? (i + 1) % count : i) * stride;
	for (size_t i = count - 1; i && !in_order; i--) {
		const size_t k = (size_t)((x = next(x)) >> 33) % i;
		const uint64_t t = w[i * stride];

		w[i * stride] = w[k * stride];
		w[k * stride] = t;
	}
}

static void set_up(uint64_t *part, size_t n, enum setup setup)
{
	uint64_t x = 1;

	for (size_t i = 0; i < n; i++)
		if (setup == REALS)
			real(part)[i] = (double)i;
		else
			part[i] = setup == SORTED  ? i
				  : setup == SMALL ? (x = next(x)) >> 60
						   : (x = next(x)) >> 33;
	switch (setup) {
	case LINKED: link_part(part, n, LINE, 0); break;
	case RING:
		for (size_t i = 0; i < n; i += LINE) {
			part[i] = (i + LINE) & (n - 1);
			part[i + 1] = (i - LINE) & (n - 1);
		}
		break;
	case SUCCESSORS: link_part(part, n, 1, 0); break;
	case LINKED_IN_ORDER: link_part(part, n, LINE, 1); break;
	case LINKED_HALF: /* the other half are numbers */ link_part(part, n / 2, 1, 0); break;
	case LINKED_HALVES:
	case LINKED_QUARTERS:
		for (size_t k = 0, parts = setup == LINKED_HALVES ? 2 : 4; k < parts; k++) {
			link_part(part + k * (n / parts), n / parts, LINE, 0);
			for (size_t i = 0; i < n / parts; i += LINE)
				part[k * (n / parts) + i] += k * (n / parts);
		}
		break;
	default: break;
	}
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline int run_loop(const struct loop *loops, unsigned count, int argc, char **argv)
{
	unsigned k = 0;

	while (argc > 1 && k < count && strcmp(loops[k].name, argv[1]) != 0)
		k++;
	if (argc < 3 || k == count) {
		for (k = 0; k < count; k++)
			puts(loops[k].name);
		return argc > 1;
	}
	const size_t n = (size_t)strtoull(argv[2], NULL, 0) / 8;
	uint64_t *w = aligned_alloc(4096, ALL + 4096);

	if (!w || n < 1024 || n > WORDS || n & (n - 1))
		return 2;
	const uint64_t steps = argc > 3 ? strtoull(argv[3], NULL, 0) : loops[k].steps;

	NEARMISS_MEASURE_OFF();
	set_up(w, n, loops[k].setup);
	const uint64_t begin = now();
	NEARMISS_MEASURE_ON();
	const uint64_t result = loops[k].run(w, n, steps);
	NEARMISS_MEASURE_OFF();
	printf("%" PRIu64 " %" PRIu64 "\n", result, now() - begin);
	free(w);
	return 0;
}

#endif
