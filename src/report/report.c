/* SPDX-License-Identifier: MIT
 *
 * report.c - checks a request against the profile, runs the report's query, hands the rows to a sink.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "report_priv.h"
#include "selection.h"

static int no_memory(struct nm_error *err) { return nm_fail(err, NM_ENOMEM, "out of memory"); }

static int check(struct nm_profile *profile, const struct nm_report *report,
		 const struct nm_report_request *request, struct nm_error *err)
{
	int rc = 0;

	if (request->level)
		rc = nm_select_level(profile, request->level, err);
	if (!rc && request->process)
		rc = nm_select_process(profile, request->process, err);
	if (!rc && request->thread && report->all_levels)
		return nm_fail(err, NM_EINVAL, "the report \"%s\" cannot be had for one thread",
			       report->name);
	if (!rc && request->thread)
		rc = nm_select_thread(profile, request->thread, err);
	return rc;
}

static int no_such_column(const struct nm_report *report, const char *sort, struct nm_error *err)
{
	char list[400] = "";
	size_t n = 0;
	unsigned i;

	for (i = 0; i < report->column_count && n < sizeof list; i++)
		if (!report->columns[i].compose)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "",
					      report->columns[i].name);
	return nm_fail(err, NM_EINVAL, "no column \"%s\" to sort by; there are %s", sort, list);
}

/* " ORDER BY column, ties LIMIT n".  Numbers rank downwards, texts upwards. */
static int ordered(const struct nm_report *report, const struct nm_report_request *request, char **ret_sql,
		   struct nm_error *err)
{
	const char *sort = request->sort ? request->sort : report->sort;
	char order[80] = "";
	unsigned i, position = 0;

	for (i = 0; sort && i < report->column_count; i++) {
		const struct nm_column *column = &report->columns[i];
		int is_text = column->kind == NM_COLUMN_NAME || column->kind == NM_COLUMN_TEXT;

		position += !column->compose;
		if (!column->compose && !strcmp(column->name, sort))
			snprintf(order, sizeof order, "%u %s NULLS LAST, ", position,
				 is_text ? "ASC" : "DESC");
	}
	if (sort && !*order)
		return no_such_column(report, sort, err);
	if (asprintf(ret_sql, "%s ORDER BY %s%s LIMIT %lld", report->sql, order, report->ties,
		     request->limit > 0 ? (long long)request->limit : -1LL) < 0)
		return no_memory(err);
	return 0;
}

int nm_report_fill(const struct nm_report *report, struct nm_profile *profile,
		   const struct nm_report_request *request, struct nm_table *ret_table, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	char *sql = NULL;
	int rc = ordered(report, request, &sql, err);

	ret_table->columns = report->columns;
	ret_table->column_count = report->column_count;
	if (!rc)
		rc = nm_profile_query(profile, sql, &rows, err);
	if (!rc) {
		nm_rows_bind_text(rows, 1, request->level);
		if (request->process)
			nm_rows_bind_text(rows, 2, request->process);
		if (request->thread)
			nm_rows_bind_integer(rows, 3, request->thread);
		rc = nm_table_fill(ret_table, rows, err);
	}
	nm_rows_free(rows);
	free(sql);
	return rc;
}

void nm_json_begin(const char *report, FILE *out)
{
	fputs("{\"schema\":\"nearmiss-report/1\",\"version\":\"" NM_VERSION "\",\"report\":", out);
	nm_json_text(report, out);
}

static int show(struct nm_table *table, const char *report, const char *level, const struct nm_style *style,
		FILE *out, struct nm_error *err)
{
	int rc = 0;

	if (style->format == NM_FORMAT_TEXT)
		rc = nm_table_text(table, style, out);
	else if (style->format == NM_FORMAT_CSV)
		rc = nm_table_csv(table, out);
	else {
		nm_json_begin(report, out);
		if (level) {
			fputs(",\"level\":", out);
			rc = nm_json_text(level, out);
		}
		fputs(",\"rows\":", out);
		if (!rc)
			rc = nm_table_json(table, out);
		fputs("}\n", out);
	}
	return rc ? no_memory(err) : 0;
}

int nm_report_run(const struct nm_report *report, struct nm_profile *profile,
		  const struct nm_report_request *request, const struct nm_style *style, FILE *out,
		  struct nm_error *err)
{
	struct nm_report_request asked = *request;
	struct nm_table table = {0};
	char *level = NULL;
	int rc = check(profile, report, request, err);

	if (!rc && !asked.level) {
		rc = nm_select_first_level(profile, &level, err);
		asked.level = level;
	}
	if (!rc && !report->columns)
		rc = nm_summary_run(profile, &asked, style, out, err);
	else if (!rc) {
		rc = nm_report_fill(report, profile, &asked, &table, err);
		if (!rc)
			rc = show(&table, report->name, report->all_levels ? NULL : asked.level, style, out,
				  err);
		nm_table_done(&table);
	}
	free(level);
	return rc;
}

int nm_report_query(struct nm_profile *profile, const char *sql, const struct nm_style *style, FILE *out,
		    struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	struct nm_table table = {0};
	struct nm_column *columns = NULL;
	unsigned i;
	int rc = nm_profile_query(profile, sql, &rows, err);

	if (rc)
		return rc;
	table.column_count = nm_rows_columns(rows);
	table.columns = columns = calloc(table.column_count + 1, sizeof *columns);
	if (!columns)
		rc = no_memory(err);
	for (i = 0; !rc && i < table.column_count; i++) {
		columns[i].name = nm_intern(&table.pool, nm_rows_name(rows, i));
		columns[i].title = columns[i].name;
		if (!columns[i].name)
			rc = no_memory(err);
	}
	if (!rc)
		rc = nm_table_fill(&table, rows, err);
	if (!rc)
		rc = show(&table, "query", NULL, style, out, err);
	nm_rows_free(rows);
	nm_table_done(&table);
	free(columns);
	return rc;
}
