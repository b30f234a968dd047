/* SPDX-License-Identifier: MIT
 *
 * view_names_test.c - names that a search finds, and evictions of the user's code, against plain SQL.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "inlined.h"
#include "memstream.h"
#include "sample.h"
#include "view.h"

static const char path[] = "names.nmp";

struct sample {
	struct nm_view *view;
	struct nm_profile *profile;
};

static int open_sample(void **state)
{
	static struct sample sample;
	struct nm_error err;

	*state = &sample;
	return nm_sample_write(path, &err) ||
	       nm_view_open(&sample.view, (const char *const[]){path}, 1, &err) ||
	       nm_profile_open(&sample.profile, path, &err) ||
	       nm_profile_show_frame(sample.profile, NM_SHOW_USER, &err);
}

static int close_sample(void **state)
{
	struct sample *sample = *state;

	nm_view_close(sample->view);
	nm_profile_close(sample->profile);
	return 0;
}

/* The answer at L1d with one more parameter. */
static json_t *ask(struct nm_view *view, const char *question, const char *name, const char *value)
{
	struct nm_request request = {.method = "GET", .path = question, .body = ""};
	struct nm_error err;
	char *text = NULL;
	FILE *out = nm_memstream_open(&text, NULL);
	json_t *answer;

	nm_request_add(&request, "level", "L1d", &err);
	nm_request_add(&request, name, value, &err);
	if (nm_view_answer(view, &request, out, &err))
		fail_msg("%s: %s", question, err.text);
	assert_int_equal(nm_memstream_close(out, &text), 0);
	answer = json_loads(text, 0, NULL);
	free(text);
	return answer;
}

static struct nm_rows *query(struct nm_profile *profile, const char *sql, const char *text)
{
	struct nm_rows *rows = NULL;
	struct nm_error err;

	if (nm_profile_query(profile, sql, &rows, &err))
		fail_msg("%s\n%s", sql, err.text);
	if (text)
		nm_rows_bind_text(rows, 1, text);
	return rows;
}

static void test_names(void **state)
{
	static const char sql[] =
	    "WITH n AS (SELECT 'object' AS kind, object AS name, NULL AS type, read_misses + write_misses AS misses FROM counts "
	    "WHERE level = 'L1d' UNION ALL SELECT 'function', function, NULL, read_misses + write_misses FROM counts WHERE "
	    "level = 'L1d' UNION ALL SELECT 'file', file, NULL, read_misses + write_misses FROM counts WHERE level = 'L1d' "
	    "UNION ALL SELECT 'type', type, NULL, read_misses + write_misses FROM field_counts WHERE level = 'L1d' AND field IS "
	    "NOT NULL UNION ALL SELECT 'field', field, type, read_misses + write_misses FROM field_counts WHERE level = 'L1d' "
	    "AND field IS NOT NULL) SELECT kind, name, sum(misses) AS misses, type FROM n WHERE instr(lower(name), lower(?1)) "
	    "GROUP BY kind, name, type";
	static const char *const filters[] = {"s", "M", "%", "no name has this"};
	const struct sample *sample = *state;
	size_t found = 0;

	for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
		json_t *names = ask(sample->view, "/api/p/0/names", "filter", filters[f]), *name;
		struct nm_rows *rows = query(sample->profile, sql, filters[f]);
		size_t i, same = 0;

		while (nm_rows_next(rows, NULL) > 0) {
			json_t *wanted = json_pack(
			    "{ss ss sI ss?}", "kind", nm_rows_text(rows, 0), "name", nm_rows_text(rows, 1),
			    "misses", (json_int_t)nm_rows_integer(rows, 2), "of", nm_rows_text(rows, 3));

			json_array_foreach(names, i, name) same += (size_t)json_equal(name, wanted);
			json_decref(wanted);
			found++;
		}
		assert_int_equal(json_array_size(names), same);
		nm_rows_free(rows);
		json_decref(names);
	}
	assert_true(found > 5);
}

static int64_t total_of(struct nm_view *view, const char *mine)
{
	json_t *matrix = ask(view, "/api/p/0/evictions", "mine", mine);
	json_t *lines = ask(view, "/api/p/0/evictions/lines", "mine", mine), *line;
	const int64_t total = json_integer_value(json_object_get(matrix, "total"));
	int64_t sum = json_integer_value(json_object_get(lines, "rest"));
	size_t i;

	json_array_foreach(json_object_get(lines, "rows"), i, line)
	{
		sum += json_integer_value(json_object_get(line, "count"));
		assert_null(json_object_get(line, "library"));
	}
	assert_int_equal(sum, total);
	json_decref(matrix);
	json_decref(lines);
	return total;
}

static void test_evictions_of_mine(void **state)
{
	const struct sample *sample = *state;
	struct nm_rows *rows =
	    query(sample->profile,
		  "SELECT sum(count), coalesce(sum(CASE WHEN library IS NULL THEN count END), 0) FROM "
		  "evictions WHERE level = 'L1d'",
		  NULL);

	assert_int_equal(nm_rows_next(rows, NULL), 1);
	assert_true(nm_rows_integer(rows, 0) > 0);
	assert_int_equal(total_of(sample->view, "0"), nm_rows_integer(rows, 0));
	assert_int_equal(total_of(sample->view, "1"), nm_rows_integer(rows, 1));
	nm_rows_free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
					   cmocka_unit_test(test_evictions_of_mine)};

	return cmocka_run_group_tests(tests, open_sample, close_sample);
}
