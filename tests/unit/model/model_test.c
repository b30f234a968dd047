/* SPDX-License-Identifier: MIT
 *
 * model_test.c - the hierarchy against a slow, obvious twin (model_twin.h) on random streams of many shapes
 * and geometries, attribution key by attribution key; the laws that its sums obey; and requests at the limits.
 */
#include <setjmp.h>
#include <stdarg.h>
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
#include "numbers.h"
#include "oracle.h"

enum { REFS = 12000, ATTRS = TWIN_ATTRS };

/* Streams. Each makes reference i. */
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

static uint64_t (*const streams[])(unsigned, uint64_t) = {uniform, strided, loop,   crowded,
							  local,   skewed,  phases, few};

static uint16_t random_size(void)
{
	static const uint16_t usual[] = {1, 2, 4, 4, 8, 8, 8, 16, 32, 64};
	uint32_t r = below(40);
	return r == 0 ? (uint16_t)(1 + below(64)) : r == 1 && !below(10) ? 512 : usual[r % 10];
}

static void make_stream(struct nm_ref *refs, unsigned stream, uint64_t size, int fetches)
{
	unsigned attrs = 1 + below(ATTRS);
	for (unsigned i = 0; i < REFS; i++) {
		int fetch = fetches && below(2);
		uint64_t address = streams[stream](i, size);
		if (below(4)) /* mostly aligned, sometimes straddling */
			address &= ~7ull;
		refs[i] = (struct nm_ref){.address = 0x400000 + address,
					  .attr = below(attrs),
					  .size = random_size(),
					  .kind = fetch      ? NM_REF_FETCH
						  : below(3) ? NM_REF_READ
							     : NM_REF_WRITE,
					  .weight = fetch ? (uint8_t)(1 + below(9)) : 1};
	}
}

static void compare_evictions(const struct nm_hierarchy *h, const struct twin *t, unsigned level)
{
	static uint64_t matrix[2][ATTRS][ATTRS];
	struct nm_eviction *list;
	size_t count;

	memset(matrix, 0, sizeof matrix);
	assert_int_equal(nm_hierarchy_evictions(h, level, &list, &count), 0);
	for (size_t i = 0; i < count; i++) {
		assert_true(list[i].evictor < ATTRS && list[i].victim < ATTRS && list[i].count);
		assert_int_equal(matrix[list[i].prefetch][list[i].evictor][list[i].victim], 0);
		matrix[list[i].prefetch][list[i].evictor][list[i].victim] = list[i].count;
	}
	free(list);
	assert_memory_equal(matrix, t->levels[level].matrix, sizeof matrix);
}

static void check_counts(const char *what, const char *spec, unsigned level, size_t attr,
			 const struct nm_counts *got, const struct nm_counts *want)
{
	static const char *const names[] = {"reads",     "writes",     "read_misses", "write_misses",
					    "cold",      "capacity",   "conflict",    "coherence",
					    "loads",     "reuse",      "used",        "loaded",
					    "evictions", "writebacks", "weighted"};
	uint64_t a[15], b[15];

	memcpy(a, got, sizeof a);
	memcpy(b, want, sizeof b);
	for (unsigned f = 0; f < 15; f++)
		if (a[f] != b[f])
			fail_msg("%s, %s, level %u, cell %zu: %s is %llu, not %llu", spec, what, level, attr,
				 names[f], (unsigned long long)a[f], (unsigned long long)b[f]);
}

/* Also returns their sums. */
static void check_extras(const struct nm_hierarchy *h, const struct twin_level *l, unsigned level,
			 const char *spec, const char *what, struct nm_extras *ret_sum)
{
	static const char *const names[] = {"sector_misses", "prefetches", "useful", "late_evicted",
					    "pollution",     "redundant",  "late",   "non_temporal"};
	struct nm_extras *got;
	size_t attrs;

	assert_int_equal(nm_hierarchy_extra_counts(h, level, &got, &attrs), 0);
	assert_int_equal(got != NULL, l->sectors > 1 || l->prefetched);
	for (size_t c = 0; got && c < attrs; c++) {
		uint64_t a[8], b[8];

		memcpy(a, &got[c], sizeof a);
		memcpy(b, &l->extras[c], sizeof b);
		for (unsigned f = 0; f < 8; f++)
			if (a[f] != b[f])
				fail_msg("%s, %s, level %u, cell %zu: %s is %llu, not %llu", spec, what,
					 level, c, names[f], (unsigned long long)a[f],
					 (unsigned long long)b[f]);
		nm_extras_add(ret_sum, &got[c]);
	}
	free(got);
}

static void check_laws(const struct nm_level_spec *spec, const struct nm_counts *t,
		       const struct nm_extras *extras, uint64_t resident)
{
	assert_true(extras->useful + extras->late_evicted <= extras->prefetches);
	assert_true(extras->pollution <= t->conflict);
	assert_int_equal(t->cold + t->capacity + t->conflict + t->coherence, t->loads);
	if (spec->inclusion == NM_EXCLUSIVE) /* lines that are data and code too come back twice, as one */
		assert_true(t->evictions <= t->loads + extras->prefetches);
	else
		assert_int_equal(t->evictions + resident, t->loads + extras->prefetches);
	assert_true(t->used_bytes <= t->loaded_bytes);
	assert_true(t->writebacks <= (spec->write_through ? 0 : t->evictions));
	if (!spec->no_allocate)
		assert_true(t->read_misses + t->write_misses <= t->loads);
}

static void compare(const struct nm_hierarchy *h, const struct twin *t, const char *spec, const char *what)
{
	static const struct nm_counts nothing;

	for (unsigned level = 0; level < t->machine.count; level++) {
		const struct twin_level *l = &t->levels[level];
		size_t attrs;
		struct nm_counts total, sum = {0}, *counts;
		struct nm_extras extras = {0};
		uint64_t pairs = 0;

		assert_int_equal(nm_hierarchy_counts(h, level, &counts, &attrs), 0);
		for (size_t c = 0; c < ATTRS; c++)
			check_counts(what, spec, level, c, c < attrs ? &counts[c] : &nothing, &l->attrs[c]);
		free(counts);
		assert_int_equal(attrs, t->attrs);
		twin_total(l, &sum);
		nm_hierarchy_total(h, level, &total);
		check_counts(what, spec, level, ATTRS, &total, &sum);
		check_extras(h, l, level, spec, what, &extras);
		check_laws(&l->spec, &total, &extras, l->resident);
		compare_evictions(h, t, level);
		for (size_t i = 0; i < 2 * ATTRS * ATTRS; i++)
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

static void run_and_compare(const struct twin *t, const char *spec, const struct nm_ref *refs, uint32_t batch,
			    unsigned isa, int data_only)
{
	struct nm_hierarchy *h;
	struct nm_error err;
	char what[64];

	snprintf(what, sizeof what, "batch %u, loops %u%s", batch, isa, data_only ? ", data only" : "");
	assert_int_equal(nm_hierarchy_new(&h, &t->machine, &err), 0);
	if (data_only)
		nm_hierarchy_set_data_only(h);
	nm_hierarchy_use(h, nm_lookup_supported(isa));
	feed(h, refs, REFS, batch);
	for (unsigned i = 0; i < t->machine.count; i++)
		assert_true(nm_shadow_is_valid(&nm_hierarchy_level(h, i)->shadow));
	compare(h, t, spec, what);
	nm_hierarchy_free(h);
}

/* The program's prefetches: of what a reference soon needs, a few of lines at random. */
enum { PREFETCHES = REFS / 3 };

static void make_prefetches(struct nm_software_prefetch *prefetches, size_t *before,
			    const struct nm_ref *refs)
{
	for (size_t i = 0; i < PREFETCHES; i++) {
		const size_t ahead = below(60);

		before[i] = i * 3 + below(3);
		prefetches[i] = (struct nm_software_prefetch){
		    .address = refs[(before[i] + ahead) % REFS].address + (below(8) ? 0 : below(4096)),
		    .attr = below(ATTRS),
		    .depth = (uint8_t)below(4),
		    .alone = !below(4)};
	}
}

/* What the program tells the caches: prefetches [0, PREFETCHES), each before a reference, and which stores are
 * non-temporal. Those before reference `from` are left out. */
struct told {
	size_t from;
	struct nm_software_prefetch prefetches[PREFETCHES];
	size_t before[PREFETCHES];
	unsigned char past[REFS];
};

static void make_told(struct told *told, const struct nm_ref *refs, size_t from)
{
	make_prefetches(told->prefetches, told->before, refs);
	told->from = from;
	for (size_t i = 0; i < REFS; i++)
		told->past[i] = i >= from && refs[i].kind == NM_REF_WRITE && !below(3);
}

/* To a hierarchy that follows hints from the start, one by one. */
static void feed_one_by_one(struct nm_hierarchy *h, const struct nm_ref *refs, const struct told *told)
{
	for (size_t i = 0, p = 0; i < REFS; i++) {
		for (; p < PREFETCHES && told->before[p] == i; p++)
			if (i >= told->from)
				assert_int_equal(nm_hierarchy_prefetch(h, &told->prefetches[p]), 0);
		assert_int_equal(told->past[i] ? nm_hierarchy_store_past(h, &refs[i])
					       : nm_hierarchy_run(h, &refs[i], 1),
				 0);
	}
}

/* To a hierarchy that begins to follow them at the first, with the batches. */
static void feed_with_batches(struct nm_hierarchy *h, const struct nm_ref *refs, const struct told *told)
{
	static struct nm_cache_hint hints[2 * NM_BATCH];
	size_t p = 0;

	for (size_t at = 0, n; at < REFS; at += n) {
		const size_t most = 1 + below(400);
		size_t count = 0;

		n = REFS - at < most ? REFS - at : most;
		for (size_t i = at; i < at + n; i++) {
			for (; p < PREFETCHES && told->before[p] == i; p++)
				if (i >= told->from)
					hints[count++] = (struct nm_cache_hint){
					    .before = (uint16_t)(i - at), .prefetch = told->prefetches[p]};
			if (told->past[i])
				hints[count++] =
				    (struct nm_cache_hint){.before = (uint16_t)(i - at), .is_store = 1};
		}
		/* A prefetch behind the last reference of the batch, instead of before the first of the next one. */
		for (; p < PREFETCHES && told->before[p] == at + n && at + n < REFS && at + n >= told->from;
		     p++)
			hints[count++] =
			    (struct nm_cache_hint){.before = (uint16_t)n, .prefetch = told->prefetches[p]};
		assert_int_equal(nm_hierarchy_set_hints(h, hints, count), 0);
		assert_int_equal(nm_hierarchy_run(h, refs + at, n), 0);
	}
}

static void run_with_hints(const char *spec, const struct nm_ref *refs, const struct told *told,
			   int from_start)
{
	struct twin t = {.streams = told->past};
	struct nm_hierarchy *h;
	struct nm_error err;
	size_t first = 0;

	while (told->before[first] < told->from)
		first++;
	t.prefetches = told->prefetches + first;
	t.before = told->before + first;
	t.prefetch_count = PREFETCHES - first;
	assert_int_equal(nm_machine_parse(spec, &t.machine, &err), 0);
	t.machine.hints = 1;
	t.machine.memory_latency = 40;
	for (unsigned i = 0; i < t.machine.count; i++)
		t.machine.levels[i].latency = 4 + 6 * i;
	t.attrs = ATTRS;
	twin_run(&t, refs, REFS);
	t.machine.hints = from_start;
	assert_int_equal(nm_hierarchy_new(&h, &t.machine, &err), 0);
	if (from_start)
		feed_one_by_one(h, refs, told);
	else
		feed_with_batches(h, refs, told);
	assert_true(nm_hierarchy_follows_hints(h));
	for (unsigned i = 0; i < t.machine.count; i++)
		assert_true(nm_shadow_is_valid(&nm_hierarchy_level(h, i)->shadow));
	assert_int_equal(nm_hierarchy_finish(h), 0);
	compare(h, &t, spec, from_start ? "hints" : "hints of batches");
	nm_hierarchy_free(h);
	twin_done(&t);
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
    "L1d=2K,8,64:L2=6K,12,64:L3=16K,16,64",
    "L1d=2K,8,64:L2=512,2,64:L3=16K,16,64", /* much that leaves the first is not in the second */
    "L1d=2K,8,64,policy=fifo:L2=4K,8,64:L3=16K,16,64",
    /* replacement */
    "L1d=1K,4,32,policy=fifo",
    "L1d=2K,8,64,policy=lru,index=xor",
    "L1d=1K,4,32,policy=random",
    "L1d=1536,3,64,policy=random,seed=7",
    "L1d=2K,8,64,policy=tree-plru",
    "L1d=1536,6,64,policy=tree-plru",
    "L1d=1K,1,32,policy=tree-plru",
    "L1d=2K,8,64,policy=bit-plru",
    "L1d=1K,1,32,policy=bit-plru",
    "L1d=2K,8,64,policy=nru",
    "L1d=2K,8,64,policy=srrip",
    "L1d=6K,12,64,policy=brrip,seed=3",
    "L1d=16K,2,64,policy=drrip",
    "L1d=4K,1,32,policy=drrip,sets=200",
    "L1d=64,full,32,policy=drrip",
    "L1d=8K,full,64,policy=fifo",
    "L1d=8K,full,64,policy=srrip",
    "L1d=5K,80,32,policy=tree-plru",
    "L1d=5K,80,32,policy=random",
    "L1d=2K,8,64:L2=8K,16,64,policy=srrip",
    "L1d=2K,8,64,policy=tree-plru:L2=8K,16,128,policy=nru:L3=32K,4,256,policy=random",
    "L1i=1K,4,64,policy=fifo:L1d=2K,8,64:L2=6K,12,64,policy=drrip:L3=16K,16,64",
    /* index */
    "L1d=4K,4,64,index=prime",
    "L1d=1K,1,32,index=xor",
    "L1d=2K,8,64:L2=16K,4,64,index=slices:L3=48K,4,64,index=slices,slices=8",
    "L1d=2K,8,64:L2=8K,4,64,index=slices,slices=2,policy=bit-plru",
    /* writes */
    "L1d=2K,8,64,write=through",
    "L1d=2K,8,64,allocate=no",
    "L1d=2K,8,64,write=through,allocate=no:L2=8K,16,64",
    "L1d=1K,2,32,allocate=no:L2=8K,16,64,write=through,allocate=no:L3=32K,16,256",
    "L1d=1K,2,32:L2=4K,4,64,write=through:L3=16K,8,128",
    "L1d=1K,full,64,write=through:L2=8K,16,64,policy=fifo",
    "L1i=1K,2,32:L1d=1K,4,64,write=through:L2=4K,8,64,write=through:L3=8K,8,64",
    /* sectors */
    "L1d=2K,4,64,sector=16",
    "L1d=4K,8,256,sector=64,policy=fifo",
    "L1d=1K,1,128,sector=8",
    "L1d=4K,full,128,sector=32,policy=srrip",
    "L1d=5K,full,64,sector=16,policy=random",
    "L1d=8K,2,256,sector=128",
    "L1d=2K,8,64:L2=8K,4,256,sector=64",
    "L1d=2K,8,128,sector=32:L2=8K,8,64",
    "L1d=2K,8,128,sector=32:L2=8K,4,256,sector=64:L3=16K,4,256",
    "L1d=2K,4,128,sector=32,write=through:L2=8K,8,128,sector=64,policy=drrip",
    "L1d=2K,4,128,sector=32,allocate=no:L2=8K,8,64,write=through:L3=8K,2,256,sector=128",
    "L1d=2K,4,64,sector=32:L2=4K,4,128,sector=64,inclusion=inclusive",
    "L1i=1K,2,32:L1d=1K,4,128,sector=16:L2=2K,2,256,sector=64,inclusion=inclusive",
    "L1d=4K,4,64,sector=16:L2=4K,4,64,inclusion=inclusive",
    "L1d=4K,4,64,sector=16,index=xor:L2=16K,4,64,sector=32,index=slices",
    /* inclusion */
    "L1d=2K,8,64:L2=4K,4,64,inclusion=inclusive",
    "L1d=8K,full,64:L2=8K,4,128,inclusion=inclusive",
    "L1d=1K,2,32:L2=2K,4,64:L3=4K,4,128,inclusion=inclusive",
    "L1d=2K,8,128:L2=2K,2,256,inclusion=inclusive:L3=4K,2,256,inclusion=inclusive",
    "L1i=1K,4,32:L1d=2K,8,64,policy=fifo:L2=4K,4,64,inclusion=inclusive,policy=drrip",
    "L1d=2K,8,64:L2=4K,4,64,inclusion=exclusive",
    "L1d=1K,1,64,policy=random:L2=8K,full,64,inclusion=exclusive,policy=fifo",
    "L1d=2K,8,128:L2=4K,4,128,inclusion=exclusive:L3=8K,4,128,inclusion=exclusive:L4=16K,4,256",
    "L1d=1K,4,64:L2=4K,8,64:L3=8K,8,64,inclusion=exclusive,policy=srrip",
    "L1i=1K,4,64:L1d=2K,8,64:L2=4K,4,64,inclusion=exclusive:L3=16K,8,64",
    /* prefetchers */
    "L1d=2K,8,64,prefetch=next",
    "L1d=1K,1,32,prefetch=next,degree=3,distance=2,cross=yes",
    "L1d=512,full,64,prefetch=next,degree=8",
    "L1d=8K,full,64,prefetch=next,policy=srrip",
    "L1d=2K,8,64,prefetch=stride",
    "L1d=1K,4,32,prefetch=stride,degree=4,distance=3,table=5,cross=yes",
    "L1d=2K,8,64,prefetch=stream",
    "L1d=4K,8,32,prefetch=stream,degree=4,distance=32,table=7,cross=yes",
    "L1d=1K,2,32:L2=8K,8,64,prefetch=next",
    "L1d=1K,4,64:L2=4K,4,64,prefetch=stride",
    "L1d=2K,8,64:L2=8K,16,64,prefetch=stream,table=4",
    "L1d=5K,80,32:L2=16K,8,32,prefetch=stream,distance=4",
    "L1d=1K,4,64,prefetch=next:L2=4K,8,128",
    "L1d=1K,4,64,prefetch=next:L2=4K,8,64:L3=8K,8,64,prefetch=stream",
    "L1d=1K,4,32,prefetch=stride:L2=4K,8,64,prefetch=next:L3=8K,2,256,policy=random",
    "L1i=1K,4,64,prefetch=next:L1d=2K,8,64:L2=4K,8,64,prefetch=stream",
    "L1d=2K,8,64:L2=8K,8,64,prefetch=next,degree=2",
    "L1i=1K,4,64:L2=4K,8,64,prefetch=next",
    "L1d=2K,4,128,sector=32,prefetch=next:L2=8K,8,128,sector=64,prefetch=stride",
    "L1d=1K,4,64,prefetch=stream,write=through:L2=4K,8,64",
    "L1d=1K,4,64,allocate=no,prefetch=next:L2=4K,8,64,write=through,prefetch=stream:L3=8K,8,128",
    "L1d=2K,8,64:L2=2K,4,64,inclusion=inclusive,prefetch=next,degree=4",
    "L1d=2K,8,64,prefetch=stride:L2=4K,1,64,inclusion=inclusive,prefetch=stream:L3=8K,4,128,inclusion=inclusive",
    "L1d=1K,4,64:L2=2K,4,64,inclusion=exclusive:L3=16K,8,64,prefetch=next",
    "L1d=2K,8,64,prefetch=next:L2=4K,4,64,inclusion=exclusive",
    "L1d=1K,4,64,prefetch=stride:L2=4K,full,64,inclusion=exclusive,policy=fifo:L3=16K,8,128",
    "L1d=1K,4,64:L2=2K,4,64,prefetch=stream:L3=8K,8,64,inclusion=exclusive,policy=srrip",
    "L1d=1K,4,64,prefetch=next,degree=3:L2=2K,4,64,inclusion=exclusive:L3=8K,4,64,inclusion=exclusive",
    "L1i=1K,4,64,prefetch=next:L1d=1K,4,64,prefetch=stride:L2=2K,4,64,inclusion=exclusive:L3=4K,4,64",
    "L1i=1K,4,64,prefetch=stream:L1d=1K,4,64:L2=2K,4,64,inclusion=exclusive:L3=2K,4,64,inclusion=exclusive:L4=8K,8,64",
    "L1d=1K,4,64:L2=4K,8,64,inclusion=exclusive",
    "L1i=1K,4,128:L1d=2K,8,64:L2=8K,8,256",
    "L1d=2K,8,64:L2=8K,16,64,side=data:L3=8K,4,64",
    "L1=2K,8,64:L2=8K,16,64",
    "L1i=1K,2,64:L2=4K,8,64",
};

/* A machine and its twin have the same counts for stream s, in batches of any size, with each copy of the
 * loops. */
static void check_twin(const char *spec, unsigned s, struct nm_ref *refs)
{
	struct twin *t = calloc(1, sizeof *t);
	struct nm_error err;
	const int fetches = strstr(spec, "L1d=") != spec || s == 5;

	assert_int_equal(nm_machine_parse(spec, &t->machine, &err), 0);
	make_stream(refs, s, t->machine.levels[0].size, fetches);
	twin_run(t, refs, REFS);
	for (unsigned isa = 0; nm_lookup_supported(isa); isa++) {
		run_and_compare(t, spec, refs, NM_BATCH, isa, !fetches);
		run_and_compare(t, spec, refs, 0, isa, 0);
	}
	twin_done(t);
	free(t);
}

static void test_twin(void **state)
{
	static struct nm_ref refs[REFS];
	(void)state;
	for (unsigned g = 0; g < sizeof geometries / sizeof geometries[0]; g++)
		for (unsigned s = 0; s < sizeof streams / sizeof streams[0]; s++) {
			rng_state = g * 1000 + s;
			check_twin(geometries[g], s, refs);
		}
}

static void test_hints_of_the_program(void **state)
{
	static struct nm_ref refs[REFS];
	static struct told told;
	(void)state;
	for (unsigned g = 0; g < sizeof geometries / sizeof geometries[0]; g++) {
		const unsigned stream = g % (sizeof streams / sizeof streams[0]);

		rng_state = g;
		make_stream(refs, stream, 4096, strstr(geometries[g], "L1i") != NULL);
		make_told(&told, refs, g % 3 ? below(REFS / 2) : 0);
		run_with_hints(geometries[g], refs, &told, 1);
		run_with_hints(geometries[g], refs, &told, 0);
	}
}

/* Each policy that is in the table, in a first and in a further level. */
static void test_twin_of_each_policy(void **state)
{
	static struct nm_ref refs[REFS];
	char spec[120];
	(void)state;
	for (unsigned p = 0; nm_policies[p]; p++)
		for (unsigned s = 0; s < sizeof streams / sizeof streams[0] && !nm_policies[p]->looks_ahead;
		     s++) {
			rng_state = p * 1000 + s;
			snprintf(spec, sizeof spec, "L1d=3K,12,32,policy=%s:L2=8K,full,64,policy=%s",
				 nm_policies[p]->name, nm_policies[p]->name);
			check_twin(spec, s, refs);
		}
}

/* Levels with policy=opt, which get their next uses from earlier runs. */
static const char *const with_prefetchers[] = {
    "L1d=1K,1,32,policy=opt",
    "L1d=2K,8,64,policy=opt",
    "L1d=1536,3,64,policy=opt,index=prime",
    "L1d=2K,full,32,policy=opt",
    "L1d=5K,80,32,policy=opt",
    "L1d=1K,4,32,policy=opt,write=through:L2=4K,8,64",
    "L1d=1K,4,64,policy=opt:L2=4K,4,64,inclusion=exclusive",
    "L1d=1K,2,32:L2=4K,8,64,policy=opt:L3=16K,4,128,policy=srrip",
    "L1d=1K,4,32,policy=opt:L2=4K,8,64,policy=opt:L3=8K,8,128,policy=opt",
    "L1i=1K,4,64,policy=opt:L1d=1K,2,64,allocate=no:L2=4K,8,64,policy=opt",
};

/* The requests of a level in one run of the twin are its next uses in the next run. */
static void run_twin_ahead(struct twin *t, const struct nm_ref *refs)
{
	for (unsigned run = 0; run < nm_machine_runs_ahead(&t->machine); run++) {
		struct twin *early = calloc(1, sizeof *early);
		early->machine = t->machine;
		for (unsigned i = 0; i < t->machine.count; i++) {
			early->levels[i].next_uses = t->levels[i].next_uses;
			early->levels[i].future_count = t->levels[i].future_count;
		}
		twin_run(early, refs, REFS);
		for (unsigned i = 0; i < t->machine.count; i++) {
			free((uint64_t *)t->levels[i].next_uses);
			t->levels[i].next_uses = early->levels[i].asked;
			t->levels[i].future_count = early->levels[i].asked_count;
			early->levels[i].asked = NULL;
		}
		twin_done(early);
		free(early);
	}
	twin_run(t, refs, REFS);
	for (unsigned i = 0; i < t->machine.count; i++)
		free((uint64_t *)t->levels[i].next_uses);
}

static void run_ahead_and_compare(const struct twin *t, const char *spec, const struct nm_ref *refs)
{
	struct nm_oracle *oracle;
	struct nm_hierarchy *h;
	struct nm_error err;
	int ready;

	assert_int_equal(nm_oracle_new(&oracle, &t->machine, &err), 0);
	do {
		ready = nm_oracle_ready(oracle);
		assert_int_equal(nm_hierarchy_new_with_oracle(&h, &t->machine, oracle, &err), 0);
		feed(h, refs, REFS, 0);
		if (ready)
			compare(h, t, spec, "covered");
		nm_hierarchy_free(h);
		nm_oracle_next_run(oracle);
	} while (!ready);
	nm_oracle_free(oracle);
}

static void test_oracle(void **state)
{
	static struct nm_ref refs[REFS];
	(void)state;
	for (unsigned g = 0; g < sizeof with_prefetchers / sizeof with_prefetchers[0]; g++)
		for (unsigned s = 0; s < sizeof streams / sizeof streams[0]; s++) {
			struct twin *t = calloc(1, sizeof *t);
			struct nm_error err;
			rng_state = g * 1000 + s;
			if (nm_machine_parse(with_prefetchers[g], &t->machine, &err))
				fail_msg("%s: %s", with_prefetchers[g], err.text);
			make_stream(refs, s, t->machine.levels[0].size, g % 2);
			run_twin_ahead(t, refs);
			run_ahead_and_compare(t, with_prefetchers[g], refs);
			twin_done(t);
			free(t);
		}
}

/* References that no sane program makes. */
static void test_extremes(void **state)
{
	const struct nm_ref refs[] = {
	    {.address = UINT64_MAX, .size = 65535, .kind = NM_REF_WRITE, .weight = 1},
	    {.address = 3, .size = 65535, .attr = 1, .kind = NM_REF_READ, .weight = 1},
	    {.address = UINT64_MAX - 7, .size = 8, .attr = 2, .kind = NM_REF_READ, .weight = 1},
	    {.address = 0x1000, .size = 1, .attr = 100000, .kind = NM_REF_READ, .weight = 1},
	};
	(void)state;
	struct nm_machine machine;
	struct nm_hierarchy *h;
	struct nm_counts total, *c;
	struct nm_error err;
	size_t attrs;
	assert_int_equal(nm_machine_parse("L1d=512,4,8:L2=4K,full,8", &machine, &err), 0);
	assert_int_equal(nm_hierarchy_new(&h, &machine, &err), 0);
	assert_int_equal(nm_hierarchy_run(h, refs, sizeof refs / sizeof refs[0]), 0);
	assert_int_equal(nm_hierarchy_finish(h), 0);
	assert_int_equal(nm_hierarchy_counts(h, 0, &c, &attrs), 0);
	assert_int_equal(attrs, 100001);
	assert_int_equal(c[0].loads, 1 + 8192);
	assert_int_equal(c[0].cold, 1 + 8192);
	assert_int_equal(c[1].loads, 8193);
	assert_int_equal(c[1].cold, 1);
	assert_int_equal(c[1].read_misses, 1);
	assert_int_equal(c[2].loads, 1);
	assert_int_equal(c[2].cold, 0);
	free(c);
	nm_hierarchy_total(h, 1, &total);
	assert_int_equal(total.reads + total.writes, 1 + 8192 + 8193 + 1 + 1);
	nm_hierarchy_free(h);
}

static void test_bad_requests(void **state)
{
	struct nm_machine machine;
	struct nm_hierarchy *h = NULL;
	struct nm_error err;
	(void)state;
	assert_int_equal(nm_machine_parse("L1d=512,4,8", &machine, &err), 0);
	machine.levels[0].sets = 0;
	assert_int_equal(nm_hierarchy_new(&h, &machine, &err), NM_EINVAL);
	assert_null(h);
}

/* A level of 256 MB costs what has come into it, and its lines are found where they are. */
static void test_memory_follows_lines(void **state)
{
	enum { LINES = 100 };
	static struct nm_ref refs[LINES];
	const struct nm_cache *last;
	struct nm_machine machine;
	struct nm_hierarchy *h;
	uint64_t laid = 0, found = 0;

	(void)state;
	rng_state = 9;
	assert_int_equal(nm_machine_parse("L1d=1K,2,64:L2=1536K,12,64:L3=256M,16,64", &machine, NULL), 0);
	assert_int_equal(nm_hierarchy_new(&h, &machine, NULL), 0);
	for (unsigned i = 0; i < LINES; i++)
		refs[i] = (struct nm_ref){.address = rng() >> 24 & ~63ull, .attr = 1, .size = 8, .weight = 1};
	assert_int_equal(nm_hierarchy_run(h, refs, LINES), 0);
	last = nm_hierarchy_level(h, 2);
	nm_hierarchy_finish(h);
	for (uint64_t chunk = 0; chunk < last->spec.sets >> NM_CHUNK_BITS; chunk++)
		laid += last->laid[chunk];
	assert_in_range(laid, 1, LINES + 1);
	for (uint64_t slot = 0; (slot = nm_cache_next_resident(last, slot)) != NM_NO_SLOT; slot++)
		found++;
	assert_int_equal(found, LINES);
	nm_hierarchy_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_twin),
	    cmocka_unit_test(test_hints_of_the_program),
	    cmocka_unit_test(test_twin_of_each_policy),
	    cmocka_unit_test(test_oracle),
	    cmocka_unit_test(test_extremes),
	    cmocka_unit_test(test_bad_requests),
	    cmocka_unit_test(test_memory_follows_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
