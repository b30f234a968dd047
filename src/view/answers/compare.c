/* SPDX-License-Identifier: MIT
 *
 * compare.c - two profiles side by side: a metric by the same keys, the largest changes first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grouping.h"

struct comparison {
	struct nm_grouping sides[2];
	const struct nm_metric *metric;
	struct nm_facts rows; /* of both: the counts of the first, then those of the second */
	int64_t offset, limit;
};

/* The metric of a row on one side; NAN: that side has no such row. */
static double value_of(const struct comparison *c, size_t row, unsigned side)
{
	struct nm_metric_sums sums;
	int is_there = 0;
	const int64_t *all = nm_facts_sums(&c->rows, row) + side * c->rows.sum_count / 2;

	memcpy(&sums, all, sizeof sums);
	for (unsigned i = 0; i < c->rows.sum_count / 2; i++)
		is_there |= all[i] != 0;
	if (!is_there)
		return NAN;
	return c->metric->real ? c->metric->real(&sums, &c->sides[side].total)
			       : (double)nm_metric_integer(c->metric, &sums);
}

static double or_zero(double value) { return isnan(value) ? 0 : value; }

static double change_of(const struct comparison *c, size_t row)
{
	return or_zero(value_of(c, row, 1)) - or_zero(value_of(c, row, 0));
}

/* Integers remain integers. */
static json_t *json_of(const struct comparison *c, double value)
{
	return c->metric->real || isnan(value) ? nm_view_real(value) : json_integer((json_int_t)value);
}

static json_t *json_of_row(const struct comparison *c, size_t row)
{
	const nm_fact *keys = nm_facts_keys(&c->rows, row);
	json_t *json = json_array();

	for (unsigned k = 0; k < c->rows.key_count; k++)
		json_array_append_new(json, nm_view_fact(keys[k], c->rows.numbers >> k & 1));
	json_array_append_new(json, json_of(c, value_of(c, row, 0)));
	json_array_append_new(json, json_of(c, value_of(c, row, 1)));
	json_array_append_new(json, json_of(c, change_of(c, row)));
	return json;
}

/* The requested rows, the largest changes first; NULL: no memory. */
static json_t *page_of(const struct comparison *c)
{
	const size_t count = c->rows.row_count;
	struct nm_ranked *order = malloc((count + 1) * sizeof *order);
	json_t *page = order ? json_array() : NULL;

	if (!order)
		return NULL;
	for (size_t row = 0; row < count; row++)
		order[row] = (struct nm_ranked){fabs(change_of(c, row)), row};
	nm_facts_rank(&c->rows, order, count);
	for (size_t i = (size_t)c->offset; i < count && i < (size_t)(c->offset + c->limit); i++)
		json_array_append_new(page, json_of_row(c, order[i].row));
	free(order);
	return page;
}

static json_t *columns_of(const struct comparison *c)
{
	static const char *const values[][2] = {
	    {"a", "before"}, {"b", "after"}, {"difference", "difference"}};
	json_t *columns = json_array();

	for (unsigned k = 0; k < c->rows.key_count; k++)
		json_array_append_new(columns, nm_grouping_column(c->rows.names[k]));
	for (unsigned i = 0; i < 3; i++) {
		json_t *column = nm_view_metric(c->metric);

		json_object_set_new(column, "key", json_string(values[i][0]));
		json_object_set_new(column, "heading", json_string(values[i][1]));
		json_array_append_new(columns, column);
	}
	return columns;
}

static int read_side(struct comparison *c, unsigned side, const struct nm_view *view,
		     const struct nm_request *request, struct nm_error *err)
{
	const struct nm_view_profile *of;
	int64_t number = 0;
	int status =
	    nm_request_number(request, side ? "b" : "a", 0, NM_VIEW_PROFILES - 1, side, &number, err);

	if (!status && number >= view->count)
		status = nm_fail(err, NM_ENOENT, "there is no profile %d", (int)number);
	if (status)
		return status;
	of = &view->profiles[number];
	status = nm_grouping_make(&c->sides[side], of, request, "object", err);
	return status ? status : nm_grouping_sum(&c->sides[side], of, err);
}

/* The metric of all rows of a side. */
static json_t *json_of_all(const struct comparison *c, unsigned side)
{
	const struct nm_metric_total *total = &c->sides[side].total;

	return c->metric->real ? nm_view_real(c->metric->real(&total->sum, total))
			       : json_integer(nm_metric_integer(c->metric, &total->sum));
}

static json_t *json_of_comparison(const struct comparison *c)
{
	json_t *before = json_of_all(c, 0), *after = json_of_all(c, 1);
	const double change = json_number_value(after) - json_number_value(before);
	json_t *rows = page_of(c);

	return rows ? json_pack("{ss ss so so sI s[ooo]}", "metric", c->metric->name, "level",
				c->sides[0].level, "columns", columns_of(c), "rows", rows, "total_rows",
				(json_int_t)c->rows.row_count, "sums", before, after, json_of(c, change))
		    : NULL;
}

int nm_view_compare(const struct nm_view *view, const struct nm_request *request, json_t **ret_answer,
		    struct nm_error *err)
{
	struct comparison c = {.metric = NULL};
	int status = nm_grouping_metric(request, "metric", "misses", &c.metric, err);

	if (!status)
		status = nm_view_part(request, NM_VIEW_ROWS, &c.offset, &c.limit, err);
	for (unsigned side = 0; !status && side < 2; side++)
		status = read_side(&c, side, view, request, err);
	if (!status && nm_facts_join(&c.rows, &c.sides[0].rows, &c.sides[1].rows))
		status = nm_fail_memory(err);
	if (!status)
		*ret_answer = json_of_comparison(&c);
	nm_facts_done(&c.rows);
	nm_grouping_done(&c.sides[0]);
	nm_grouping_done(&c.sides[1]);
	return status;
}
