/* SPDX-License-Identifier: MIT
 *
 * model_test.c - the hierarchy against a slow, obvious twin (model_twin.h) on random streams of many shapes and
 * geometries, cell by cell; the laws that its sums obey; and figures published in papers.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache.h"
#include "hierarchy.h"
#include "machine.h"
#include "model_twin.h"

enum { REFS = 6000, CELLS = TWIN_CELLS };

static uint64_t rng_state;

static uint64_t rng(void)
{
	uint64_t x = rng_state += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static uint32_t below(uint32_t n) { return (uint32_t)(rng() % n); }

/* Streams.  Each makes reference i. */
static uint64_t uniform(unsigned i, uint64_t size) { return (void)i, rng() % (3 * size); }
static uint64_t strided(unsigned i, uint64_t size) { return (uint64_t)i * 40 % (size * 4); }
static uint64_t loop(unsigned i, uint64_t size) { return (uint64_t)i * 16 % (size + size / 8 + 64); }
static uint64_t crowded(unsigned i, uint64_t size) { return (void)i, rng() % 24 * size + rng() % 100; }
static uint64_t local(unsigned i, uint64_t size) { return (i / 64 * 200 + rng() % 300) % (2 * size); }
static uint64_t skewed(unsigned i, uint64_t size)
{
	uint64_t top = 2 + rng() % (2 * size);
	return (void)i, rng() % top * (rng() % top) / top;
}
static uint64_t phases(unsigned i, uint64_t size)
{
	return i / 700 % 2 ? rng() % (size / 4 + 8) : size + rng() % (2 * size);
}
static uint64_t few(unsigned i, uint64_t size) { return (void)size, i % 5 * 8 + rng() % 8; }

static uint64_t (*const streams[])(unsigned, uint64_t) = {uniform, strided, loop, crowded, local, skewed, phases,
							  few};

static uint16_t random_size(void)
{
	static const uint16_t usual[] = {1, 2, 4, 4, 8, 8, 8, 16, 32, 64};
	uint32_t r = below(40);
	return r == 0 ? (uint16_t)(1 + below(64)) : r == 1 && !below(10) ? 512 : usual[r % 10];
}

static void make_stream(struct nm_ref *refs, unsigned stream, uint64_t size, int fetches)
{
	unsigned cells = 1 + below(CELLS);
	for (unsigned i = 0; i < REFS; i++) {
		int fetch = fetches && below(2);
		uint64_t address = streams[stream](i, size);
		if (below(4)) /* mostly aligned, sometimes straddling */
			address &= ~7ull;
		refs[i] = (struct nm_ref){.address = 0x400000 + address,
					  .cell = below(cells),
					  .size = random_size(),
					  .kind = fetch ? NM_REF_FETCH : below(3) ? NM_REF_READ : NM_REF_WRITE,
					  .weight = fetch ? (uint8_t)(1 + below(9)) : 1};
	}
}

/* Parts in reverse order: what one part does must not matter to another. */
static void backwards(void *self, unsigned n, void (*fn)(void *arg, unsigned i), void *arg)
{
	++*(unsigned *)self;
	while (n)
		fn(arg, --n);
}

static void compare_evictions(const struct nm_hierarchy *h, const struct twin *t, unsigned level)
{
	static uint64_t matrix[CELLS][CELLS];
	struct nm_eviction *list;
	size_t count;

	memset(matrix, 0, sizeof matrix);
	assert_int_equal(nm_hierarchy_evictions(h, level, &list, &count), 0);
	for (size_t i = 0; i < count; i++) {
		assert_true(list[i].evictor < CELLS && list[i].victim < CELLS && list[i].count);
		assert_int_equal(matrix[list[i].evictor][list[i].victim], 0);
		matrix[list[i].evictor][list[i].victim] = list[i].count;
	}
	free(list);
	assert_memory_equal(matrix, t->levels[level].matrix, sizeof matrix);
}

static void check_counts(const char *what, const char *spec, unsigned level, size_t cell,
			 const struct nm_counts *got, const struct nm_counts *want)
{
	static const char *const names[] = {"reads",    "writes", "read_misses", "write_misses", "cold",
					    "capacity", "conflict", "coherence",   "loads",        "reuse",
					    "used",     "loaded",   "evictions",   "writebacks"};
	uint64_t a[14], b[14];

	memcpy(a, got, sizeof a);
	memcpy(b, want, sizeof b);
	for (unsigned f = 0; f < 14; f++)
		if (a[f] != b[f])
			fail_msg("%s, %s, level %u, cell %zu: %s is %llu, not %llu", spec, what, level, cell,
				 names[f], (unsigned long long)a[f], (unsigned long long)b[f]);
}

static void check_laws(const struct nm_counts *t, uint64_t resident)
{
	assert_int_equal(t->cold + t->capacity + t->conflict + t->coherence, t->loads);
	assert_int_equal(t->evictions + resident, t->loads);
	assert_true(t->used_bytes <= t->loaded_bytes);
	assert_true(t->writebacks <= t->evictions);
	assert_true(t->read_misses + t->write_misses <= t->loads);
}

static void compare(const struct nm_hierarchy *h, const struct twin *t, const char *spec, const char *what)
{
	static const struct nm_counts nothing;

	for (unsigned level = 0; level < t->machine.count; level++) {
		const struct twin_level *l = &t->levels[level];
		size_t cells;
		const struct nm_counts *counts = nm_hierarchy_counts(h, level, &cells);
		struct nm_counts total, sum = {0};
		uint64_t pairs = 0;

		for (size_t c = 0; c < CELLS; c++)
			check_counts(what, spec, level, c, c < cells ? &counts[c] : &nothing, &l->cells[c]);
		assert_int_equal(cells, t->cells);
		twin_total(l, &sum);
		nm_hierarchy_total(h, level, &total);
		check_counts(what, spec, level, CELLS, &total, &sum);
		check_laws(&total, l->resident);
		compare_evictions(h, t, level);
		for (size_t i = 0; i < CELLS * CELLS; i++)
			pairs += ((const uint64_t *)l->matrix)[i];
		assert_int_equal(pairs, total.evictions);
		if (l->first)
			assert_int_equal(total.reuse, l->accesses);
	}
}

static void feed(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count, uint32_t batch)
{
	for (size_t i = 0; i < count;) {
		size_t n = batch ? batch : 1 + below(300);
		if (n > count - i)
			n = count - i;
		assert_int_equal(nm_hierarchy_run(h, refs + i, n), 0);
		i += n;
	}
	assert_int_equal(nm_hierarchy_finish(h), 0);
}

static void run_and_compare(const struct twin *t, const char *spec, const struct nm_ref *refs, unsigned shards,
			    uint32_t batch, unsigned isa)
{
	unsigned calls = 0;
	const struct nm_executor executor = {&calls, backwards};
	struct nm_hierarchy *h;
	struct nm_error err;
	char what[64];

	snprintf(what, sizeof what, "%u shards, batch %u, loops %u", shards, batch, isa);
	assert_int_equal(nm_hierarchy_new(&h, &t->machine, shards, shards > 1 ? &executor : NULL, &err), 0);
	nm_hierarchy_use(h, nm_lookup_supported(isa));
	feed(h, refs, REFS, batch);
	compare(h, t, spec, what);
	assert_true(shards == 1 || calls);
	nm_hierarchy_free(h);
}

static const char *const geometries[] = {
	"L1d=1K,1,32",
	"L1d=1K,2,64",
	"L1d=1536,3,64",
	"L1d=2K,4,32",
	"L1d=8096,1,32", /* 253 sets */
	"L1d=2K,8,64",
	"L1d=4K,8,32,sets=13",
	"L1d=4K,16,64",
	"L1d=2K,full,32",
	"L1d=64,1,64",
	"L1d=512,full,64",
	"L1d=8K,full,64",
	"L1d=5K,80,32",
	"L1d=6K,12,64",
	"L1d=4K,8,128",
	"L1d=2K,8,64:L2=8K,16,64",
	"L1d=1K,2,32:L2=4K,8,64:L3=16K,4,128",
	"L1d=2K,8,64:L2=8K,8,128",
	"L1d=1K,2,16:L2=4K,4,256",
	"L1d=2K,4,64:L2=1K,2,64",
	"L1d=2K,8,64:L2=6K,full,64",
	"L1i=1K,2,32:L1d=1K,4,64:L2=4K,8,64",
	"L1i=1K,4,64:L1d=2K,8,64:L2=6K,12,64:L3=16K,16,64",
	"L1i=1K,4,128:L1d=2K,8,64:L2=8K,8,256",
	"L1d=2K,8,64:L2=8K,16,64,side=data:L3=8K,4,64",
	"L1=2K,8,64:L2=8K,16,64",
	"L1i=1K,2,64:L2=4K,8,64",
};

static void test_twin(void **state)
{
	static struct nm_ref refs[REFS];
	(void)state;
	for (unsigned g = 0; g < sizeof geometries / sizeof geometries[0]; g++)
		for (unsigned s = 0; s < sizeof streams / sizeof streams[0]; s++) {
			struct twin *t = calloc(1, sizeof *t);
			struct nm_error err;
			rng_state = g * 1000 + s;
			assert_int_equal(nm_machine_parse(geometries[g], &t->machine, &err), 0);
			make_stream(refs, s, t->machine.levels[0].size, strstr(geometries[g], "L1d=") != geometries[g] || s == 5);
			twin_run(t, refs, REFS);
			run_and_compare(t, geometries[g], refs, 1, NM_BATCH, 0);
			run_and_compare(t, geometries[g], refs, 1, 0, s % 2 ? 0 : 1);
			run_and_compare(t, geometries[g], refs, 2, NM_BATCH, s % 2 ? 1 : 0);
			run_and_compare(t, geometries[g], refs, 4, 0, 0);
			for (unsigned isa = 1; nm_lookup_supported(isa); isa++)
				run_and_compare(t, geometries[g], refs, 1, 1000, isa);
			twin_done(t);
			free(t);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
