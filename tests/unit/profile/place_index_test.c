/* SPDX-License-Identifier: MIT
 *
 * place_index_test.c - places of attribution keys: two are the same if site and object have the same texts, whatever
 * their numbers; evictions are summed by pairs of places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profile_priv.h"

/* Sites 0 and 3 have the same texts; 1 is of another file, 2 of another line. */
static struct nm_result_site sites[] = {{.function = "f", .file = "a.c", .line = 1},
					{.function = "f", .file = "b.c", .line = 1},
					{.function = "f", .file = "a.c", .line = 2},
					{.function = "f", .file = "a.c", .line = 1}};
static struct nm_result_object objects[] = {{.name = "x"}};
static struct nm_result_attribution attrs[] = {{1, 1, 0, 0}, {1, 0, 0, 0}, {2, 3, 0, 0}, {1, 2, 0, 0}};
static const struct nm_result result = {
    .sites = sites, .site_count = 4, .objects = objects, .object_count = 1, .attrs = attrs, .attr_count = 4};

/* Places in the order of their texts: a.c:1, a.c:2, b.c:1. */
static void test_places(void **state)
{
	static const uint32_t places[] = {2, 0, 0, 1}, order[] = {1, 3, 0, 2};
	struct nm_place_index index;

	(void)state;
	assert_int_equal(nm_place_index_make(&index, &result), 0);
	assert_int_equal(index.place_count, 3);
	assert_memory_equal(index.place_of, places, sizeof places);
	assert_memory_equal(index.order, order, sizeof order);
	nm_place_index_done(&index);
}

static void test_evictions(void **state)
{
	struct nm_eviction evictions[] = {{1, 0, 5, 0}, {2, 0, 7, 1}, {3, 0, 11, 0}, {0, 3, 13, 0}};
	const struct nm_result_level level = {.evictions = evictions, .eviction_count = 4};
	static const struct nm_place_eviction want[] = {{1, 2, 13, 0}, {2, 0, 12, 7}, {2, 1, 11, 0}};
	struct nm_place_eviction *list;
	struct nm_place_index index;
	size_t count;

	(void)state;
	assert_int_equal(nm_place_index_make(&index, &result), 0);
	assert_int_equal(nm_place_evictions(&level, &index, &list, &count), 0);
	assert_int_equal(count, 3);
	assert_memory_equal(list, want, sizeof want);
	free(list);
	nm_place_index_done(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_evictions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
