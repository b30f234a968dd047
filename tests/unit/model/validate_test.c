/* SPDX-License-Identifier: MIT
 *
 * validate_test.c - levels and directories hold what they must after each batch of random streams, and a
 * planted fault in one number, which no figure may show yet, is seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "breaks.h"
#include "cache.h"
#include "coherence.h"
#include "general.h"
#include "hierarchy.h"
#include "hierarchy_priv.h"
#include "machine.h"
#include "numbers.h"
#include "oracle.h"

enum { BATCHES = 60, CORES = 2, KEYS = 5 };

/* Plants a fault in a hierarchy. */
#define HURTS(h, place, value) BREAKS(nm_hierarchy_is_valid(h), place, value)

static void run_batch(struct nm_hierarchy *h, unsigned cores)
{
	struct nm_ref refs[100];

	for (size_t i = 0; i < 100; i++)
		refs[i] = (struct nm_ref){.address = below(below(4) ? 4096 : 40000),
					  .attr = (uint32_t)below(KEYS),
					  .size = 8,
					  .kind = below(3) ? NM_REF_READ : NM_REF_WRITE,
					  .weight = 1};
	nm_hierarchy_set_core(h, (unsigned)below(cores));
	if (!below(8))
		nm_hierarchy_synchronise(h);
	assert_int_equal(nm_hierarchy_run(h, refs, 100), 0);
}

/* A hierarchy whose caches are full. */
static struct nm_hierarchy *make_full(const char *spec, unsigned cores)
{
	struct nm_hierarchy *h;
	struct nm_machine machine;
	struct nm_error err;

	rng_state = 1;
	if (nm_machine_parse(spec, &machine, &err))
		fail_msg("%s: %s", spec, err.text);
	machine.cores = cores;
	assert_int_equal(nm_hierarchy_new(&h, &machine, &err), 0);
	for (unsigned i = 0; i < BATCHES; i++) {
		run_batch(h, cores);
		if (!nm_hierarchy_is_valid(h))
			fail_msg("%s: invalid after batch %u", spec, i);
	}
	return h;
}

static struct nm_cache *level_of(struct nm_hierarchy *h, unsigned level)
{
	return (struct nm_cache *)nm_hierarchy_level(h, level);
}

static void test_valid(void **state)
{
	static const char *const specs[] = {
	    "L1d=2K,8,64:L2=6K,12,64:L3=16K,16,64",
	    "L1d=2K,4,128,sector=32:L2=8K,8,128,sector=64,policy=drrip",
	    "L1d=1K,4,64,allocate=no,prefetch=next:L2=4K,8,64,write=through,prefetch=stream",
	    "L1d=1K,1,64,policy=random:L2=8K,full,64,inclusion=exclusive,policy=fifo",
	    "L1d=2K,8,64,policy=bit-plru:L2=4K,4,64,inclusion=inclusive,policy=tree-plru",
	    "L1d=1K,2,64,protocol=mesi:L2=4K,4,64,inclusion=exclusive,shared=no:L3=16K,8,64,inclusion=exclusive",
	    "L1d=1K,4,64,protocol=moesi:L2=4K,4,64,policy=nru",
	    "L1d=1K,2,64,protocol=scope,index=xor:L2=3K,3,64,shared=no,index=prime:L3=16K,full,64:nodes=2"};

	(void)state;
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
		nm_hierarchy_free(make_full(specs[i], strstr(specs[i], "protocol") ? CORES : 1));
}

/* A level that becomes a general one holds what it held. */
static void test_hints(void **state)
{
	struct nm_hierarchy *h = make_full("L1d=2K,8,64:L2=6K,12,64:L3=16K,16,64", 1);

	(void)state;
	assert_int_equal(hierarchy_take_hints(h), 0);
	assert_true(nm_hierarchy_is_valid(h));
	for (unsigned i = 0; i < BATCHES; i++) {
		run_batch(h, 1);
		assert_true(nm_hierarchy_is_valid(h));
	}
	HURTS(h, level_of(h, 1)->tags[12], 7);
	HURTS(h, level_of(h, 1)->general->free_count[0], 1);
	nm_hierarchy_free(h);
}

static void test_fast_level(void **state)
{
	struct nm_hierarchy *h = make_full("L1d=2K,8,64:L2=6K,12,64", 1);
	struct nm_cache *c = level_of(h, 0), *padded = level_of(h, 1);

	(void)state;
	HURTS(h, c->tags[0], c->tags[1]);     /* twice */
	HURTS(h, c->tags[0], c->tags[0] + 1); /* of another set */
	HURTS(h, c->tags[0], NM_NO_LINE);
	HURTS(h, c->timestamps[0], c->timestamps[1]);
	HURTS(h, c->timestamps[0], c->shadow.now);
	HURTS(h, c->timestamps[0], 0);
	HURTS(h, c->counters.residencies[0].evictions, c->counters.residencies[0].evictions + 1);
	HURTS(h, c->counters.loads[1].fills[0], c->counters.loads[1].fills[0] - 1);
	HURTS(h, c->counters.loads[0].of_class[0], c->counters.loads[0].of_class[0] + 1);
	HURTS(h, c->miss_count, 1);
	HURTS(h, c->shadow.live, c->shadow.live - 1);
	HURTS(h, padded->tags[12], 7);
	HURTS(h, padded->timestamps[12], 0);
	nm_hierarchy_free(h);
}

static void test_general_level(void **state)
{
	struct nm_hierarchy *h = make_full("L1d=2K,4,128,sector=32,policy=fifo:L2=8K,full,128,sector=32", 1);
	struct nm_general *g = level_of(h, 0)->general;
	struct nm_cache *c = level_of(h, 0), *full = level_of(h, 1);
	uint32_t *ring = (uint32_t *)g->replacement.state;
	uint64_t at = 0;

	(void)state;
	HURTS(h, g->free_count[0], 1);
	HURTS(h, g->free_ways[0], 1);
	HURTS(h, g->lines[0], g->lines[1]);
	HURTS(h, g->lines[0], g->lines[0] + 1);
	HURTS(h, ring[0], 0); /* way 0 follows itself */
	HURTS(h, ring[1], ring[1] ^ 1);
	at = nm_cache_next_resident(c, 0);
	HURTS(h, c->tags[at], c->tags[at] ^ 1); /* another sector */
	at = nm_cache_next_resident(full, 0);
	HURTS(h, full->general->lines[at / 4], full->general->lines[at / 4] + 1); /* not where it is found */
	nm_hierarchy_free(h);
}

static void test_policies(void **state)
{
	struct nm_hierarchy *h = make_full("L1d=2K,8,64,policy=bit-plru:L2=8K,8,64,policy=srrip", 1);
	unsigned char *bits = level_of(h, 0)->general->replacement.state,
		      *far = level_of(h, 1)->general->replacement.state;

	(void)state;
	HURTS(h, bits[2], !bits[2]);
	HURTS(h, far[2], 4);
	nm_hierarchy_free(h);
}

static void test_exclusive_level(void **state)
{
	struct nm_hierarchy *h = make_full("L1d=1K,2,64:L2=4K,4,64,inclusion=exclusive", 1);
	struct nm_cache *c = level_of(h, 1);
	struct nm_general *g = c->general;

	(void)state;
	g->reserved_slots[g->reserved_free] = g->reserved_slots[0];
	HURTS(h, g->reserved_free, g->reserved_free + 1); /* what a line above has is free too */
	HURTS(h, g->reserved_slots[0], 0);
	HURTS(h, c->tags[c->slots - 1], c->tags[c->slots - 1] == NM_NO_LINE ? 0 : NM_NO_LINE);
	nm_hierarchy_free(h);
}

/* A valid copy of core 0 in a shared page. */
static struct nm_copy *shared_copy(const struct nm_coherence *x)
{
	struct nm_copy *copy = x->core[0].valid;

	while (copy && !copy->next)
		copy = copy->after;
	assert_non_null(copy);
	return copy;
}

static void test_directory(void **state)
{
	struct nm_hierarchy *h = make_full("L1d=4K,4,64,protocol=mesi:L2=64K,16,64", CORES);
	struct nm_coherence *x = nm_hierarchy_coherence(h, 0);
	struct nm_copy *copy = shared_copy(x);
	struct nm_cache *c = level_of(h, 0);

	(void)state;
	HURTS(h, copy->core, copy->next->core);
	HURTS(h, copy->core, CORES);
	HURTS(h, copy->block, copy->block + 1);
	HURTS(h, copy->state, NM_COPY_NONE); /* but among the valid ones */
	HURTS(h, copy->link, &copy->after);
	HURTS(h, copy->page->live, copy->page->live + 1);
	HURTS(h, copy->page->number, copy->page->number + 1);
	HURTS(h, x->core[0].valid, copy->after); /* a list that lacks it */
	HURTS(h, x->directory.recent_private[0], 1 + copy->page->number);
	HURTS(h, c->coherent->cleared[0][0], c->tags[0] ^ 1);
	while (copy && (copy->next->state == NM_COPY_NONE || copy->state != NM_COPY_SHARED))
		do
			copy = copy->after;
		while (copy && !copy->next);
	assert_non_null(copy);
	HURTS(h, copy->state, NM_COPY_MODIFIED); /* beside another valid copy */
	nm_hierarchy_free(h);
}

/* OPT knows the next uses in its second run, and keeps its ways as a heap. */
static void test_heap(void **state)
{
	struct nm_oracle *oracle;
	struct nm_machine machine;
	struct nm_hierarchy *h = NULL;
	unsigned char *set;

	(void)state;
	assert_int_equal(nm_machine_parse("L1d=1K,4,64,policy=opt", &machine, NULL), 0);
	assert_int_equal(nm_oracle_new(&oracle, &machine, NULL), 0);
	for (;;) {
		rng_state = 1;
		assert_int_equal(nm_hierarchy_new_with_oracle(&h, &machine, oracle, NULL), 0);
		for (unsigned i = 0; i < BATCHES; i++)
			run_batch(h, 1);
		if (nm_oracle_ready(oracle))
			break;
		nm_hierarchy_free(h);
		nm_oracle_next_run(oracle);
	}
	set = level_of(h, 0)->general->replacement.state;
	HURTS(h, *(uint32_t *)set, 9);       /* more ways in the heap than there are */
	HURTS(h, *(uint64_t *)(set + 8), 0); /* a next use before that of the ways below */
	HURTS(h, *(uint32_t *)(set + 8 + 8), 3 - *(uint32_t *)(set + 8 + 8));
	nm_hierarchy_free(h);
	nm_oracle_free(oracle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_valid),      cmocka_unit_test(test_hints),
	    cmocka_unit_test(test_fast_level), cmocka_unit_test(test_general_level),
	    cmocka_unit_test(test_policies),   cmocka_unit_test(test_exclusive_level),
	    cmocka_unit_test(test_directory),  cmocka_unit_test(test_heap)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
