/* SPDX-License-Identifier: MIT
 *
 * table.c - a page of counts by any keys, sorted and filtered, with the sums of all rows and of those that
 * are not on the page.
 *
 * One statement: part 0 sums the rows that the filter keeps, part 1 all rows, part 2 is the page.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grouping.h"
#include "memstream.h"

struct table_request {
	struct nm_grouping by;
	const char *sort;               /* a key; or */
	const struct nm_metric *metric; /* a metric */
	const char *filter;
	int ascending;
	int64_t offset, limit;
};

/* The columns of the statement: part, number of rows, keys, counts. */
enum { PART, ROWS, KEYS };

static void write_sums(const char *around, FILE *sql)
{
#define NM_COUNT(name) fprintf(sql, around, #name);
#define NM_LATER_COUNT(name)
#include "counts.def"
#undef NM_COUNT
#undef NM_LATER_COUNT
}

static void write_part(const struct nm_grouping *by, int part, const char *from, FILE *sql)
{
	fprintf(sql, "SELECT %d, count(*)", part);
	for (unsigned i = 0; i < by->count; i++)
		fputs(", NULL", sql);
	write_sums(", coalesce(sum(%s), 0)", sql);
	fprintf(sql, " FROM %s UNION ALL ", from);
}

static void write_statement(const struct table_request *r, FILE *sql)
{
	const struct nm_grouping *by = &r->by;

	nm_grouping_write(by, sql);
	fputs(", f AS MATERIALIZED (SELECT * FROM c WHERE ?2 IS NULL", sql);
	for (unsigned i = 0; i < by->count; i++)
		fprintf(sql, " OR instr(lower(c.%s), lower(?2)) > 0", by->keys[i]);
	fputs(") ", sql);
	write_part(by, 0, "f", sql);
	write_part(by, 1, "c", sql);
	fputs("SELECT * FROM (SELECT 2, 0", sql);
	for (unsigned i = 0; i < by->count; i++)
		fprintf(sql, ", c.%s", by->keys[i]);
	write_sums(", c.%s", sql);
	fprintf(sql, " FROM f AS c CROSS JOIN t CROSS JOIN p ORDER BY %s%s %s NULLS LAST",
		r->metric ? "" : "c.", r->metric ? r->metric->sql : r->sort, r->ascending ? "ASC" : "DESC");
	for (unsigned i = 0; i < by->count; i++)
		fprintf(sql, ", c.%s", by->keys[i]);
	fprintf(sql, " LIMIT %lld OFFSET %lld)", (long long)r->limit, (long long)r->offset);
}

static int read_request(struct table_request *r, struct nm_profile *profile, const struct nm_request *request,
			struct nm_error *err)
{
	const char *sort = nm_request_text(request, "sort"), *order = nm_request_text(request, "order");
	int status = nm_grouping_make(&r->by, profile, request, "object", err);

	for (unsigned i = 0; sort && i < r->by.count; i++)
		if (!strcmp(sort, r->by.keys[i]))
			r->sort = sort;
	if (!status && !r->sort)
		status = nm_grouping_metric(request, "sort", "misses", &r->metric, err);
	if (!status && order && strcmp(order, "asc") && strcmp(order, "desc"))
		status = nm_fail(err, NM_EINVAL, "order must be asc or desc");
	r->ascending = order ? !strcmp(order, "asc") : r->sort != NULL;
	r->filter = nm_request_text(request, "filter");
	if (!status)
		status = nm_request_number(request, "offset", 0, INT32_MAX, 0, &r->offset, err);
	if (!status)
		status = nm_request_number(request, "limit", 0, NM_VIEW_ROWS, 200, &r->limit, err);
	return status;
}

/* ---- from sums to figures ---- */

static struct nm_metric_sums sums_of(const struct nm_rows *rows, unsigned column)
{
	struct nm_metric_sums sums;

#define NM_COUNT(name) sums.name = nm_rows_bounded(rows, column++);
#define NM_LATER_COUNT(name)
#include "counts.def"
#undef NM_COUNT
#undef NM_LATER_COUNT
	return sums;
}

static void subtract(struct nm_metric_sums *from, const struct nm_metric_sums *sums)
{
#define NM_COUNT(name) from->name -= sums->name;
#define NM_LATER_COUNT(name)
#include "counts.def"
#undef NM_COUNT
#undef NM_LATER_COUNT
}

static void append_figures(json_t *row, const struct nm_metric_sums *sums,
			   const struct nm_metric_total *total)
{
	const struct nm_metric *m;

	for (unsigned i = 0; (m = nm_metric_at(i)); i++)
		if (nm_grouping_has(m))
			json_array_append_new(row, m->real ? nm_view_real(m->real(sums, total))
							   : json_integer(nm_metric_integer(m, sums)));
}

/* A row that stands for others: without keys. */
static json_t *row_of_sums(const struct nm_grouping *by, const struct nm_metric_sums *sums,
			   const struct nm_metric_total *total)
{
	json_t *row = json_array();

	for (unsigned i = 0; i < by->count; i++)
		json_array_append_new(row, json_null());
	append_figures(row, sums, total);
	return row;
}

static json_t *columns_of(const struct nm_grouping *by)
{
	json_t *columns = json_array();
	const struct nm_metric *m;

	for (unsigned i = 0; i < by->count; i++)
		json_array_append_new(columns, nm_grouping_column(by->keys[i]));
	for (unsigned i = 0; (m = nm_metric_at(i)); i++)
		if (nm_grouping_has(m))
			json_array_append_new(columns, nm_view_metric(m));
	return columns;
}

static int read_instructions(struct nm_profile *profile, int64_t *ret, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, "SELECT sum(instructions) FROM processes", &rows, err);

	if (!status && (status = nm_rows_next(rows, err)) > 0) {
		*ret = nm_rows_bounded(rows, 0);
		status = 0;
	}
	nm_rows_free(rows);
	return status;
}

static int read_rows(struct nm_rows *rows, const struct nm_grouping *by, struct nm_metric_total *total,
		     json_t *answer, struct nm_error *err)
{
	json_t *page = json_array();
	struct nm_metric_sums kept = {0}, rest = {0};
	int status;

	while ((status = nm_rows_next(rows, err)) > 0) {
		const struct nm_metric_sums sums = sums_of(rows, KEYS + by->count);
		json_t *row;

		if (nm_rows_integer(rows, PART) == 0) {
			kept = rest = sums;
			json_object_set_new(answer, "total_rows", json_integer(nm_rows_integer(rows, ROWS)));
			continue;
		}
		if (nm_rows_integer(rows, PART) == 1) {
			total->sum = sums;
			continue;
		}
		row = json_array();
		for (unsigned i = 0; i < by->count; i++)
			json_array_append_new(row, nm_view_value(rows, KEYS + i));
		append_figures(row, &sums, total);
		subtract(&rest, &sums);
		json_array_append_new(page, row);
	}
	json_object_set_new(answer, "rows", page);
	json_object_set_new(answer, "sums", row_of_sums(by, &kept, total));
	json_object_set_new(answer, "rest", row_of_sums(by, &rest, total));
	return status;
}

int nm_view_table(struct nm_profile *profile, const struct nm_request *request, json_t **ret_answer,
		  struct nm_error *err)
{
	struct table_request r = {.sort = NULL};
	struct nm_metric_total total = {.unit = 0};
	struct nm_rows *rows = NULL;
	char *text = NULL;
	size_t bytes;
	FILE *sql = open_memstream(&text, &bytes);
	int status = sql ? read_request(&r, profile, request, err) : nm_fail_memory(err);

	if (!status)
		write_statement(&r, sql);
	if (sql && nm_memstream_close(sql, &text) && !status)
		status = nm_fail_memory(err);
	if (!status)
		status = read_instructions(profile, &total.instructions, err);
	if (!status)
		status = nm_profile_query(profile, text, &rows, err);
	if (!status) {
		nm_rows_bind_text(rows, 1, r.by.level);
		nm_rows_bind_text(rows, 2, r.filter);
		total.unit = r.by.unit;
		*ret_answer = json_pack("{ss so}", "level", r.by.level, "columns", columns_of(&r.by));
		status = read_rows(rows, &r.by, &total, *ret_answer, err);
	}
	nm_rows_free(rows);
	nm_grouping_done(&r.by);
	free(text);
	return status;
}
