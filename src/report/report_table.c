/* SPDX-License-Identifier: MIT
 *
 * report_table.c - the table of a report: its query and columns as the request wants them, its rows, and its
 * output as text, CSV or JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report_priv.h"
#include "samples_report.h"

static int no_such_column(const struct nm_query *query, const char *typed, int composed, struct nm_error *err)
{
	const char *words[NM_QUERY_COLUMNS + 1];
	unsigned i, n = 0;

	for (i = 0; i < query->count; i++)
		if (composed || !query->columns[i].compose)
			words[n++] = query->columns[i].name;
	words[n] = NULL;
	return nm_fail_unknown("column", typed, words, err);
}

static struct nm_column *find_column(struct nm_query *query, const char *name)
{
	unsigned i;

	for (i = 0; i < query->count; i++)
		if (!strcmp(query->columns[i].name, name))
			return &query->columns[i];
	return NULL;
}

static void show_always(struct nm_column *column)
{
	if (!column->title)
		column->title = column->name;
	column->hidden = 0;
	column->drop_order = 0;
}

/* Text shows the keys and the columns of a list. */
static int show_listed(struct nm_query *query, const char *list, struct nm_error *err)
{
	char name[60];
	unsigned i;

	for (i = query->keys; i < query->count; i++)
		query->columns[i].hidden = 1;
	for (;; list++) {
		size_t n = strcspn(list, ",");
		struct nm_column *to;

		snprintf(name, sizeof name, "%.*s", (int)n, list);
		to = find_column(query, name);
		if (!to)
			return no_such_column(query, name, 1, err);
		show_always(to);
		list += n;
		if (!*list)
			return 0;
	}
}

/* " ORDER BY column, ties LIMIT n OFFSET m". Numbers rank downwards, texts upwards. */
static int ordered_sql(const struct nm_report *report, struct nm_query *query,
		       const struct nm_selection *selection, char **ret_sql, struct nm_error *err)
{
	const struct nm_report_request *request = &selection->request;
	const char *name = nm_report_sort(report, selection);
	struct nm_column *by = name ? find_column(query, name) : NULL;
	char order[80] = "";
	int is_text;

	if (name && (!by || by->compose || by->derive))
		return no_such_column(query, name, 0, err);
	if (by) {
		is_text = by->kind == NM_COLUMN_NAME || by->kind == NM_COLUMN_TEXT;
		snprintf(order, sizeof order, "\"%s\" %s NULLS LAST, ", name, is_text ? "ASC" : "DESC");
		by->drop_order = 0;
		by->sorts = 1;
		if (request->sort)
			show_always(by);
	}
	if (asprintf(ret_sql, "%s ORDER BY %s%s LIMIT %lld OFFSET %lld", query->sql, order, query->ties,
		     request->limit > 0 ? (long long)request->limit : -1LL, (long long)request->offset) < 0)
		return nm_fail_memory(err);
	return 0;
}

static int make_query(struct nm_query *query, struct nm_profile *profile, const struct nm_report *report,
		      const struct nm_selection *selection, struct nm_error *err)
{
	if (selection->of_samples)
		return nm_samples_query_make(query, report, selection, err);
	if (!report->columns)
		return nm_query_make(query, profile, report, selection, err);
	memcpy(query->columns, report->columns, report->column_count * sizeof *report->columns);
	query->count = report->column_count;
	query->keys = 1;
	query->sql = strdup(report->sql);
	query->ties = strdup(report->ties);
	if (!query->sql || !query->ties)
		return nm_fail_memory(err);
	if (!report->joined)
		return 0;
	return nm_ranked_by(profile, selection, report->joined, "references,misses,share,loads,waste",
			    report->is_of_joined && !strcmp(nm_report_sort(report, selection), report->sort)
				? report->sort
				: NULL,
			    err);
}

int nm_report_fill(const struct nm_report *report, struct nm_profile *profile,
		   const struct nm_selection *selection, struct nm_report_table *filled, struct nm_error *err)
{
	struct nm_query *query = &filled->query;
	struct nm_table *table = &filled->table;
	struct nm_rows *rows = NULL;
	char *sql = NULL;
	int status = make_query(query, profile, report, selection, err);

	if (!status && selection->request.columns)
		status = show_listed(query, selection->request.columns, err);
	if (!status)
		status = ordered_sql(report, query, selection, &sql, err);
	table->columns = query->columns;
	table->column_count = query->count;
	table->keys = report->columns ? 0 : query->keys;
	table->levels = &selection->levels;
	if (!status)
		status = nm_profile_query(profile, sql, &rows, err);
	if (!status) {
		nm_rows_bind_text(
		    rows, 1, report->all_levels && !selection->one_level ? NULL : selection->request.level);
		nm_rows_bind_text(rows, 2, selection->request.process);
		nm_rows_bind_integer(rows, 3, selection->request.thread);
		nm_rows_bind_text(rows, 4, selection->object.pattern);
		nm_rows_bind_text(rows, 5, selection->function.pattern);
		nm_rows_bind_text(rows, 6, selection->file.pattern);
		nm_rows_bind_text(rows, 7, selection->structure.pattern);
		status = nm_table_fill(table, rows, err);
	}
	nm_rows_free(rows);
	free(sql);
	return status;
}

void nm_report_table_done(struct nm_report_table *filled)
{
	nm_table_done(&filled->table);
	nm_query_done(&filled->query);
}

void nm_json_begin(const char *report, FILE *out)
{
	fputs("{\"schema\":\"nearmiss-report/1\",\"version\":\"" NM_VERSION "\",\"report\":", out);
	nm_json_text(report, out);
}

int nm_table_show(struct nm_table *table, const char *report, const char *level, const struct nm_style *style,
		  FILE *out, struct nm_error *err)
{
	int status = 0;

	if (style->format == NM_FORMAT_TEXT)
		status = nm_table_text(table, style, out);
	else if (style->format == NM_FORMAT_CSV)
		status = nm_table_csv(table, out);
	else {
		nm_json_begin(report, out);
		if (level) {
			fputs(",\"level\":", out);
			status = nm_json_text(level, out);
		}
		fputs(",\"rows\":", out);
		if (!status)
			status = nm_table_json(table, out);
		fputs("}\n", out);
	}
	return status ? nm_fail_memory(err) : 0;
}
