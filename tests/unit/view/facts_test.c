/* SPDX-License-Identifier: MIT
 *
 * facts_test.c - sums by keys: of random rows against a slow twin, of a profile against plain SQL.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_priv.h"
#include "sample.h"
#include "store.h"

/* ---- random rows ---- */

enum { KEYS = 3, SUMS = 2 };

static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g"};

/* Rows with few distinct keys: two texts and a number, each of which may be missing. */
static struct nm_facts random_facts(size_t rows)
{
	struct nm_facts facts = {
	    .names = {"object", "file", "line"}, .key_count = KEYS, .sum_count = SUMS, .numbers = 1 << 2};

	assert_int_equal(nm_facts_reserve(&facts, rows), 0);
	for (size_t row = 0; row < rows; row++) {
		nm_fact *keys = facts.keys + row * KEYS;
		int64_t *sums = facts.sums + row * SUMS;

		keys[0] = rand() % 8 ? (nm_fact)letters[rand() % 7] : 0;
		keys[1] = rand() % 8 ? (nm_fact)letters[rand() % 3] : 0;
		keys[2] = (nm_fact)(rand() % 300);
		sums[0] = rand() % 1000;
		sums[1] = -(rand() % 1000);
	}
	facts.row_count = rows;
	return facts;
}

static int same_keys(const struct nm_facts *a, size_t row, const struct nm_facts *b, size_t other,
		     const unsigned *by, unsigned count)
{
	for (unsigned k = 0; k < count; k++)
		if (nm_facts_keys(a, row)[k] != nm_facts_keys(b, other)[by[k]])
			return 0;
	return 1;
}

/* Each row of sums has its own keys, and is the sum of the rows that have them. */
static void check_sums(const struct nm_facts *sums, const struct nm_facts *facts, const unsigned *by,
		       unsigned count, const struct nm_fact_condition *only)
{
	size_t used = 0;

	for (size_t row = 0; row < sums->row_count; row++) {
		int64_t expected[SUMS] = {0};

		for (size_t i = 0; i < facts->row_count; i++) {
			if ((only && nm_facts_keys(facts, i)[only->key] != only->value) ||
			    !same_keys(sums, row, facts, i, by, count))
				continue;
			used++;
			for (unsigned s = 0; s < SUMS; s++)
				expected[s] += nm_facts_sums(facts, i)[s];
		}
		assert_memory_equal(nm_facts_sums(sums, row), expected, sizeof expected);
	}
	for (size_t i = 0; only && i < facts->row_count; i++)
		used += nm_facts_keys(facts, i)[only->key] != only->value;
	assert_int_equal(used, facts->row_count);
}

static void test_sums(void **state)
{
	static const unsigned orders[][KEYS] = {{0, 1, 2}, {2, 0, 1}, {1, 1, 1}};

	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		struct nm_facts facts = random_facts((size_t)(rand() % 3000)), sums;
		const struct nm_fact_condition only = {1, (nm_fact)letters[rand() % 3]};

		for (unsigned count = 0; count <= KEYS; count++) {
			const unsigned *by = orders[round % 3];

			assert_int_equal(nm_facts_sum(&sums, &facts, by, count, NULL, 0), 0);
			check_sums(&sums, &facts, by, count, NULL);
			nm_facts_done(&sums);
			assert_int_equal(nm_facts_sum(&sums, &facts, by, count, &only, 1), 0);
			check_sums(&sums, &facts, by, count, &only);
			nm_facts_done(&sums);
		}
		nm_facts_done(&facts);
	}
}

static void test_rank(void **state)
{
	struct nm_facts facts = random_facts(1000);
	struct nm_ranked list[1000];

	(void)state;
	for (size_t row = 0; row < 1000; row++)
		list[row] = (struct nm_ranked){rand() % 9 ? rand() % 50 : NAN, row};
	nm_facts_rank(&facts, list, 1000);
	for (size_t i = 1; i < 1000; i++) {
		const struct nm_ranked *a = &list[i - 1], *b = &list[i];

		assert_true(isnan(b->value) || a->value >= b->value);
		if (!(a->value > b->value) && isnan(a->value) == isnan(b->value))
			assert_true(nm_facts_compare(&facts, a->row, b->row) <= 0);
	}
	nm_facts_done(&facts);
}

/* Sums of damaged profiles neither overflow nor do their differences. */
static void test_bounds(void **state)
{
	int64_t sum = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		sum = nm_facts_add(sum, (int64_t)1 << 54);
	assert_int_equal(sum, (int64_t)1 << 60);
	assert_int_equal(nm_facts_add(-sum, -sum), -sum);
}

/* ---- a profile ---- */

static struct nm_profile *open_sample(void)
{
	struct nm_profile *profile = NULL;
	struct nm_error err;

	if (nm_sample_write("facts.nmp", &err) || nm_profile_open(&profile, "facts.nmp", &err))
		fail_msg("%s", err.text);
	return profile;
}

/* Finds the row of an SQL result: its keys stand in front. */
static int64_t misses_of(const struct nm_facts *sums, struct nm_fact_names *names, const struct nm_rows *rows)
{
	for (size_t row = 0; row < sums->row_count; row++) {
		const nm_fact *keys = nm_facts_keys(sums, row);
		int same = 1;

		for (unsigned k = 0; k < sums->key_count; k++)
			same &= keys[k] == (nm_rows_type(rows, k) == NM_VALUE_NULL ? 0
					    : nm_rows_type(rows, k) == NM_VALUE_INTEGER
						? (nm_fact)nm_rows_integer(rows, k) + 1
						: nm_fact_find(names, nm_rows_text(rows, k)));
		if (same)
			return nm_facts_sums(sums, row)[2] + nm_facts_sums(sums, row)[3];
	}
	return -1;
}

static void test_against_sql(void **state)
{
	static const char *const by[] = {"object", "file", "line", "thread"};
	struct nm_profile *profile = open_sample();
	struct nm_fact_store store = {.clock = 0};
	const struct nm_facts *facts, *again;
	struct nm_facts sums;
	struct nm_rows *rows;
	struct nm_error err;
	unsigned keys[4];
	size_t count = 0;

	(void)state;
	assert_int_equal(nm_fact_store_get(&store, profile, NM_FACTS_COUNTS, "L2", &facts, &err), 0);
	assert_int_equal(nm_fact_store_get(&store, profile, NM_FACTS_COUNTS, "L2", &again, &err), 0);
	assert_ptr_equal(facts, again);
	for (unsigned k = 0; k < 4; k++)
		keys[k] = nm_facts_key(facts, by[k]);
	assert_int_equal(nm_facts_sum(&sums, facts, keys, 4, NULL, 0), 0);
	assert_int_equal(
	    nm_profile_query(profile,
			     "SELECT object, file, line, thread, sum(read_misses + write_misses) FROM "
			     "counts WHERE level = 'L2' GROUP BY 1, 2, 3, 4",
			     &rows, &err),
	    0);
	for (; nm_rows_next(rows, &err) > 0; count++)
		assert_int_equal(misses_of(&sums, &store.names, rows), nm_rows_integer(rows, 4));
	assert_int_equal(sums.row_count, count);
	assert_true(count > 5);
	nm_rows_free(rows);
	nm_facts_done(&sums);
	nm_fact_store_done(&store);
	nm_profile_close(profile);
}

/* What was not asked for longest goes first. */
static void test_store(void **state)
{
	struct nm_profile *profile = open_sample();
	struct nm_fact_store store = {.clock = 0};
	const struct nm_facts *facts;
	struct nm_error err;
	char level[20];

	(void)state;
	for (unsigned i = 0; i < 2 * NM_STORED_FACTS; i++) {
		assert_int_equal(nm_fact_store_get(&store, profile, NM_FACTS_EVICTIONS, "L1d", &facts, &err),
				 0);
		assert_true(facts->row_count > 0);
		snprintf(level, sizeof level, "none %u", i);
		assert_int_equal(nm_fact_store_get(&store, profile, NM_FACTS_COUNTS, level, &facts, &err), 0);
		assert_int_equal(facts->row_count, 0);
	}
	for (unsigned i = 0; i < NM_STORED_FACTS; i++)
		assert_non_null(store.at[i].profile);
	nm_fact_store_done(&store);
	nm_profile_close(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sums),        cmocka_unit_test(test_rank),  cmocka_unit_test(test_bounds),
	    cmocka_unit_test(test_against_sql), cmocka_unit_test(test_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
