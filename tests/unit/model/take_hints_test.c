/* SPDX-License-Identifier: MIT
 *
 * take_hints_test.c - machines with several cores that begin to follow hints in the middle of a run have the same
 * counts, coherence's too, as those that were built to follow them. (model_test.c holds one core against the twin.)
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
#include "coherence.h"
#include "hierarchy.h"
#include "machine.h"
#include "numbers.h"

enum { BATCHES = 60, CORES = 3, ATTRS = 7, PAGES = 40 };

/* A batch, and what is told within it; the same for both hierarchies. */
struct batch {
	struct nm_ref refs[NM_BATCH];
	struct nm_time_slice slices[NM_BATCH];
	struct nm_cache_hint hints[2 * NM_BATCH];
	size_t count, slice_count, hint_count;
};

/* Mostly pages of the core's own, so that some are private when hints begin. */
static uint64_t some_address(unsigned core)
{
	return 0x100000 + (below(6) ? core : below(CORES)) * PAGES * 4096 + below(PAGES) * 4096 +
	       below(20) * 64;
}

static void make_batch(struct batch *b, int has_hints)
{
	unsigned core = (unsigned)below(CORES);

	b->count = 1 + below(NM_BATCH);
	b->slice_count = b->hint_count = 0;
	for (size_t i = 0; i < b->count; i++) {
		struct nm_ref *r = &b->refs[i];

		*r = (struct nm_ref){.address = some_address(core) + below(8) * 8,
				     .attr = 1 + (uint32_t)below(ATTRS - 1),
				     .size = 8,
				     .kind = below(3) ? NM_REF_READ : NM_REF_WRITE,
				     .weight = 1};
		if (has_hints && !below(4))
			b->hints[b->hint_count++] = (struct nm_cache_hint){
			    .before = (uint16_t)i,
			    .core = (uint16_t)core,
			    .prefetch = {some_address(core), 1 + (uint32_t)below(ATTRS - 1),
					 (uint8_t)below(3), !below(4)}};
		if (has_hints && r->kind == NM_REF_WRITE && !below(4))
			b->hints[b->hint_count++] =
			    (struct nm_cache_hint){.before = (uint16_t)i, .is_store = 1};
		if (i + 1 == b->count || !below(50)) {
			b->slices[b->slice_count++] =
			    (struct nm_time_slice){(uint16_t)(i + 1), (uint16_t)core, !below(3)};
			core = (unsigned)below(CORES);
		}
	}
}

static void compare_counts(const char *spec, unsigned level, struct nm_hierarchy *const h[2])
{
	struct nm_counts *counts[2];
	struct nm_extras *extras[2];
	size_t rows[2];

	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(nm_hierarchy_counts(h[i], level, &counts[i], &rows[i]), 0);
	assert_int_equal(rows[0], rows[1]);
	if (memcmp(counts[0], counts[1], rows[0] * sizeof *counts[0]))
		fail_msg("%s: level %u: counts differ", spec, level);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(nm_hierarchy_extra_counts(h[i], level, &extras[i], &rows[i]), 0);
	assert_int_equal(extras[0] != NULL, extras[1] != NULL);
	assert_int_equal(rows[0], rows[1]);
	if (extras[0] && memcmp(extras[0], extras[1], rows[0] * sizeof *extras[0]))
		fail_msg("%s: level %u: extras differ", spec, level);
	for (unsigned i = 0; i < 2; i++) {
		free(counts[i]);
		free(extras[i]);
	}
}

/* Each core has each block in the same state. */
static void compare_states(const char *spec, struct nm_hierarchy *const h[2])
{
	const struct nm_coherence *c[2] = {nm_hierarchy_coherence(h[0], 0), nm_hierarchy_coherence(h[1], 0)};

	assert_int_equal(c[0] != NULL, c[1] != NULL);
	for (unsigned core = 0; c[0] && core < CORES; core++)
		for (uint64_t at = 0x100000; at < 0x100000 + CORES * PAGES * 4096; at += 64)
			if (nm_coherence_state(c[0], core, at) != nm_coherence_state(c[1], core, at))
				fail_msg("%s: core %u has another state of %llx", spec, core,
					 (unsigned long long)at);
}

static struct nm_hierarchy *start(const char *spec, int hints)
{
	struct nm_machine machine;
	struct nm_hierarchy *h;
	struct nm_error err;

	if (nm_machine_parse(spec, &machine, &err))
		fail_msg("%s: %s", spec, err.text);
	machine.cores = CORES;
	machine.hints = hints;
	machine.memory_latency = 30;
	if (nm_hierarchy_new(&h, &machine, &err))
		fail_msg("%s: %s", spec, err.text);
	return h;
}

static void check(const char *spec, unsigned levels)
{
	static struct batch b;
	struct nm_hierarchy *const h[2] = {start(spec, 0), start(spec, 1)};
	const unsigned from = (unsigned)below(BATCHES / 2);

	for (unsigned k = 0; k < BATCHES; k++) {
		make_batch(&b, k >= from);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(nm_hierarchy_set_hints(h[i], b.hints, b.hint_count), 0);
			assert_int_equal(nm_hierarchy_run_time_slices(h[i], b.refs, b.slices, b.slice_count),
					 0);
		}
		compare_states(spec, h);
	}
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(nm_hierarchy_finish(h[i]), 0);
	for (unsigned level = 0; level < levels; level++)
		compare_counts(spec, level, h);
	for (unsigned i = 0; i < 2; i++)
		nm_hierarchy_free(h[i]);
}

static void test_cores(void **state)
{
	static const struct {
		const char *spec;
		unsigned levels;
	} machines[] = {
	    {"L1d=4K,4,64", 1},
	    {"L1d=4K,8,64:L2=64K,16,64", 2},
	    {"L1d=4K,8,64:L2=12K,12,64,shared=no:L3=64K,16,64", 3},
	    {"L1d=4K,8,64,protocol=mesi:L2=64K,16,64", 2},
	    {"L1d=4K,8,64,protocol=mesi:L2=16K,4,64,shared=no:L3=64K,16,64", 3},
	    {"L1d=4K,4,32,protocol=moesi:L2=64K,16,64", 2},
	    {"L1d=4K,8,64,protocol=mesif:L2=64K,16,64,inclusion=inclusive", 2},
	    {"L1d=4K,8,64,protocol=msi:L2=64K,16,64", 2},
	    {"L1i=4K,8,64,protocol=mesi:L1d=4K,8,64:L2=64K,16,64:nodes=2", 3},
	    {"L1d=4K,8,64,protocol=full:L2=64K,16,64", 2},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof machines / sizeof *machines; i++) {
		rng_state = i + 1;
		check(machines[i].spec, machines[i].levels);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cores)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
