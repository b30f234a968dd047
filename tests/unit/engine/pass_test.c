/* SPDX-License-Identifier: MIT
 *
 * pass_test.c - the helpers of passes: single references of coalesced accesses, and sums by another number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pass.h"

static void test_expand(void **state)
{
	const struct nm_coalesced_member members[] = {
	    {.attr = 3, .distance = 0, .size = 8, .kind = NM_REF_READ},
	    {.attr = 5, .distance = 8, .size = 4, .kind = NM_REF_WRITE}};
	struct nm_coalesced_table *table = nm_coalesced_table_new();
	struct nm_ref refs[NM_COALESCED_MAX], one = {.address = 64, .attr = 7, .size = 2, .weight = 1};
	struct nm_ref both = {.address = 128, .size = 12, .kind = 1, .weight = 2};
	struct nm_ref fetch = {.address = 1, .attr = 9, .size = 4, .kind = NM_REF_FETCH, .weight = 3};

	(void)state;
	both.attr = nm_coalesced_add(table, members, 2);
	assert_int_equal(nm_pass_expand(table, &one, refs), 1);
	assert_memory_equal(refs, &one, sizeof one);
	assert_int_equal(nm_pass_expand(table, &fetch, refs), 1);
	assert_memory_equal(refs, &fetch, sizeof fetch);
	assert_int_equal(nm_pass_expand(table, &both, refs), 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(refs[i].address, 128 + members[i].distance);
		assert_int_equal(refs[i].attr, members[i].attr);
		assert_int_equal(refs[i].size, members[i].size);
		assert_int_equal(refs[i].kind, members[i].kind);
		assert_int_equal(refs[i].weight, 1);
	}
	nm_coalesced_table_free(table);
}

static void test_sum(void **state)
{
	const uint32_t to[] = {0, 1, 0, 1};
	const uint64_t sums[] = {99, 99, 1, 10, 2, 20, 4, 40};
	uint64_t *merged = nm_pass_sum(to, 2, sums, 4, 2);

	(void)state;
	assert_non_null(merged);
	assert_int_equal(merged[0], 2);
	assert_int_equal(merged[1], 20);
	assert_int_equal(merged[2], 5);
	assert_int_equal(merged[3], 50);
	assert_int_equal(merged[4] + merged[5], 0);
	free(merged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_expand),
	    cmocka_unit_test(test_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
