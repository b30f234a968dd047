/* SPDX-License-Identifier: MIT
 *
 * model_bench.c - references per second of the cache model on one thread, everything counted: CPU time of the
 * fastest pass over a million references, so that what else runs on the machine matters little.
 *
 *     model_bench [SECONDS [SPEC [PART OF A STREAM'S NAME]]]
 *
 * Streams of 8-byte references, one in four a write, over a hot region that fits the first level and, for the
 * given share, a cold region that does not. Attribution keys are 8 places in the code times 8 objects in
 * each region. Each line also tells the miss ratios that were met, so that
 * nobody has to believe the label.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hierarchy.h"
#include "machine.h"

enum { STREAM = 1 << 20, SITES = 8, OBJECTS = 8 };

struct workload {
	const char *name;
	unsigned random; /* whether the hot references jump about, or walk as loops do */
	unsigned cold;   /* references in 1000 that go to the cold region */
	uint64_t region; /* bytes of the cold region */
};

static const struct workload workloads[] = {
    {"walk, all hit", 0, 0, 0},
    {"random, all hit", 1, 0, 0},
    {"walk, 1 % miss", 0, 10, 512 << 10},
    {"random, 1 % miss", 1, 10, 512 << 10},
    {"walk, 6 % miss", 0, 60, 512 << 10},
    {"random, 6 % miss", 1, 60, 512 << 10},
    {"random, 6 % miss, beyond L2", 1, 60, 64 << 20},
    {"walk, 19 % miss", 0, 190, 512 << 10},
    {"random, 19 % miss", 1, 190, 512 << 10},
    {"random, 19 % miss, beyond L2", 1, 190, 64 << 20},
};

static uint64_t rng_state = 1;

static uint64_t rng(void)
{
	uint64_t x = rng_state += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static void make(struct nm_ref *refs, const struct workload *w)
{
	enum { HOT = 16 << 10 };
	for (uint32_t i = 0; i < STREAM; i++) {
		/* Four arrays walked side by side, or any word of the hot region. */
		uint64_t place =
		    w->random ? rng() % HOT : (uint64_t)(i % 4) * (HOT / 4) + i / 4 * 8 % (HOT / 4);
		uint64_t address = 0x10000000 + (place & ~7ull);
		if (rng() % 1000 < w->cold)
			address = 0x40000000 + (rng() % w->region & ~7ull);
		refs[i] =
		    (struct nm_ref){.address = address,
				    .attr = (uint32_t)((address >> 28) * SITES * OBJECTS +
						       (address >> 12) % OBJECTS * SITES + rng() % SITES),
				    .size = 8,
				    .kind = rng() % 4 ? NM_REF_READ : NM_REF_WRITE,
				    .weight = 1};
	}
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double ratio(const struct nm_hierarchy *h, unsigned level)
{
	struct nm_counts t;
	nm_hierarchy_total(h, level, &t);
	return t.reads + t.writes
		   ? 100. * (double)(t.read_misses + t.write_misses) / (double)(t.reads + t.writes)
		   : 0;
}

static int measure(const struct workload *w, const struct nm_machine *machine, struct nm_ref *refs,
		   double seconds)
{
	struct nm_hierarchy *h;
	struct nm_error err;
	static struct nm_ref batch[NM_BATCH]; /* as fresh in the host's cache as an engine leaves it */
	double fastest = 1e9;

	if (nm_hierarchy_new(&h, machine, &err)) {
		fprintf(stderr, "model_bench: %s\n", err.text);
		return 1;
	}
	make(refs, w);
	for (double end = now() + seconds; now() < end;) {
		double spent = 0;
		for (size_t i = 0; i < STREAM; i += NM_BATCH) {
			memcpy(batch, refs + i, sizeof batch);
			double before = now();
			if (nm_hierarchy_run(h, batch, NM_BATCH))
				return 1;
			spent += now() - before;
		}
		if (spent < fastest)
			fastest = spent;
	}
	printf("%-30s %7.1f M refs/s  %5.2f ns  L1 misses %5.2f %%", w->name, STREAM / fastest / 1e6,
	       fastest / STREAM * 1e9, ratio(h, 0));
	if (machine->count > 1)
		printf("  then %5.2f %%", ratio(h, 1));
	putchar('\n');
	nm_hierarchy_free(h);
	return 0;
}

int main(int argc, char **argv)
{
	const char *spec = argc > 2 ? argv[2] : "L1d=32K,8,64:L2=1M,16,64";
	struct nm_ref *refs = malloc(STREAM * sizeof *refs);
	struct nm_machine machine;
	struct nm_error err;
	int failed = 0;

	if (!refs || nm_machine_parse(spec, &machine, &err)) {
		fprintf(stderr, "model_bench: %s\n", refs ? err.text : "out of memory");
		return 1;
	}
	for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++)
		if (argc < 4 || strstr(workloads[i].name, argv[3]))
			failed |= measure(&workloads[i], &machine, refs, argc > 1 ? atof(argv[1]) : 1);
	free(refs);
	return failed;
}
