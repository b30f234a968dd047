/* SPDX-License-Identifier: MIT
 *
 * distance_bench.c - references per second of the exact stack of lines and of SHARDS on one thread, and the
 * memory that a line of footprint takes, or all of SHARDS: CPU time over a whole stream, from an empty stack on.
 *
 *     distance_bench [REFERENCES [FOOTPRINT IN MIB [PART OF A STREAM'S NAME]]]
 *
 * Touches are counted as the pass does, by 64 keys. Lines have 64 bytes. A footprint of 1024 MiB needs 700
 * MB.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "estimator.h"
#include "histograms.h"
#include "stack.h"

enum { BLOCK = 1 << 20, KEYS = 64 };

struct stream {
	uint64_t lines, at;
	uint64_t random;
};

static uint64_t rng(struct stream *s)
{
	uint64_t x = s->random += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* 8 references to a line, line after line. */
static uint64_t walk(struct stream *s) { return s->at++ / 8 % s->lines; }

/* Three arrays walked together, as in c[i] = a[i] + b[i]. */
static uint64_t triad(struct stream *s)
{
	const uint64_t at = s->at++;

	return at % 3 * (s->lines / 3) + at / 24 % (s->lines / 3);
}

static uint64_t jump(struct stream *s) { return rng(s) % s->lines; }

/* Half of the references to 1/64 of the lines of the other half, and so on: a working set of every size. */
static uint64_t nested(struct stream *s)
{
	uint64_t lines = s->lines;

	while (lines > 64 && rng(s) % 4)
		lines /= 8;
	return rng(s) % lines;
}

static const struct {
	const char *name;
	uint64_t (*next)(struct stream *s);
} streams[] = {{"walk", walk}, {"triad", triad}, {"nested", nested}, {"jump", jump}};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(void)
{
	fprintf(stderr, "distance_bench: out of memory\n");
	exit(1);
}

/* Of stream `kind`: makes a block at a time, and has it counted. Returns the seconds of that. */
static double time_stream(size_t kind, uint64_t references, uint64_t footprint,
			  void (*count)(void *model, const uint64_t *lines, uint64_t first), void *model)
{
	static uint64_t lines[BLOCK];
	struct stream s = {.lines = footprint, .random = 1};
	double seconds = 0;

	for (uint64_t done = 0; done < references; done += BLOCK) {
		double start;

		for (size_t i = 0; i < BLOCK; i++)
			lines[i] = streams[kind].next(&s);
		start = now();
		count(model, lines, done + 1);
		seconds += now() - start;
	}
	return seconds;
}

struct exact {
	struct nm_lru_stack *stack;
	struct nm_histograms *histograms;
};

static uint32_t key_of(uint64_t line) { return 1 + (uint32_t)(line >> 10) % KEYS; }

static void count_touches(struct exact *e, struct nm_touch *touches, size_t n)
{
	if (nm_stack_touch(e->stack, touches, n) || nm_histograms_add(e->histograms, touches, n))
		fail();
}

/* References to the line touched last are one touch, as in the pass. */
static void count_exactly(void *model, const uint64_t *lines, uint64_t first)
{
	enum { TOUCHES = 256 };
	static struct nm_touch touches[TOUCHES];
	size_t n = 0;

	for (uint64_t i = 0; i < BLOCK; i++) {
		const uint32_t key = key_of(lines[i]);

		if (n && touches[n - 1].line == lines[i]) {
			touches[n - 1].last = first + i;
			continue;
		}
		if (n == TOUCHES) {
			count_touches(model, touches, n);
			n = 0;
		}
		touches[n].line = lines[i];
		touches[n].first = touches[n].last = first + i;
		touches[n].key = touches[n].last_key = key;
		n++;
	}
	count_touches(model, touches, n);
}

static void measure_exact(size_t kind, uint64_t references, uint64_t footprint)
{
	struct exact e = {nm_stack_new(0), nm_histograms_new()};
	double seconds;

	if (!e.stack || !e.histograms)
		fail();
	seconds = time_stream(kind, references, footprint, count_exactly, &e);
	printf("%-8s exact             %8.1f M references/s  %9llu lines  %5.1f bytes a line\n",
	       streams[kind].name, (double)references / seconds * 1e-6,
	       (unsigned long long)nm_stack_lines(e.stack),
	       (double)nm_stack_bytes(e.stack) / (double)nm_stack_lines(e.stack));
	fflush(stdout);
	nm_stack_free(e.stack);
	nm_histograms_free(e.histograms);
}

struct sampled {
	const struct nm_estimator *estimator;
	void *self;
};

/* Touches of the line touched last are left out, as the pass does. */
static void count_samples(void *model, const uint64_t *lines, uint64_t first)
{
	static struct nm_line_touch touches[BLOCK];
	const struct sampled *s = model;
	size_t n = 0;

	(void)first;
	for (uint64_t i = 0; i < BLOCK; i++) {
		touches[n] = (struct nm_line_touch){lines[i], key_of(lines[i]), 0};
		n += !i || lines[i] != lines[i - 1];
	}
	if (s->estimator->touch(s->self, touches, n))
		fail();
}

static double mebibytes_in_use(void)
{
	const struct mallinfo2 m = mallinfo2();

	return (double)(m.uordblks + m.hblkhd) / (1 << 20);
}

/* All keys are of one object. */
static void measure_shards(size_t kind, uint64_t references, uint64_t footprint,
			   const struct nm_estimator *estimator, double rate)
{
	static const uint32_t objects[KEYS + 1];
	const struct nm_estimator_setup setup = {.rate = rate};
	const double before = mebibytes_in_use();
	struct sampled s = {.estimator = estimator};
	double seconds;

	if (estimator->make(&s.self, &setup) || estimator->keys(s.self, objects, KEYS + 1))
		fail();
	seconds = time_stream(kind, references, footprint, count_samples, &s);
	printf("%-8s %-11s %-5g %8.1f M references/s  %5.1f MiB\n", streams[kind].name, estimator->name, rate,
	       (double)references / seconds * 1e-6, mebibytes_in_use() - before);
	fflush(stdout);
	estimator->free(s.self);
}

int main(int argc, char **argv)
{
	const uint64_t references = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 100000000;
	const uint64_t mebibytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 64;

	for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
		if (argc < 4 || strstr(streams[i].name, argv[3])) {
			measure_exact(i, references, mebibytes << 14);
			measure_shards(i, references, mebibytes << 14, &nm_estimator_shards, 1e-2);
			measure_shards(i, references, mebibytes << 14, &nm_estimator_shards, 1e-3);
			measure_shards(i, references, mebibytes << 14, &nm_estimator_shards_size, 1);
		}
	return 0;
}
