/* SPDX-License-Identifier: MIT
 *
 * view_table_test.c - tables of every metric, by several keys, against plain SQL.
 *
 * The twin groups the view `counts` in SQLite and computes metrics by their SQL in the catalogue; the table
 * sums rows in memory and computes them in C.
 */
#include <math.h>
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
#include "metrics.h"
#include "sample.h"
#include "view.h"

static const char path[] = "table.nmp";

static const char *const groupings[] = {"object", "function", "file,line", "thread,process",
					"object,file,line,function"};

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

/* ---- both sides ---- */

struct question {
	const char *by, *sort, *filter;
	int ascending;
};

static json_t *table_of(struct nm_view *view, const struct question *q)
{
	struct nm_request request = {.method = "GET", .path = "/api/p/0/table", .body = ""};
	struct nm_error err;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	json_t *table;

	nm_request_add(&request, "by", q->by, &err);
	nm_request_add(&request, "level", "L1d", &err);
	nm_request_add(&request, "sort", q->sort, &err);
	nm_request_add(&request, "order", q->ascending ? "asc" : "desc", &err);
	nm_request_add(&request, "filter", q->filter, &err);
	nm_request_add(&request, "limit", "1000", &err);
	if (nm_view_answer(view, &request, out, &err))
		fail_msg("by %s, sorted by %s: %s", q->by, q->sort, err.text);
	assert_int_equal(nm_memstream_close(out, &text), 0);
	table = json_loads(text, 0, NULL);
	free(text);
	return table;
}

/* Writes "A, B" for the keys "a,b", each as the format says. */
static unsigned write_keys(const char *by, const char *format, const char *between, FILE *sql)
{
	unsigned count = 0;
	char name[20];

	for (;; by++) {
		const size_t n = strcspn(by, ",");

		snprintf(name, sizeof name, "%.*s", (int)n, by);
		fputs(count++ ? between : "", sql);
		fprintf(sql, format, name);
		by += n;
		if (!*by)
			return count;
	}
}

/* The formulas of metrics once more, over c, t and p. Others are columns of c. */
static void write_formula(const char *metric, FILE *sql)
{
	static const char *const formulas[][2] = {
	    {"references", "c.reads + c.writes"},
	    {"share", "100.0 * c.misses / nullif(t.misses, 0)"},
	    {"mpki", "1000.0 * c.misses / nullif(p.instructions, 0)"},
	    {"miss_ratio", "100.0 * c.misses / nullif(c.reads + c.writes, 0)"},
	    {"reuse", "1.0 * c.reuse / nullif(c.lines, 0)"},
	    {"waste", "100.0 - 100.0 * c.used_bytes / nullif(c.loaded_bytes, 0)"},
	    {"wasted_bytes", "c.loaded_bytes - c.used_bytes"},
	};

	for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
		if (!strcmp(formulas[i][0], metric)) {
			fputs(formulas[i][1], sql);
			return;
		}
	fprintf(sql, "c.%s", metric);
}

static struct nm_rows *twin_of(struct nm_profile *profile, const struct question *q,
			       const struct nm_metric *metric, unsigned *ret_keys)
{
	struct nm_rows *rows = NULL;
	struct nm_error err;
	char *text = NULL;
	size_t bytes;
	FILE *sql = open_memstream(&text, &bytes);

	fputs("WITH c AS (SELECT ", sql);
	*ret_keys = write_keys(q->by, "%s", ", ", sql);
#define NM_COUNT(name) fputs(", sum(" #name ") AS " #name, sql);
#include "counts.def"
#undef NM_COUNT
	fputs(
	    ", sum(loads) AS lines, sum(read_misses + write_misses) AS misses FROM counts WHERE level = 'L1d' GROUP BY ",
	    sql);
	write_keys(q->by, "%s", ", ", sql);
	fputs("), t AS (SELECT sum(misses) AS misses FROM c), p AS (SELECT sum(instructions) AS instructions "
	      "FROM processes) SELECT ",
	      sql);
	write_keys(q->by, "c.%s", ", ", sql);
	fputs(", ", sql);
	write_formula(metric->name, sql);
	fputs(" FROM c, t, p WHERE ?1 = '' OR ", sql);
	write_keys(q->by, "instr(lower(c.%s), lower(?1))", " OR ", sql);
	fputs(" ORDER BY ", sql);
	write_formula(metric->name, sql);
	fprintf(sql, " %s NULLS LAST, ", q->ascending ? "ASC" : "DESC");
	write_keys(q->by, "c.%s", ", ", sql);
	assert_int_equal(nm_memstream_close(sql, &text), 0);
	if (nm_profile_query(profile, text, &rows, &err))
		fail_msg("%s\n%s", text, err.text);
	nm_rows_bind_text(rows, 1, q->filter);
	free(text);
	return rows;
}

/* ---- comparison ---- */

static unsigned column_of(const json_t *table, const char *key)
{
	json_t *column;
	size_t i;

	json_array_foreach(json_object_get(table, "columns"), i, column)
	{
		if (!strcmp(json_string_value(json_object_get(column, "key")), key))
			return (unsigned)i;
	}
	fail_msg("no column %s", key);
	return 0;
}

static int is_same(const json_t *value, const struct nm_rows *rows, unsigned column)
{
	const double expected = nm_rows_real(rows, column);

	switch (nm_rows_type(rows, column)) {
	case NM_VALUE_NULL: return json_is_null(value);
	case NM_VALUE_TEXT:
		return json_is_string(value) && !strcmp(json_string_value(value), nm_rows_text(rows, column));
	default:
		return json_is_number(value) &&
		       fabs(json_number_value(value) - expected) <= 1e-7 * fmax(1, fabs(expected));
	}
}

static size_t compare(struct sample *sample, const struct question *q, const struct nm_metric *metric)
{
	json_t *table = table_of(sample->view, q), *list = json_object_get(table, "rows");
	const unsigned value = column_of(table, metric->name);
	unsigned keys;
	struct nm_rows *rows = twin_of(sample->profile, q, metric, &keys);
	size_t row = 0;

	for (; nm_rows_next(rows, NULL) > 0; row++) {
		const json_t *shown = json_array_get(list, row);

		for (unsigned k = 0; k < keys; k++)
			if (!is_same(json_array_get(shown, k), rows, k))
				fail_msg("by %s, sorted by %s, filter %s: row %zu has another key", q->by,
					 q->sort, q->filter, row);
		if (!is_same(json_array_get(shown, value), rows, keys))
			fail_msg("by %s: row %zu has %g %s and not %g", q->by, row,
				 json_number_value(json_array_get(shown, value)), metric->name,
				 nm_rows_real(rows, keys));
	}
	assert_int_equal(json_array_size(list), row);
	assert_int_equal(json_integer_value(json_object_get(table, "total_rows")), row);
	nm_rows_free(rows);
	json_decref(table);
	return row;
}

static void test_metrics(void **state)
{
	const struct nm_metric *metric;

	for (unsigned i = 0; (metric = nm_metric_at(i)); i++) {
		if (!(metric->flags & NM_METRIC_ANNOTATED) || metric->unit == NM_METRIC_TEXT)
			continue;
		for (size_t g = 0; g < sizeof groupings / sizeof *groupings; g++)
			for (int ascending = 0; ascending < 2; ascending++) {
				const struct question q = {groupings[g], metric->name, "", ascending};

				assert_true(compare(*state, &q, metric) > 1);
			}
	}
}

static void test_filters(void **state)
{
	static const char *const filters[] = {"M", "solver", "41", "c:", "no name has this", "%", "'"};
	const struct nm_metric *metric = nm_metric_named("misses");
	size_t kept = 0;

	for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
		for (size_t g = 0; g < sizeof groupings / sizeof *groupings; g++) {
			const struct question q = {groupings[g], "misses", filters[i], 0};

			kept += compare(*state, &q, metric);
		}
	assert_true(kept > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_metrics), cmocka_unit_test(test_filters)};

	return cmocka_run_group_tests(tests, open_sample, close_sample);
}
