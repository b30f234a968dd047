/* SPDX-License-Identifier: MIT
 *
 * cube_test.c - sums by keys: of random rows, against SQL that groups the same rows.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cube.h"
#include "profile_queries.h"

/* Random rows as SQL, with few distinct keys: two texts and a number, each of which may be missing. */
#define ROWS                                                                                                     \
	"WITH RECURSIVE r(i, x) AS (SELECT 1, %u UNION ALL SELECT i + 1, (x * 1103515245 + 12345) & 2147483647 " \
	"FROM r WHERE i < %u), s AS MATERIALIZED (SELECT nullif(char(97 + (x >> 8) %% 7), 'g') AS object, "      \
	"nullif('file ' || ((x >> 12) %% 4), 'file 3') AS file, nullif((x >> 16) %% 150, 7) AS line, "           \
	"(x >> 6) %% 1000 AS reads, -((x >> 9) %% 1000) AS writes FROM r) "

static const char *const names[] = {"object", "file", "line", NULL};

static struct nm_rows *rows_of(struct nm_profile *profile, unsigned seed, unsigned count, const char *select)
{
	struct nm_rows *rows;
	struct nm_error err;
	char *sql = NULL;

	assert_true(asprintf(&sql, ROWS "%s", seed, count, select) > 0);
	if (nm_profile_query(profile, sql, &rows, &err))
		fail_msg("%s", err.text);
	free(sql);
	return rows;
}

static struct nm_cube cube_of(struct nm_profile *profile, struct nm_cube_names *pool, unsigned seed,
			      unsigned count)
{
	struct nm_cube cube = nm_cube_of(names, 2);
	struct nm_rows *rows =
	    rows_of(profile, seed, count, "SELECT object, file, line, reads, writes FROM s");
	struct nm_error err;

	assert_int_equal(nm_cube_read(&cube, pool, rows, &err), 0);
	nm_rows_free(rows);
	return cube;
}

static void check_key(nm_key key, int is_number, const struct nm_rows *rows, unsigned column)
{
	if (nm_rows_type(rows, column) == NM_VALUE_NULL)
		assert_int_equal(key, 0);
	else if (is_number)
		assert_int_equal(nm_key_number(key), nm_rows_integer(rows, column));
	else
		assert_string_equal(nm_key_text(key), nm_rows_text(rows, column));
}

/* The rows of a cube in their order are those of a query with the same keys. */
static void check(const struct nm_cube *cube, struct nm_rows *rows)
{
	size_t *order = nm_cube_order(cube), row = 0;
	struct nm_error err;

	assert_non_null(order);
	for (; nm_rows_next(rows, &err) > 0; row++) {
		assert_true(row < cube->row_count);
		for (unsigned k = 0; k < cube->key_count; k++)
			check_key(nm_cube_keys(cube, order[row])[k], cube->numbers >> k & 1, rows, k);
		for (unsigned s = 0; s < 2; s++)
			assert_int_equal(nm_cube_sums(cube, order[row])[s],
					 nm_rows_integer(rows, cube->key_count + s));
	}
	assert_int_equal(row, cube->row_count);
	nm_rows_free(rows);
	free(order);
}

static void test_groups(void **state)
{
	static const struct {
		unsigned by[3], count;
		const char *sql;
	} groups[] = {
	    {{0}, 0, "SELECT sum(reads), sum(writes) FROM s %s HAVING count(*) > 0"},
	    {{1}, 1, "SELECT file, sum(reads), sum(writes) FROM s %s GROUP BY 1 ORDER BY 1"},
	    {{2, 0}, 2, "SELECT line, object, sum(reads), sum(writes) FROM s %s GROUP BY 1, 2 ORDER BY 1, 2"},
	    {{0, 1, 2},
	     3,
	     "SELECT object, file, line, sum(reads), sum(writes) FROM s %s GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"},
	};
	static const char *const wheres[] = {"", "WHERE file = 'file 1'",
					     "WHERE file = 'file 1' AND object = 'b'"};
	struct nm_profile *profile = sample("cube.nmp");
	struct nm_cube_names pool = {.clean = {0}};
	char sql[200];

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		const unsigned seed = (unsigned)rand(), count = 1 + (unsigned)rand() % 3000, g = round % 4;
		const unsigned part = round / 4 % 3; /* conditions */
		struct nm_cube cube = cube_of(profile, &pool, seed, count), group;
		const struct nm_cube_condition only[] = {{1, nm_key_find(&pool, "file 1")},
							 {0, nm_key_find(&pool, "b")}};

		assert_int_equal(nm_cube_group(&group, &cube, groups[g].by, groups[g].count, only, part), 0);
		assert_true(count < 1000 || group.row_count); /* some rows meet all conditions */
		snprintf(sql, sizeof sql, groups[g].sql, wheres[part]);
		check(&group, rows_of(profile, seed, count, sql));
		nm_cube_done(&group);
		nm_cube_done(&cube);
	}
	assert_int_equal(nm_key_find(&pool, "of no row"), NM_KEY_UNKNOWN);
	nm_cube_names_done(&pool);
	nm_profile_close(profile);
}

static void test_rank(void **state)
{
	struct nm_profile *profile = sample("cube.nmp");
	struct nm_cube_names pool = {.clean = {0}};
	struct nm_cube cube = cube_of(profile, &pool, 1, 3000);
	struct nm_ranked *list = calloc(cube.row_count, sizeof *list);

	(void)state;
	assert_true(cube.row_count > 300);
	for (size_t row = 0; row < cube.row_count; row++)
		list[row] = (struct nm_ranked){rand() % 9 ? rand() % 50 : NAN, row};
	nm_cube_rank(&cube, list, cube.row_count);
	for (size_t i = 1; i < cube.row_count; i++) {
		const struct nm_ranked *a = &list[i - 1], *b = &list[i];

		assert_true(isnan(b->value) || a->value >= b->value);
		if (!(a->value > b->value) && isnan(a->value) == isnan(b->value))
			assert_true(nm_cube_compare(&cube, a->row, b->row) < 0);
	}
	free(list);
	nm_cube_done(&cube);
	nm_cube_names_done(&pool);
	nm_profile_close(profile);
}

/* Sums of damaged profiles neither overflow nor do their differences. */
static void test_bounds(void **state)
{
	int64_t sum = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		sum = nm_sum_bounded(sum, (int64_t)1 << 54);
	assert_int_equal(sum, (int64_t)1 << 60);
	assert_int_equal(nm_sum_bounded(-sum, -sum), -sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_groups),
	    cmocka_unit_test(test_rank),
	    cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
