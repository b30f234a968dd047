/* SPDX-License-Identifier: MIT
 *
 * facts_test.c - counts that the view keeps: the same as plain SQL sums up, and not more of them than fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "inlined.h"
#include "sample.h"
#include "store.h"

static struct nm_profile *open_sample(void)
{
	struct nm_profile *profile = NULL;
	struct nm_error err;

	if (nm_sample_write("facts.nmp", &err) || nm_profile_open(&profile, "facts.nmp", &err))
		fail_msg("%s", err.text);
	return profile;
}

/* Finds the row of an SQL result: its keys stand in front. */
static int64_t misses_of(const struct nm_cube *sums, struct nm_cube_names *names, const struct nm_rows *rows)
{
	for (size_t row = 0; row < sums->row_count; row++) {
		const nm_key *keys = nm_cube_keys(sums, row);
		int same = 1;

		for (unsigned k = 0; k < sums->key_count; k++)
			same &= keys[k] == (nm_rows_type(rows, k) == NM_VALUE_NULL ? 0
					    : nm_rows_type(rows, k) == NM_VALUE_INTEGER
						? (nm_key)nm_rows_integer(rows, k) + 1
						: nm_key_find(names, nm_rows_text(rows, k)));
		if (same)
			return nm_cube_sums(sums, row)[2] + nm_cube_sums(sums, row)[3];
	}
	return -1;
}

static void test_against_sql(void **state)
{
	static const char *const by[] = {"object", "file", "line", "thread"};
	struct nm_profile *profile = open_sample();
	struct nm_fact_store store = {.clock = 0};
	const struct nm_cube *facts, *again;
	struct nm_cube sums;
	struct nm_rows *rows;
	struct nm_error err;
	unsigned keys[4];
	size_t count = 0;

	(void)state;
	assert_int_equal(nm_fact_store_get(&store, profile, NM_FACTS_COUNTS, "L2", NULL, &facts, &err), 0);
	assert_int_equal(nm_fact_store_get(&store, profile, NM_FACTS_COUNTS, "L2", NULL, &again, &err), 0);
	assert_ptr_equal(facts, again);
	for (unsigned k = 0; k < 4; k++)
		keys[k] = nm_cube_key(facts, by[k]);
	assert_int_equal(nm_cube_group(&sums, facts, keys, 4, NULL, 0), 0);
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
	nm_cube_done(&sums);
	nm_fact_store_done(&store);
	nm_profile_close(profile);
}

/* An input has its misses and loads, and its cube is kept apart from others'. */
static void test_inputs(void **state)
{
	struct nm_profile *profile = NULL;
	struct nm_fact_store store = {.clock = 0};
	const struct nm_cube *facts[2], *again;
	struct nm_rows *rows;
	struct nm_error err;
	unsigned checked = 0;

	(void)state;
	assert_int_equal(nm_profile_open(&profile, NM_TEST_DATA "/profile-merged.nmp", &err), 0);
	assert_int_equal(
	    nm_profile_query(profile,
			     "SELECT input, sum(misses), sum(loads) FROM input_counts WHERE level = 'L2' "
			     "GROUP BY input ORDER BY input",
			     &rows, &err),
	    0);
	for (; nm_rows_next(rows, &err) > 0; checked++) {
		struct nm_metric_sums sums;
		char input[20];

		snprintf(input, sizeof input, "%s", nm_rows_text(rows, 0));
		assert_int_equal(nm_fact_store_get(&store, profile, NM_FACTS_INPUT, "L2", input,
						   &facts[checked % 2], &err),
				 0);
		sums = nm_cube_all_counts(facts[checked % 2]);
		assert_int_equal(sums.read_misses, nm_rows_integer(rows, 1));
		assert_int_equal(sums.loads, nm_rows_integer(rows, 2));
		assert_int_equal(sums.write_misses + sums.reads + sums.evictions, 0);
		assert_int_equal(
		    nm_fact_store_get(&store, profile, NM_FACTS_INPUT, "L2", input, &again, &err), 0);
		assert_ptr_equal(again, facts[checked % 2]);
		assert_true(!checked || facts[0] != facts[1]);
	}
	assert_int_equal(checked, 4);
	nm_rows_free(rows);
	nm_fact_store_done(&store);
	nm_profile_close(profile);
}

/* The twin of what is read by the numbers of places: all rows of the view, with its names. */
static struct nm_cube read_view(const struct nm_cube *like, struct nm_cube_names *names,
				struct nm_profile *profile, const char *level)
{
	struct nm_cube cube = {.key_count = like->key_count, .sum_count = 1, .numbers = like->numbers};
	struct nm_rows *rows = NULL;
	struct nm_error err;
	char sql[500];
	size_t n = 0;

	for (unsigned k = 0; k < like->key_count; k++)
		n += (size_t)snprintf(sql + n, sizeof sql - n, "%s %s", k ? "," : "SELECT", like->names[k]);
	snprintf(sql + n, sizeof sql - n, ", count FROM evictions WHERE level = ?1");
	assert_int_equal(nm_profile_query(profile, sql, &rows, &err), 0);
	nm_rows_bind_text(rows, 1, level);
	assert_int_equal(nm_cube_read(&cube, names, rows, &err), 0);
	nm_rows_free(rows);
	return cube;
}

static void check_evictions(struct nm_profile *profile, unsigned key_count)
{
	struct nm_fact_store store = {.clock = 0};
	struct nm_error err;
	size_t count = 0;

	for (unsigned level = 1; level <= 2; level++) {
		const char *name = level == 1 ? "L1d" : "L2";
		const struct nm_cube *facts;
		struct nm_cube all;

		assert_int_equal(
		    nm_fact_store_get(&store, profile, NM_FACTS_EVICTIONS, name, NULL, &facts, &err), 0);
		assert_int_equal(facts->key_count, key_count);
		all = read_view(facts, &store.names, profile, name);
		assert_int_equal(facts->row_count, all.row_count);
		assert_memory_equal(facts->keys, all.keys, all.row_count * key_count * sizeof *all.keys);
		assert_memory_equal(facts->sums, all.sums, all.row_count * sizeof *all.sums);
		count += all.row_count;
		nm_cube_done(&all);
	}
	assert_true(count >= 4);
	nm_fact_store_done(&store);
}

static void test_evictions_against_view(void **state)
{
	struct nm_profile *profile = open_sample();
	struct nm_error err;

	(void)state;
	check_evictions(profile, 9);
	assert_int_equal(nm_profile_show_frame(profile, NM_SHOW_USER, &err), 0);
	check_evictions(profile, 15);
	nm_profile_close(profile);
}

/* What was not asked for longest goes first. */
static void test_store(void **state)
{
	struct nm_profile *profile = open_sample();
	struct nm_fact_store store = {.clock = 0};
	const struct nm_cube *facts;
	struct nm_error err;
	char level[20];

	(void)state;
	for (unsigned i = 0; i < 2 * NM_STORED_FACTS; i++) {
		assert_int_equal(
		    nm_fact_store_get(&store, profile, NM_FACTS_EVICTIONS, "L1d", NULL, &facts, &err), 0);
		assert_true(facts->row_count > 0);
		snprintf(level, sizeof level, "none %u", i);
		assert_int_equal(
		    nm_fact_store_get(&store, profile, NM_FACTS_COUNTS, level, NULL, &facts, &err), 0);
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
	    cmocka_unit_test(test_against_sql),
	    cmocka_unit_test(test_inputs),
	    cmocka_unit_test(test_evictions_against_view),
	    cmocka_unit_test(test_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
