/* SPDX-License-Identifier: MIT
 *
 * repair_test.c - what `nearmiss sharing` says to change: each rule of repair.c, in its words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "repair.h"

static void expect(struct nm_repair_touch *touches, size_t count, int64_t misses, int64_t false_misses,
		   const char *words)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	nm_repair_print(touches, count, 64, misses, false_misses, out);
	fclose(out);
	assert_string_equal(text, words);
	free(text);
}

#define TOUCH(object_, type_, field_, structure_, thread_, offset_, writes_)                         \
	{                                                                                            \
		.offset = (offset_), .bytes = 8, .thread = (thread_), .structure = (structure_),     \
		.position = (structure_) > 0 ? (offset_) : -1, .object = (object_), .type = (type_), \
		.field = (field_), .reads = 9, .writes = (writes_)                                   \
	}

static void test_elements(void **state)
{
	struct nm_repair_touch touches[] = {TOUCH("work", "struct args", "count", 24, 2, 0, 5000),
					    TOUCH("work", "struct args", "count", 24, 3, 24, 5000),
					    TOUCH("work", "struct args", "sum", 24, 1, 8, 0)};
	(void)state;
	expect(
	    touches, 2, 1000, 990,
	    "Pad struct args (24 bytes) to 64, e.g. by alignas(64): each thread has elements of work of its own. "
	    "Coherence misses of this line then: 10 instead of 1,000");
}

/* As long as a line, and across two. */
static void test_long_elements(void **state)
{
	struct nm_repair_touch touches[] = {TOUCH("work", "struct args", "count", 64, 2, 0, 5000),
					    TOUCH("work", "struct args", "sum", 64, 3, 48, 5000)};

	(void)state;
	touches[1].position = 64;
	expect(
	    touches, 2, 1000, 990,
	    "Align work to 64 bytes, e.g. by alignas(64) on struct args, whose 64 bytes do not begin with a line: "
	    "each thread has elements of its own. Coherence misses of this line then: 10 instead of 1,000");
}

static void test_fields(void **state)
{
	struct nm_repair_touch touches[] = {TOUCH("pool", "struct pool", "head", 64, 2, 0, 5),
					    TOUCH("pool", "struct pool", "limit", 64, 3, 32, 0)};
	(void)state;
	expect(
	    touches, 2, 10, 10,
	    "Split struct pool: move head, which thread 2 writes, a line away from limit, which thread 3 uses, e.g. by "
	    "alignas(64). Coherence misses of this line then: 0 instead of 10");
}

/* A field between read-mostly and often written is in neither list; few misses of those that are read are not worth
 * it. */
static void test_mixed(void **state)
{
	struct nm_repair_touch touches[] = {TOUCH("pool", "struct pool", "limit", 64, 2, 0, 0),
					    TOUCH("pool", "struct pool", "name", 64, 3, 8, 0),
					    TOUCH("pool", "struct pool", "seldom", 64, 3, 16, 10),
					    TOUCH("pool", "struct pool", "hits", 64, 2, 24, 500),
					    TOUCH("pool", "struct pool", "hits", 64, 3, 24, 500)};
	(void)state;
	touches[0].reads = touches[1].reads = 1000;
	touches[2].reads = 500;
	touches[0].false_misses = 30;
	touches[1].false_misses = 10;
	expect(
	    touches, 5, 100, 40,
	    "Several threads write hits of struct pool: give each thread a copy and combine them at the end, or write "
	    "less often. struct pool mixes fields that are read-mostly (limit, name: 2,000 reads, 0 writes) with often "
	    "written ones (hits: 18 reads, 1,000 writes): move the latter into lines of their own, e.g. by "
	    "alignas(64); 40 misses are of the former");
	touches[0].false_misses = touches[1].false_misses = 1;
	expect(
	    touches, 5, 100, 40,
	    "Several threads write hits of struct pool: give each thread a copy and combine them at the end, or write "
	    "less often");
}

static void test_objects(void **state)
{
	struct nm_repair_touch touches[] = {TOUCH("hits", NULL, NULL, -1, 2, 0, 5),
					    TOUCH("limit", NULL, NULL, -1, 3, 8, 0)};
	(void)state;
	expect(
	    touches, 2, 10, 9,
	    "Align hits to 64 bytes, and let it end with a line: limit of thread 3 lies beside it. Coherence misses of "
	    "this line then: 1 instead of 10");
}

static void test_array(void **state)
{
	struct nm_repair_touch touches[] = {TOUCH("counters", NULL, NULL, -1, 2, 0, 5),
					    TOUCH("counters", NULL, NULL, -1, 3, 8, 5)};
	(void)state;
	expect(
	    touches, 2, 10, 10,
	    "Keep what each thread uses of counters 64 bytes apart, or give each thread a copy of its own. Coherence "
	    "misses of this line then: 0 instead of 10");
}

static void test_true_sharing(void **state)
{
	struct nm_repair_touch count[] = {TOUCH("references", NULL, NULL, -1, 2, 0, 5),
					  TOUCH("references", NULL, NULL, -1, 3, 0, 5)};
	struct nm_repair_touch flag[] = {TOUCH("s", "struct s", "ready", 16, 2, 0, 5),
					 TOUCH("s", "struct s", "ready", 16, 3, 0, 0)};
	(void)state;
	expect(
	    count, 2, 10, 0,
	    "Several threads write references: give each thread a copy and combine them at the end, or write less often");
	expect(
	    flag, 2, 10, 5,
	    "Thread 2 writes ready of struct s, which others read: write less often, or hand over more at a time; no "
	    "layout helps");
	expect(flag, 2, 0, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_elements),     cmocka_unit_test(test_long_elements),
	    cmocka_unit_test(test_fields),       cmocka_unit_test(test_mixed),
	    cmocka_unit_test(test_objects),      cmocka_unit_test(test_array),
	    cmocka_unit_test(test_true_sharing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
