/* SPDX-License-Identifier: MIT
 *
 * prefetch_test.c - prefetchers on walks whose counts are known, machines with and without them in one run,
 * and the table of strides by instruction. model_test.c compares them with their twins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hierarchy.h"
#include "machine.h"
#include "map.h"

enum { REFS = 12000, ATTRS = 8 };

/* Walks that begin anew now and then, by attribution keys of several strides. */
static void make_refs(struct nm_ref *refs)
{
	uint64_t at[ATTRS] = {0};

	for (uint64_t i = 0; i < REFS; i++) {
		uint32_t attr = (uint32_t)(nm_mix64(i) % ATTRS);

		at[attr] = i % 100 ? at[attr] + 8 * attr : nm_mix64(i) % 16384;
		refs[i] = (struct nm_ref){.address = 0x400000 + at[attr] % 16384,
					  .attr = attr,
					  .size = 8,
					  .kind = attr % 3 ? NM_REF_READ : NM_REF_WRITE,
					  .weight = 1};
	}
}

static void feed(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count, size_t batch)
{
	for (size_t i = 0; i < count; i += batch)
		assert_int_equal(nm_hierarchy_run(h, refs + i, batch < count - i ? batch : count - i), 0);
	assert_int_equal(nm_hierarchy_finish(h), 0);
}

static void total_of(const struct nm_hierarchy *h, unsigned level, struct nm_counts *ret_counts,
		     struct nm_extras *ret_extras)
{
	struct nm_extras *extras;
	size_t attrs;

	nm_hierarchy_total(h, level, ret_counts);
	*ret_extras = (struct nm_extras){0};
	assert_int_equal(nm_hierarchy_extra_counts(h, level, &extras, &attrs), 0);
	for (size_t c = 0; extras && c < attrs; c++)
		nm_extras_add(ret_extras, &extras[c]);
	free(extras);
}

/* Levels [first, ...) of a hierarchy have the counts of another. */
static void check_beside(const struct nm_hierarchy *both, unsigned first, const char *spec,
			 const struct nm_ref *refs)
{
	struct nm_machine machine;
	struct nm_hierarchy *alone;
	struct nm_error err;

	assert_int_equal(nm_machine_parse(spec, &machine, &err), 0);
	assert_int_equal(nm_hierarchy_new(&alone, &machine, &err), 0);
	feed(alone, refs, REFS, 77);
	for (unsigned i = 0; i < machine.count; i++) {
		struct nm_counts counts[2];
		struct nm_extras extras[2];

		total_of(both, first + i, &counts[0], &extras[0]);
		total_of(alone, i, &counts[1], &extras[1]);
		assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
		assert_memory_equal(&extras[0], &extras[1], sizeof extras[0]);
	}
	nm_hierarchy_free(alone);
}

/* A machine that prefetches and one that does not, in one run. */
static void test_beside(void **state)
{
	static struct nm_ref refs[REFS];
	struct nm_machine machine;
	struct nm_hierarchy *both;
	struct nm_error err;
	(void)state;
	make_refs(refs);
	assert_int_equal(nm_machine_parse("L1d=2K,8,64:L2=8K,8,64:p/L1d=2K,8,64,prefetch=stride:p/L2=8K,8,64,"
					  "prefetch=stream:q/L1d=2K,8,64:q/L2=8K,8,64,prefetch=next",
					  &machine, &err),
			 0);
	assert_int_equal(nm_hierarchy_new(&both, &machine, &err), 0);
	feed(both, refs, REFS, NM_BATCH);
	check_beside(both, 0, "L1d=2K,8,64:L2=8K,8,64", refs);
	check_beside(both, 2, "L1d=2K,8,64,prefetch=stride:L2=8K,8,64,prefetch=stream", refs);
	check_beside(both, 4, "L1d=2K,8,64:L2=8K,8,64,prefetch=next", refs);
	nm_hierarchy_free(both);
}

/* A walk over 64 KB, 8 bytes at a time, up or down: who misses how often is known. */
static void check_walk(const char *spec, int down, uint64_t misses, uint64_t prefetches, uint64_t useful)
{
	enum { BYTES = 65536, STEP = 8 };
	struct nm_machine machine;
	struct nm_hierarchy *h;
	struct nm_counts counts;
	struct nm_extras extras;
	struct nm_error err;

	assert_int_equal(nm_machine_parse(spec, &machine, &err), 0);
	assert_int_equal(nm_hierarchy_new(&h, &machine, &err), 0);
	for (uint64_t at = 0; at < BYTES; at += STEP) {
		const struct nm_ref r = {.address = 0x100000 + (down ? BYTES - STEP - at : at),
					 .size = STEP,
					 .kind = NM_REF_READ,
					 .weight = 1};
		assert_int_equal(nm_hierarchy_run(h, &r, 1), 0);
	}
	assert_int_equal(nm_hierarchy_finish(h), 0);
	total_of(h, machine.count - 1, &counts, &extras);
	assert_int_equal(counts.read_misses, misses);
	assert_int_equal(extras.prefetches, prefetches);
	assert_int_equal(extras.useful, useful);
	nm_hierarchy_free(h);
}

static void test_walk(void **state)
{
	(void)state;
	/* 16 pages of 64 lines: the first line of each misses; without pages the first of all, and one is
	 * named too many. */
	check_walk("L1d=4K,8,64,prefetch=next", 0, 16, 1008, 1008);
	check_walk("L1d=4K,8,64,prefetch=next,cross=yes", 0, 1, 1024, 1023);
	check_walk("L1d=4K,8,64,prefetch=next", 1, 1024, 0, 0);
	check_walk("L1d=4K,8,64:L2=64K,8,64,prefetch=next", 0, 16, 1008, 1008);
	/* The fourth access is the third step, and the second that is as the one before: within the first
	 * line. */
	check_walk("L1d=4K,8,64,prefetch=stride,cross=yes", 0, 1, 1025, 1023);
	check_walk("L1d=4K,8,64,prefetch=stride,cross=yes", 1, 1, 1025, 1023);
	/* Three misses until a stream is followed; it ends 16 lines ahead. */
	check_walk("L1d=4K,8,64,prefetch=stream,cross=yes", 0, 3, 1037, 1021);
	check_walk("L1d=4K,8,64,prefetch=stream", 1, 48, 976, 976);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_beside), cmocka_unit_test(test_walk)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
