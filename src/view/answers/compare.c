/* SPDX-License-Identifier: MIT
 *
 * compare.c - two profiles side by side: a metric by the same keys, what changed most first.
 */
#include <stdlib.h>
#include <string.h>

#include "grouping.h"
#include "memstream.h"

/* Rows that are read of each profile: those with most of the metric. */
enum { READ = 20000 };

struct comparison {
	struct nm_grouping by;
	const struct nm_metric *metric;
	json_t *rows;      /* each: the keys, a, b */
	json_t *number_of; /* keys as text -> index in rows */
	double sums[2];
};

static int write_statement(const struct comparison *c, char **ret_sql)
{
	size_t bytes;
	FILE *sql = open_memstream(ret_sql, &bytes);

	if (!sql)
		return NM_ENOMEM;
	nm_grouping_write(&c->by, sql);
	fprintf(sql, " SELECT %s AS value", c->metric->sql);
	for (unsigned i = 0; i < c->by.count; i++)
		fprintf(sql, ", c.%s", c->by.keys[i]);
	fputs(" FROM c CROSS JOIN t CROSS JOIN p ORDER BY 1 DESC NULLS LAST", sql);
	for (unsigned i = 0; i < c->by.count; i++)
		fprintf(sql, ", c.%s", c->by.keys[i]);
	fprintf(sql, " LIMIT %d", READ);
	return nm_memstream_close(sql, ret_sql);
}

/* The row with these keys, which is added if it is new. */
static json_t *row_of(struct comparison *c, const struct nm_rows *rows)
{
	json_t *keys = json_array(), *number, *row;
	char *name;

	for (unsigned i = 0; i < c->by.count; i++)
		json_array_append_new(keys, nm_view_value(rows, i + 1));
	name = json_dumps(keys, JSON_COMPACT);
	if (!name) {
		json_decref(keys);
		return NULL;
	}
	number = json_object_get(c->number_of, name);
	row = number ? json_array_get(c->rows, (size_t)json_integer_value(number)) : NULL;
	if (!row) {
		json_object_set_new(c->number_of, name, json_integer((json_int_t)json_array_size(c->rows)));
		row = json_incref(keys);
		json_array_append_new(row, json_null());
		json_array_append_new(row, json_null());
		json_array_append_new(c->rows, row);
	}
	free(name);
	json_decref(keys);
	return row;
}

static int read_side(struct comparison *c, struct nm_profile *profile, unsigned side, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	char *sql = NULL;
	int status =
	    write_statement(c, &sql) ? nm_fail_memory(err) : nm_profile_query(profile, sql, &rows, err);

	free(sql);
	if (!status)
		nm_rows_bind_text(rows, 1, c->by.level);
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		json_t *row = row_of(c, rows);

		status = row ? 0 : nm_fail_memory(err);
		json_array_set_new(row, c->by.count + side, nm_view_value(rows, 0));
		c->sums[side] += nm_rows_real(rows, 0);
	}
	nm_rows_free(rows);
	return status;
}

/* ---- what changed most first ---- */

struct changed {
	double by;
	size_t row;
};

static int by_change(const void *a, const void *b)
{
	const struct changed *x = a, *y = b;

	if (x->by < y->by || x->by > y->by)
		return x->by < y->by ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static json_t *first_rows(const struct comparison *c)
{
	const size_t count = json_array_size(c->rows);
	struct changed *order = malloc((count + 1) * sizeof *order);
	json_t *first = order ? json_array() : NULL, *row;
	size_t i;

	if (!order)
		return NULL;
	json_array_foreach(c->rows, i, row)
	{
		const double a = json_number_value(json_array_get(row, c->by.count));
		const double b = json_number_value(json_array_get(row, c->by.count + 1));

		order[i] = (struct changed){.by = b > a ? b - a : a - b, .row = i};
		json_array_append_new(row, nm_view_real(b - a));
	}
	qsort(order, count, sizeof *order, by_change);
	for (i = 0; i < count && i < NM_VIEW_ROWS; i++)
		json_array_append(first, json_array_get(c->rows, order[i].row));
	free(order);
	return first;
}

static json_t *columns_of(const struct comparison *c)
{
	static const char *const values[][2] = {
	    {"a", "before"}, {"b", "after"}, {"difference", "difference"}};
	json_t *columns = json_array();

	for (unsigned i = 0; i < c->by.count; i++)
		json_array_append_new(columns, nm_grouping_column(c->by.keys[i]));
	for (unsigned i = 0; i < 3; i++) {
		json_t *column = nm_view_metric(c->metric);

		json_object_set_new(column, "key", json_string(values[i][0]));
		json_object_set_new(column, "heading", json_string(values[i][1]));
		json_array_append_new(columns, column);
	}
	return columns;
}

static int read_profile(const struct nm_view *view, const struct nm_request *request, const char *name,
			int64_t otherwise, struct nm_profile **ret_profile, struct nm_error *err)
{
	int64_t number = 0;
	int status = nm_request_number(request, name, 0, NM_VIEW_PROFILES - 1, otherwise, &number, err);

	if (!status && number >= view->count)
		status = nm_fail(err, NM_ENOENT, "there is no profile %d", (int)number);
	if (!status)
		*ret_profile = view->profiles[number].profile;
	return status;
}

int nm_view_compare(const struct nm_view *view, const struct nm_request *request, json_t **ret_answer,
		    struct nm_error *err)
{
	struct nm_profile *sides[2] = {NULL};
	struct comparison c = {.rows = json_array(), .number_of = json_object()};
	int status = read_profile(view, request, "a", 0, &sides[0], err);

	if (!status)
		status = read_profile(view, request, "b", 1, &sides[1], err);
	if (!status)
		status = nm_grouping_make(&c.by, sides[0], request, "object", err);
	if (!status)
		status = nm_grouping_metric(request, "metric", "misses", &c.metric, err);
	for (unsigned i = 0; !status && i < 2; i++)
		status = read_side(&c, sides[i], i, err);
	if (!status)
		*ret_answer =
		    json_pack("{ss ss so so sI s[ooo]}", "metric", c.metric->name, "level", c.by.level,
			      "columns", columns_of(&c), "rows", first_rows(&c), "total_rows",
			      (json_int_t)json_array_size(c.rows), "sums", nm_view_real(c.sums[0]),
			      nm_view_real(c.sums[1]), nm_view_real(c.sums[1] - c.sums[0]));
	json_decref(c.rows);
	json_decref(c.number_of);
	nm_grouping_done(&c.by);
	return status;
}
