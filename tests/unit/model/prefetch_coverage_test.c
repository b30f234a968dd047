/* SPDX-License-Identifier: MIT
 *
 * prefetch_coverage_test.c - loads that prefetchers cover (prefetch_coverage.h): patterns whose answer follows from the
 * rules, and random ones beside a twin that looks over the whole history of a key for each load.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hierarchy.h"
#include "prefetch_coverage.h"

enum { LINE = 64, SHIFT = 6, PAGE = 4096 };

/* Loads `count` lines from `address` on, `step` bytes apart, by one key; how many were covered. */
static unsigned loads(struct nm_coverage *f, uint32_t key, uint64_t address, int64_t step, unsigned count)
{
	unsigned covered = 0;

	assert_int_equal(nm_coverage_reserve(f, key + 1), 0);
	for (unsigned i = 0; i < count; i++, address += (uint64_t)step) {
		nm_coverage_fill(f, address, key, 1);
		covered += (unsigned)f->covered;
	}
	return covered;
}

static unsigned alone(unsigned by, int64_t step, unsigned count)
{
	struct nm_coverage f;
	unsigned covered;

	assert_int_equal(nm_coverage_init(&f, by, SHIFT, 0, 1), 0);
	covered = loads(&f, 1, 1 << 20, step, count);
	nm_coverage_done(&f);
	return covered;
}

static void test_walks(void **state)
{
	(void)state;
	/* The third load of a page is the first that its stream covers, and the stream goes on in the next
	 * page. The first of the loads down is the only one of its page. */
	assert_int_equal(alone(NM_PREFETCHER_STREAM, LINE, 1000), 998);
	assert_int_equal(alone(NM_PREFETCHER_STREAM, -LINE, 1000), 997);
	assert_int_equal(alone(NM_PREFETCHER_STREAM, 16 * LINE, 40), 38);
	assert_int_equal(alone(NM_PREFETCHER_STREAM, 17 * LINE, 40), 0); /* beyond STREAM_FAR */
	/* The third load chooses the step, the fourth follows it, and the next is covered. */
	assert_int_equal(alone(NM_PREFETCHER_STRIDE, 17 * LINE, 40), 36);
	assert_int_equal(alone(NM_PREFETCHER_STRIDE, PAGE / 2, 40), 36);
	assert_int_equal(alone(NM_PREFETCHER_STRIDE, PAGE / 2 + 1, 40), 0);
	/* The odd line of 128 bytes. */
	assert_int_equal(alone(NM_PREFETCHER_PAIR, LINE, 1000), 500);
	assert_int_equal(alone(0, LINE, 1000), 0);
}

/* Two walks by one key, side by side. */
static void test_two_walks(void **state)
{
	struct nm_coverage f;
	unsigned covered = 0;

	(void)state;
	assert_int_equal(nm_coverage_init(&f, NM_PREFETCHER_STRIDE, SHIFT, 0, 1), 0);
	for (unsigned i = 0; i < 200; i++) {
		covered += loads(&f, 1, (1 << 20) + i * 1024, 0, 1);
		covered += loads(&f, 1, (1 << 24) + i * 1024, 0, 1);
	}
	assert_true(covered > 380);
	assert_int_equal(f.walks.at[1].step, 1024);
	assert_int_equal(f.walks.at[1].loads, 400);
	nm_coverage_done(&f);
}

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

static void test_gather(void **state)
{
	struct nm_coverage f;
	unsigned covered = 0;
	uint64_t seed = 1;

	(void)state;
	assert_int_equal(nm_coverage_init(&f, NM_PREFETCHER_ALL, SHIFT, 0, 1), 0);
	for (unsigned i = 0; i < 20000; i++)
		covered += loads(&f, 1, draw(&seed) % (64 << 20), 0, 1);
	assert_true(covered < 200); /* 1 % */
	nm_coverage_done(&f);
}

/* The walk of a key, from its loads so far. */
static struct nm_walk_state twin_of(const uint64_t *loads, unsigned count)
{
	struct nm_walk_state w = {.loads = count};

	for (unsigned i = 2; i < count; i++) {
		int64_t near = (int64_t)(loads[i] - loads[i - 1]), far = (int64_t)(loads[i] - loads[i - 2]);

		if (w.votes && (near == w.step || far == w.step)) {
			w.votes++;
			w.followed++;
		} else if (w.votes) {
			w.votes--;
		} else {
			w.step = (i + 1) / 2 % 2 ? near : far;
			w.votes = w.followed = 1;
		}
	}
	return w;
}

static void test_random_walks(void **state)
{
	enum { KEYS = 3, LOADS = 600 };
	static uint64_t history[KEYS][LOADS];
	unsigned counts[KEYS] = {0};
	struct nm_coverage f;
	uint64_t seed = 7, at = 1 << 20;

	(void)state;
	assert_int_equal(nm_coverage_init(&f, NM_PREFETCHER_STRIDE, SHIFT, 0, 1), 0);
	for (unsigned i = 0; i < LOADS; i++) {
		unsigned key = (unsigned)draw(&seed) % KEYS;
		struct nm_walk_state want;

		at += draw(&seed) % 4 ? 256 : draw(&seed) % 3 * 64;
		(void)loads(&f, key, at, 0, 1);
		history[key][counts[key]++] = at;
		want = twin_of(history[key], counts[key]);
		assert_int_equal(f.walks.at[key].step, want.step);
		assert_int_equal(f.walks.at[key].votes, want.votes);
		assert_int_equal(f.walks.at[key].followed, want.followed);
	}
	nm_coverage_done(&f);
}

/* Twin of the TLB: all pages of a set with the time of their last load. */
static void test_page_walks(void **state)
{
	enum { ENTRIES = 24, CORES = 2, PAGES = 60, SETS = ENTRIES / NM_TLB_WAYS };
	uint64_t loaded[CORES][PAGES] = {{0}}, seed = 5, want = 0;
	struct nm_coverage f;

	(void)state;
	assert_int_equal(nm_coverage_init(&f, 0, SHIFT, ENTRIES, CORES), 0);
	assert_int_equal(nm_coverage_reserve(&f, 1), 0);
	for (uint64_t now = 1; now <= 20000; now++) {
		const unsigned core = draw(&seed) % CORES,
			       page = draw(&seed) % (now % 1000 < 500 ? PAGES : 26);
		unsigned later = 0;

		for (unsigned other = page % SETS; other < PAGES; other += SETS)
			later += loaded[core][other] > loaded[core][page];
		want += !loaded[core][page] || later >= NM_TLB_WAYS;
		loaded[core][page] = now;
		nm_coverage_set_core(&f, core);
		nm_coverage_fill(&f, (uint64_t)page << 12 | draw(&seed) % 4096, 0, 1);
		assert_int_equal(f.walks.at[0].page_walks, want);
	}
	assert_true(want > 5000 && want < 15000);
	nm_coverage_fill(&f, 1 << 30, 0, 0); /* a fetch */
	assert_int_equal(f.walks.at[0].page_walks, want);
	nm_coverage_done(&f);
}

/* A load that is covered walks no page, and machines without a TLB count none; with cores, each has its own. */
static void test_page_walks_of_machines(void **state)
{
	static const struct {
		const char *spec;
		unsigned step, cores;
		uint64_t walks;
	} cases[] = {
	    {"L1d=4K,8,64", 4096, 1, 0},
	    {"L1d=4K,8,64:tlb=64", 4096, 1, 2000},
	    {"L1d=4K,8,64:tlb=1024", 4096, 1, 1000},
	    {"L1d=4K,8,64:prefetchers=stream:tlb=16", 64, 1, 1 + 1000 / 64 + 1},
	    {"L1d=4K,8,64:tlb=1024", 4096, 2, 2000},
	};

	(void)state;
	for (unsigned s = 0; s < sizeof cases / sizeof *cases; s++) {
		struct nm_machine machine;
		struct nm_hierarchy *h;
		struct nm_counts *list;
		size_t attrs;

		assert_int_equal(nm_machine_parse(cases[s].spec, &machine, NULL), 0);
		nm_machine_set_cores(&machine, cases[s].cores);
		assert_int_equal(nm_hierarchy_new(&h, &machine, NULL), 0);
		for (unsigned i = 0; i < 2000; i++) {
			struct nm_ref ref = {(uint64_t)(i % 1000) * cases[s].step, 1, 8, NM_REF_READ, 1};

			nm_hierarchy_set_core(h, i / 1000);
			assert_int_equal(nm_hierarchy_run(h, &ref, 1), 0);
		}
		assert_int_equal(nm_hierarchy_finish(h), 0);
		assert_int_equal(nm_hierarchy_counts(h, 0, &list, &attrs), 0);
		if (cases[s].step > LINE)
			assert_int_equal(list[1].page_walks, cases[s].walks);
		else
			assert_true(list[1].page_walks <= cases[s].walks);
		free(list);
		nm_hierarchy_free(h);
	}
}

/* What a first level's load is told holds for what the next loads for it; misses are those without
 * coverage. */
static void test_hierarchy(void **state)
{
	static const char *const specs[] = {"L1d=4K,8,64:L2=32K,8,64:prefetchers=stream",
					    "L1d=4K,8,64:L2=32K,8,64"};
	struct nm_counts counts[2][2], *list;
	size_t attrs;

	(void)state;
	for (unsigned s = 0; s < 2; s++) {
		struct nm_machine machine;
		struct nm_hierarchy *h;

		assert_int_equal(nm_machine_parse(specs[s], &machine, NULL), 0);
		assert_int_equal(nm_hierarchy_new(&h, &machine, NULL), 0);
		for (unsigned i = 0; i < 2000; i++) {
			struct nm_ref ref = {i % 1000 * LINE, 1 + i / 1000, 8, NM_REF_READ, 1};

			assert_int_equal(nm_hierarchy_run(h, &ref, 1), 0);
		}
		assert_int_equal(nm_hierarchy_finish(h), 0);
		for (unsigned level = 0; level < 2; level++) {
			assert_int_equal(nm_hierarchy_counts(h, level, &list, &attrs), 0);
			counts[s][level] = list[2];
			free(list);
		}
		nm_hierarchy_free(h);
	}
	assert_int_equal(counts[0][0].covered, 998);
	assert_int_equal(counts[0][1].covered, 998);
	for (unsigned level = 0; level < 2; level++) {
		counts[0][level].covered = 0;
		assert_memory_equal(&counts[0][level], &counts[1][level], sizeof counts[0][level]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_walks),      cmocka_unit_test(test_two_walks),
	    cmocka_unit_test(test_gather),     cmocka_unit_test(test_random_walks),
	    cmocka_unit_test(test_page_walks), cmocka_unit_test(test_page_walks_of_machines),
	    cmocka_unit_test(test_hierarchy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
