/* SPDX-License-Identifier: MIT
 *
 * turns.c - engines of two or more trees, on one thread, beside each other.
 *
 *     turns ROUNDS MILLIONS ENGINE ENGINE... -- TRACE...
 *
 * ENGINE is a tree's build/bench/engine/libturns_engine.so; the first is what the others are compared with, and a
 * copy of its file tells what the machine's noise is. Of each trace the first MILLIONS of words are fed to
 * all engines in turn, about one million at a time, so that whatever the machine does meets all of them; the
 * order goes round. One line for each trace: of each engine nanoseconds for a word, the median, and how they
 * compare to the first engine's, the median too. Each round begins with new engines, whose memory lies
 * elsewhere.
 *
 * Two copies of one engine differ by 2 % at most after 4 rounds of 60 million words, where recordings one
 * after another differ by 5.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorded.h"
#include "turns.h"

enum { ENGINES = 8, SLICE = 1000000 };
static const char spec[] = "L1d=32K,8,64:L2=1M,16,64";

struct figures nm_vec(double);

struct bench {
	const struct nm_contestant *engines[ENGINES];
	unsigned count;
	struct recorded recorded;
	struct figures each[ENGINES], ratio[ENGINES]; /* by slice: ns a word; to the first engine's */
};

static void fail(const char *path, const char *why)
{
	fprintf(stderr, "turns: %s: %s\n", path, why);
	exit(1);
}

static void load(struct bench *b, const char *path)
{
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct nm_contestant *engine = module ? dlsym(module, NM_TURNS_SYMBOL) : NULL;

	if (!engine)
		fail(path, dlerror());
	for (unsigned i = 0; i < b->count; i++)
		if (b->engines[i] == engine)
			fail(path, "given twice; a copy of the file is another engine");
	if (b->count == ENGINES)
		fail(path, "one engine too many");
	b->engines[b->count++] = engine;
}

/* Moves between processors would be noise. */
static void stay(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	sched_setaffinity(0, sizeof here, &here);
}

/* Feeds the pieces from one on, to all engines; `turn` begins. Returns where the next slice begins. */
static size_t run_slice(struct bench *b, size_t from, size_t turn)
{
	const struct piece *pieces = b->recorded.pieces.at;
	size_t end = from, words = 0;
	struct nm_error err;

	while (end < b->recorded.pieces.count && words < SLICE)
		words += pieces[end++].count;
	for (size_t i = 0; i < b->count; i++) {
		const size_t e = (i + turn) % b->count;
		double spent = 0;

		for (size_t p = from; p < end; p++)
			spent += b->engines[e]->feed(pieces[p].stream, b->recorded.words.at + pieces[p].at,
						     pieces[p].count);
		must(nm_vec_push(&b->each[e], spent * 1e9 / (double)(words + !words)), &err);
	}
	for (size_t e = 0; e < b->count; e++) {
		const size_t last = b->each[e].count - 1;

		must(nm_vec_push(&b->ratio[e], b->each[e].at[last] / b->each[0].at[last]), &err);
	}
	return end;
}

static void run_round(struct bench *b, const char *trace, size_t round)
{
	void *shift = malloc((size_t)rand() % 3000000);
	size_t turn = round;

	for (size_t i = 0; i < b->count; i++)
		b->engines[(i + round) % b->count]->begin(trace, spec);
	for (size_t at = 0; at < b->recorded.pieces.count; turn++)
		at = run_slice(b, at, turn);
	for (size_t i = 0; i < b->count; i++)
		b->engines[i]->end();
	free(shift);
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of a list that is empty then. */
static double median(struct figures *f)
{
	double middle;

	qsort(f->at, f->count, sizeof *f->at, compare);
	middle = f->count ? f->at[f->count / 2] : 0;
	f->count = 0;
	return middle;
}

static void compare_on(struct bench *b, const char *path, size_t rounds, size_t most)
{
	const char *slash = strrchr(path, '/');
	struct nm_trace *trace;
	struct nm_error err;

	must(nm_trace_open(&trace, path, &err), &err);
	recorded_read(trace, most, &b->recorded);
	nm_trace_free(trace);
	for (size_t i = 0; i < rounds; i++)
		run_round(b, path, i);
	printf("%-14s", slash ? slash + 1 : path);
	for (unsigned i = 0; i < b->count; i++) {
		const double each = median(&b->each[i]);

		printf("  %7.2f ns %6.3f", each, median(&b->ratio[i]));
	}
	puts("");
	fflush(stdout);
	recorded_free(&b->recorded);
	b->recorded = (struct recorded){0};
}

int main(int argc, char **argv)
{
	static struct bench b;
	int i = 3;

	for (; i < argc && strcmp(argv[i], "--") != 0; i++)
		load(&b, argv[i]);
	if (argc < 6 || i + 1 >= argc || !b.count) {
		fprintf(stderr, "Usage: turns ROUNDS MILLIONS ENGINE ENGINE... -- TRACE...\n");
		return 1;
	}
	stay();
	for (i++; i < argc; i++)
		compare_on(&b, argv[i], strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10) * 1000000);
	for (unsigned e = 0; e < b.count; e++) {
		nm_vec_free(&b.each[e]);
		nm_vec_free(&b.ratio[e]);
	}
	return 0;
}
