/* SPDX-License-Identifier: MIT
 *
 * library_test.c - libnearmiss as its header promises it: linked as a user does, with no other header of
 * ours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nearmiss/nearmiss.h"

static struct nearmiss_hierarchy *caches_of(const char *spec)
{
	struct nearmiss_machine *machine;
	struct nearmiss_hierarchy *caches;

	assert_int_equal(nearmiss_machine_parse(spec, &machine, NULL), 0);
	assert_int_equal(nearmiss_hierarchy_new(machine, &caches, NULL), 0);
	nearmiss_machine_free(machine);
	return caches;
}

static void test_machines(void **state)
{
	struct nearmiss_machine *m, *kept = NULL;
	struct nearmiss_error err;
	(void)state;

	assert_int_equal(nearmiss_machine_parse("L1d=32K,8,64:L2=1M,16,64,sets=253", &m, &err), 0);
	assert_int_equal(nearmiss_machine_levels(m), 2);
	assert_string_equal(nearmiss_level_name(m, 1), "L2");
	assert_int_equal(nearmiss_level_property(m, 0, NEARMISS_SETS), 64);
	assert_int_equal(nearmiss_level_property(m, 1, NEARMISS_SIZE), 253 * 16 * 64);
	assert_int_equal(nearmiss_level_property(m, 1, NEARMISS_WAYS), 16);
	assert_int_equal(nearmiss_level_property(m, 1, NEARMISS_LINE), 64);
	assert_int_equal(nearmiss_level_property(m, 1, NEARMISS_SECTOR), 64);
	assert_int_equal(nearmiss_level_property(m, 2, NEARMISS_LINE), 0);
	assert_null(nearmiss_level_name(m, 2));
	assert_string_equal(nearmiss_machine_spec(m), "L1d=32K,8,64:L2=253K,16,64");
	nearmiss_machine_free(m);
	assert_int_equal(nearmiss_machine_named("cachegrind", &m, &err), 0);
	nearmiss_machine_free(m);
	assert_int_equal(nearmiss_machine_named("host", &m, &err), 0);
	assert_true(nearmiss_machine_levels(m) > 0);
	nearmiss_machine_free(m);
	assert_int_equal(nearmiss_machine_named("no such", &kept, &err), NEARMISS_ENOENT);
	assert_int_equal(err.column, -1);
	assert_int_equal(nearmiss_machine_parse("L1d=32K,8,63", &kept, &err), NEARMISS_EINVAL);
	assert_int_equal(err.code, NEARMISS_EINVAL);
	assert_int_equal(err.column, 10);
	assert_non_null(strstr(err.text, "power of two"));
	assert_null(kept);
}

/* The second sector of a line is missed beside the first. */
static void test_sectors(void **state)
{
	struct nearmiss_hierarchy *h = caches_of("L1d=1K,2,64,sector=16:L2=4K,full,64");
	(void)state;

	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(nearmiss_feed(h, 0x1000 + i, 1, NEARMISS_READ, i >= 32), 0);
	assert_int_equal(nearmiss_finish(h), 0);
	assert_string_equal(nearmiss_figure_name(NEARMISS_SECTOR_MISSES), "sector_misses");
	assert_int_equal(nearmiss_total(h, 0, NEARMISS_LOADS), 4);
	assert_int_equal(nearmiss_count(h, 0, 0, NEARMISS_SECTOR_MISSES), 1);
	assert_int_equal(nearmiss_count(h, 0, 1, NEARMISS_SECTOR_MISSES), 2);
	assert_int_equal(nearmiss_total(h, 0, NEARMISS_LOADED_BYTES), 64);
	assert_int_equal(nearmiss_total(h, 1, NEARMISS_SECTOR_MISSES), 0);
	assert_int_equal(nearmiss_total(h, 1, NEARMISS_LOADS), 1);
	nearmiss_hierarchy_free(h);
}

/* Two tags walk over 4096 bytes each, one of them line by line; it is the prefetches of the other that are
 * used. */
static void test_prefetches(void **state)
{
	struct nearmiss_hierarchy *h = caches_of("L1d=1K,2,64,prefetch=next:L2=16K,full,64");
	(void)state;

	for (unsigned i = 0; i < 4096; i += 8)
		assert_int_equal(nearmiss_feed(h, 0x1000 + i, 8, NEARMISS_READ, 0), 0);
	for (unsigned i = 0; i < 4096; i += 2048)
		assert_int_equal(nearmiss_feed(h, 0x8000 + i, 8, NEARMISS_READ, 1), 0);
	assert_int_equal(nearmiss_finish(h), 0);
	assert_string_equal(nearmiss_figure_name(NEARMISS_POLLUTION), "pollution");
	for (unsigned level = 0; level < 2; level++) {
		assert_int_equal(nearmiss_total(h, level, NEARMISS_LOADS), 3);
		assert_int_equal(nearmiss_count(h, level, 0, NEARMISS_PREFETCHES), 63);
		assert_int_equal(nearmiss_count(h, level, 1, NEARMISS_PREFETCHES), 2);
		assert_int_equal(nearmiss_count(h, level, 1, NEARMISS_USEFUL), 0);
		assert_int_equal(nearmiss_total(h, level, NEARMISS_LATE_EVICTED), 0);
	}
	assert_int_equal(nearmiss_count(h, 0, 0, NEARMISS_USEFUL), 63);
	assert_int_equal(nearmiss_total(h, 0, NEARMISS_LOADED_BYTES), 68 * 64);
	nearmiss_hierarchy_free(h);
}

/* Two lines of 32 bytes that share a set of a direct-mapped cache of two: each pushes the other out. */
static void test_tags(void **state)
{
	struct nearmiss_hierarchy *h = caches_of("L1d=64,1,32:L2=1K,full,32");
	const struct nearmiss_eviction *list;
	size_t count;
	(void)state;

	for (int i = 0; i < 1000; i++) {
		assert_int_equal(nearmiss_feed(h, 0x1000, 4, NEARMISS_READ, 3), 0);
		assert_int_equal(nearmiss_feed(h, 0x1040, 8, NEARMISS_WRITE, 5), 0);
	}
	assert_int_equal(nearmiss_count(h, 0, 3, NEARMISS_READ_MISSES), 1000); /* in the midst of it */
	assert_int_equal(nearmiss_evictions(h, 0, &list, &count), NEARMISS_EINVAL);
	assert_int_equal(nearmiss_feed(h, 0x105c, 8, NEARMISS_READ, 5),
			 0); /* 0x1040 hits, 0x1060 is loaded */
	assert_int_equal(nearmiss_finish(h), 0);
	assert_int_equal(nearmiss_finish(h), 0);
	assert_int_equal(nearmiss_feed(h, 0x1000, 4, NEARMISS_READ, 3), NEARMISS_EINVAL);
	assert_int_equal(nearmiss_tags(h), 6);
	assert_int_equal(nearmiss_count(h, 0, 3, NEARMISS_READS), 1000);
	assert_int_equal(nearmiss_count(h, 0, 5, NEARMISS_WRITES), 1000);
	assert_int_equal(nearmiss_count(h, 0, 5, NEARMISS_WRITE_MISSES), 1000);
	assert_int_equal(nearmiss_count(h, 0, 5, NEARMISS_READ_MISSES), 1);
	assert_int_equal(nearmiss_count(h, 0, 5, NEARMISS_LOADS), 1001);
	assert_int_equal(nearmiss_count(h, 0, 3, NEARMISS_CONFLICT), 999);
	assert_int_equal(nearmiss_count(h, 0, 3, NEARMISS_USED_BYTES), 4 * 1000);
	assert_int_equal(nearmiss_count(h, 0, 4, NEARMISS_READS), 0);
	assert_int_equal(nearmiss_total(h, 0, NEARMISS_COLD), 3);
	assert_int_equal(nearmiss_total(h, 1, NEARMISS_READS), 1001);
	assert_int_equal(nearmiss_total(h, 1, NEARMISS_LOADS), 3);
	assert_int_equal(nearmiss_total(h, 2, NEARMISS_LOADS), 0);
	assert_int_equal(nearmiss_evictions(h, 0, &list, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(list[0].count, 1000);
	assert_int_equal(list[0].evictor, 5);
	assert_int_equal(list[0].victim, 3);
	assert_int_equal(list[1].count, 999);
	nearmiss_hierarchy_free(h);
}

static void test_fetches(void **state)
{
	struct nearmiss_hierarchy *h = caches_of("L1i=1K,2,32:L1d=1K,2,32:L2=4K,4,32");
	(void)state;

	for (int i = 0; i < 3000; i++)
		assert_int_equal(nearmiss_feed(h, 0x400000, 4, NEARMISS_FETCH, 0), 0);
	assert_int_equal(nearmiss_feed(h, 0x800000, 4, NEARMISS_READ, 0), 0);
	assert_int_equal(nearmiss_count(h, 0, 0, NEARMISS_READS), 3000);
	assert_int_equal(nearmiss_count(h, 1, 0, NEARMISS_READS), 1);
	assert_int_equal(nearmiss_count(h, 2, 0, NEARMISS_READS), 2);
	nearmiss_hierarchy_free(h);
	h = caches_of("L1=1K,2,32");
	assert_int_equal(nearmiss_feed(h, 0x400000, 4, NEARMISS_FETCH, 0), 0);
	assert_int_equal(nearmiss_feed(h, 0x400000, 4, NEARMISS_READ, 0), 0);
	assert_int_equal(nearmiss_total(h, 0, NEARMISS_READS), 2);
	assert_int_equal(nearmiss_total(h, 0, NEARMISS_READ_MISSES), 1);
	nearmiss_hierarchy_free(h);
}

/* Two machines side by side know nothing of each other: both are referenced by the program. */
static void test_side_by_side(void **state)
{
	struct nearmiss_hierarchy *h = caches_of("L1d=64,1,32:other/L1d=64,2,32:other/L2=1K,2,32");
	(void)state;

	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(nearmiss_feed(h, i % 2 * 64, 4, NEARMISS_WRITE, 1), 0);
	assert_int_equal(nearmiss_count(h, 0, 1, NEARMISS_WRITES), 10);
	assert_int_equal(nearmiss_count(h, 1, 1, NEARMISS_WRITES), 10);
	assert_int_equal(nearmiss_count(h, 2, 1, NEARMISS_WRITES), 2);
	assert_int_equal(nearmiss_count(h, 0, 1, NEARMISS_WRITE_MISSES), 10);
	assert_int_equal(nearmiss_count(h, 1, 1, NEARMISS_WRITE_MISSES), 2);
	nearmiss_hierarchy_free(h);
}

struct told {
	struct nearmiss_event at[16];
	unsigned count;
};

static void keep(void *self, const struct nearmiss_event *event)
{
	struct told *told = self;

	assert_true(told->count < 16);
	told->at[told->count++] = *event;
}

/* A reference to two lines of the first level in one line of the second; then one that pushes the first
 * out. */
static void test_watch(void **state)
{
	static const struct nearmiss_event want[] = {
	    {NEARMISS_MISS, 0, 1, 0x101e, 2, 7, 0x1000, 0, 0},
	    {NEARMISS_LOAD, 0, 1, 0x101e, 2, 7, 0x1000, 0, 0},
	    {NEARMISS_MISS, 1, 1, 0x101e, 2, 7, 0x1000, 0, 0},
	    {NEARMISS_LOAD, 1, 1, 0x101e, 2, 7, 0x1000, 0, 0},
	    {NEARMISS_LOAD, 0, 1, 0x1020, 2, 7, 0x1020, 1, 0},
	    {NEARMISS_HIT, 1, 1, 0x1020, 2, 7, 0x1000, 0, 0},
	    {NEARMISS_HIT, 0, 2, 0x1038, 8, 2, 0x1020, 1, 0},
	    {NEARMISS_MISS, 0, 3, 0x1040, 4, 2, 0x1040, 0, 0},
	    {NEARMISS_REPLACE, 0, 3, 0x1040, 4, 2, 0x1000, 0, 7},
	    {NEARMISS_LOAD, 0, 3, 0x1040, 4, 2, 0x1040, 0, 0},
	    {NEARMISS_MISS, 1, 3, 0x1040, 4, 2, 0x1040, 0, 0},
	    {NEARMISS_LOAD, 1, 3, 0x1040, 4, 2, 0x1040, 0, 0},
	};
	enum { WANTED = sizeof want / sizeof *want };
	struct nearmiss_hierarchy *h = caches_of("L1d=64,1,32:L2=1K,full,64");
	struct told told = {.count = 0};
	(void)state;

	assert_int_equal(nearmiss_watch(h, NULL, &told), NEARMISS_EINVAL);
	assert_int_equal(nearmiss_watch(h, keep, &told), 0);
	assert_int_equal(nearmiss_feed(h, 0x101e, 4, NEARMISS_READ, 7), 0);
	assert_int_equal(nearmiss_watch(h, keep, &told), NEARMISS_EINVAL);
	assert_int_equal(nearmiss_feed(h, 0, 0, NEARMISS_READ, 0), NEARMISS_EINVAL); /* is no reference */
	assert_int_equal(nearmiss_feed(h, 0x1038, 8, NEARMISS_WRITE, 2), 0);
	assert_int_equal(nearmiss_feed(h, 0x1040, 4, NEARMISS_READ, 2), 0);
	assert_int_equal(nearmiss_finish(h), 0);
	assert_int_equal(told.count, WANTED);
	for (unsigned i = 0; i < WANTED; i++) {
		const struct nearmiss_event *a = &told.at[i], *b = &want[i];

		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->level, b->level);
		assert_int_equal(a->reference, b->reference);
		assert_int_equal(a->address, b->address);
		assert_int_equal(a->size, b->size);
		assert_int_equal(a->tag, b->tag);
		assert_int_equal(a->line, b->line);
		assert_int_equal(a->set, b->set);
		assert_int_equal(a->victim, b->victim);
	}
	assert_int_equal(nearmiss_count(h, 0, 7, NEARMISS_LOADS), 2);
	nearmiss_hierarchy_free(h);
}

static void test_refused_references(void **state)
{
	struct nearmiss_hierarchy *h = caches_of("L1d=1K,2,32");
	(void)state;

	assert_int_equal(nearmiss_feed(h, 0, 0, NEARMISS_READ, 0), NEARMISS_EINVAL);
	assert_int_equal(nearmiss_feed(h, 0, NEARMISS_SIZE_MAX + 1, NEARMISS_READ, 0), NEARMISS_EINVAL);
	assert_int_equal(nearmiss_feed(h, UINT64_MAX - 2, 4, NEARMISS_READ, 0), NEARMISS_EINVAL);
	assert_int_equal(nearmiss_feed(h, 0, 4, NEARMISS_READ, NEARMISS_TAG_MAX + 1), NEARMISS_EINVAL);
	assert_int_equal(nearmiss_feed(h, 0, 4, (enum nearmiss_kind)3, 0), NEARMISS_EINVAL);
	assert_int_equal(nearmiss_tags(h), 0);
	assert_int_equal(nearmiss_feed(h, 0, NEARMISS_SIZE_MAX, NEARMISS_READ, 0), 0);
	assert_int_equal(nearmiss_total(h, 0, NEARMISS_LOADS), 2048);
	assert_int_equal(nearmiss_total(h, 0, NEARMISS_READ_MISSES), 1);
	assert_string_equal(nearmiss_figure_name(NEARMISS_USED_BYTES), "used_bytes");
	assert_string_equal(nearmiss_figure_name(NEARMISS_WRITEBACKS), "writebacks");
	assert_null(nearmiss_figure_name(NEARMISS_FIGURES));
	nearmiss_hierarchy_free(h);
	nearmiss_hierarchy_free(NULL);
}

static void test_profile(void **state)
{
	struct nearmiss_profile *profile;
	struct nearmiss_rows *rows;
	struct nearmiss_error err;
	(void)state;

	assert_int_equal(nearmiss_profile_open(NM_TEST_DATA "/no-such.nmp", &profile, &err), NEARMISS_ENOENT);
	assert_int_equal(nearmiss_profile_open(NM_TEST_DATA "/wire-v1.bin", &profile, &err),
			 NEARMISS_EFORMAT);
	assert_int_equal(nearmiss_profile_open(NM_TEST_DATA "/profile-v1.nmp", &profile, &err), 0);
	assert_int_equal(nearmiss_profile_has(profile, "counts", &err), 1);
	assert_int_equal(nearmiss_profile_has(profile, "no_such", &err), 0);
	assert_int_equal(nearmiss_query(profile, "SELECT object FRM counts", &rows, &err), NEARMISS_EINVAL);
	assert_int_equal(nearmiss_query(profile, "DELETE FROM counts", &rows, &err), NEARMISS_EINVAL);
	assert_int_equal(nearmiss_query(profile,
					"SELECT ?1, ?2 + 1, 0.5, NULL, count(*) > 0 AS some FROM counts",
					&rows, &err),
			 0);
	nearmiss_bind_text(rows, 1, "a text");
	nearmiss_bind_integer(rows, 2, 41);
	assert_int_equal(nearmiss_columns(rows), 5);
	assert_string_equal(nearmiss_column_name(rows, 4), "some");
	assert_int_equal(nearmiss_next(rows, &err), 1);
	assert_string_equal(nearmiss_text(rows, 0), "a text");
	assert_int_equal(nearmiss_value_type(rows, 0), NEARMISS_TEXT);
	assert_int_equal(nearmiss_integer(rows, 1), 42);
	assert_true(nearmiss_real(rows, 2) == 0.5);
	assert_int_equal(nearmiss_value_type(rows, 2), NEARMISS_REAL);
	assert_int_equal(nearmiss_value_type(rows, 3), NEARMISS_NULL);
	assert_null(nearmiss_text(rows, 3));
	assert_int_equal(nearmiss_integer(rows, 4), 1);
	assert_int_equal(nearmiss_next(rows, &err), 0);
	nearmiss_rows_free(rows);
	nearmiss_profile_close(profile);
	nearmiss_profile_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_machines),
	    cmocka_unit_test(test_sectors),
	    cmocka_unit_test(test_prefetches),
	    cmocka_unit_test(test_tags),
	    cmocka_unit_test(test_fetches),
	    cmocka_unit_test(test_profile),
	    cmocka_unit_test(test_refused_references),
	    cmocka_unit_test(test_side_by_side),
	    cmocka_unit_test(test_watch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
