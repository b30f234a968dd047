/* SPDX-License-Identifier: MIT */
#include "samples_report.h"

#include <stdlib.h>
#include <string.h>

#include "memstream.h"
#include "selection.h"

/* ---- rows --------------------------------------------------------------------------------------- */

static int select_samples(struct nm_profile *profile, const struct nm_report_request *r,
			  struct nm_selection *selection, struct nm_error *err)
{
	int status = 0;

	selection->request = *r;
	selection->one_level = 1; /* which is none */
	if (r->level || r->latency)
		return nm_fail(err, NM_EINVAL,
			       "samples were taken on a processor: --%s is for simulated caches",
			       r->level ? "level" : "latency");
	if (r->part.region || r->part.phase)
		return nm_fail(err, NM_EINVAL, "samples of a processor have no regions or phases");
	if (r->process)
		status = nm_select_process(profile, r->process, err);
	if (!status && r->thread)
		status = nm_select_thread(profile, r->thread, err);
	if (!status)
		status = nm_profile_show_frame(profile, r->frame, err);
	if (!status)
		status =
		    nm_match_name(profile, "object", r->object, "SELECT DISTINCT object AS name FROM samples",
				  0, &selection->object, err);
	if (!status)
		status = nm_match_name(profile, "function", r->function,
				       "SELECT DISTINCT function AS name FROM samples", 0,
				       &selection->function, err);
	if (!status)
		status = nm_match_name(profile, "file", r->file, "SELECT DISTINCT file AS name FROM samples",
				       1, &selection->file, err);
	return status;
}

/* Figures that no sample tells are left out of text. */
static void hide_empty(struct nm_report_table *filled, const char *sort)
{
	const struct nm_table *table = &filled->table;

	for (unsigned i = table->keys; i < table->column_count; i++) {
		int any = 0;

		for (size_t row = 0; row < table->row_count && !any; row++) {
			const struct nm_value *value = nm_table_at(table, row, i);

			any = value->type == NM_VALUE_INTEGER ? value->integer != 0
							      : value->type != NM_VALUE_NULL;
		}
		filled->query.columns[i].hidden |=
		    !any && !(sort && !strcmp(filled->query.columns[i].name, sort));
	}
}

/* Whether the samples tell what a key or column needs. */
static int require_samples(struct nm_profile *profile, const char *keys, const char *key, const char *sql,
			   const char *why, struct nm_error *err)
{
	int has = strstr(keys, key) ? nm_profile_has_row(profile, sql, err) : 1;

	return has > 0 ? 0 : has < 0 ? has : nm_fail(err, NM_EINVAL, "%s", why);
}

/* Rows rank by the time that accesses took, where that was measured. */
static int show_rows(const struct nm_report *report, struct nm_profile *profile,
		     const struct nm_report_request *request, const struct nm_style *style, FILE *out,
		     struct nm_error *err)
{
	struct nm_selection selection = {.of_samples = 1};
	struct nm_report_table filled = {.table = {0}};
	struct nm_report by_time = {.name = report->name, .keys = report->keys};
	const char *keys = report->keys ? report->keys : request->by;
	const int has_latency = nm_profile_has_row(profile, "SELECT 1 FROM samples WHERE latency > 0", err);
	int status = has_latency < 0 ? has_latency : select_samples(profile, request, &selection, err);

	by_time.sort = strstr(keys, "band") ? NULL : has_latency ? "latency_share" : "samples";
	if (!status)
		status =
		    require_samples(profile, keys, "band", "SELECT 1 FROM samples WHERE latency > 0",
				    "the samples hold no latencies: their event does not measure any", err);
	if (!status)
		status = require_samples(
		    profile, keys, "field", "SELECT 1 FROM samples WHERE field IS NOT NULL",
		    "the samples name no fields: --exact joins them with a recording (--asm) that does", err);
	if (!status)
		status = nm_report_fill(&by_time, profile, &selection, &filled, err);
	if (!status && !request->columns)
		hide_empty(&filled, request->sort ? request->sort : by_time.sort);
	if (!status)
		status = nm_table_show(&filled.table, request->by ? request->by : report->name, NULL, style,
				       out, err);
	nm_report_table_done(&filled);
	nm_selection_done(&selection);
	return status;
}

/* ---- the first screen --------------------------------------------------------------------------- */

static const struct nm_column head_columns[] = {{.name = "command"}, {.name = "events"},  {.name = "samples"},
						{.name = "lost"},    {.name = "without"}, {.name = "host"},
						{.name = "exact"},   {.name = "joined"},  {.name = "shared"}};
enum { HEAD_COLUMNS = sizeof head_columns / sizeof *head_columns };
static const char head_sql[] =
    "SELECT coalesce((SELECT value FROM info WHERE key = 'command'), '?'), "
    "(SELECT value FROM info WHERE key = 'sampled_events'), (SELECT sum(count) FROM samples), "
    "CAST((SELECT value FROM info WHERE key = 'lost_samples') AS INTEGER), "
    "(SELECT sum(count) FROM samples WHERE operation = 'none'), "
    "(SELECT group_concat(value, ', ') FROM info WHERE key IN ('host', 'host_processor')), "
    "(SELECT value FROM info WHERE key = 'exact'), "
    "CAST((SELECT value FROM info WHERE key = 'joined_samples') AS INTEGER), "
    "(SELECT sum(count) FROM samples WHERE shared)";

static const struct nm_column served_columns[] = {
    {.name = "served", .title = "data came from", .kind = NM_COLUMN_TEXT},
    {.name = "loads", .title = "loads", .kind = NM_COLUMN_NUMBER},
    {.name = "stores", .title = "stores", .kind = NM_COLUMN_NUMBER},
    {.name = "share", .title = "share %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "latency", .title = "cycles", .kind = NM_COLUMN_REAL, .decimals = 0},
};
static const char served_sql[] =
    "WITH s AS MATERIALIZED (SELECT *, " NM_SERVED_SQL
    " AS source FROM samples WHERE operation IS NOT 'none' AND operation IS NOT NULL) "
    "SELECT coalesce(source, 'not known') AS served, sum(coalesce(operation IN ('load', 'both'), 0) * count), "
    "sum(coalesce(operation IN ('store', 'both'), 0) * count), 100.0 * sum(count) / (SELECT sum(count) FROM s), "
    "1.0 * sum(latency) / nullif(sum((latency_high IS NOT NULL) * count), 0) FROM s GROUP BY source "
    "ORDER BY sum(count) DESC";

static int fill_table(struct nm_table *table, struct nm_profile *profile, const char *sql,
		      const struct nm_column *table_columns, unsigned count, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, sql, &rows, err);

	table->columns = table_columns;
	table->column_count = count;
	if (!status)
		status = nm_table_fill(table, rows, err);
	nm_rows_free(rows);
	return status;
}

/* "exact.nmp names the data of 715 samples, of which 141 are shares of instructions with several". */
static void print_joined(const struct nm_table *head, unsigned width, FILE *out)
{
	const int64_t shared = nm_table_at(head, 0, 8)->integer;
	char *text = NULL;
	FILE *line = nm_memstream_open(&text, NULL);

	if (!line)
		return;
	fprintf(line, "%s names the data of ", nm_table_at(head, 0, 6)->text);
	nm_print_grouped(nm_table_at(head, 0, 7)->integer, line);
	fputs(" samples", line);
	if (shared) {
		fputs(", of which ", line);
		nm_print_grouped(shared, line);
		fputs(" are shares of instructions that access several", line);
	}
	if (!nm_memstream_close(line, &text))
		nm_print_wrapped("joined      ", text, width, out);
	free(text);
}

static void print_head(const struct nm_table *head, unsigned width, FILE *out)
{
	const struct nm_value *host = nm_table_at(head, 0, 5), *events = nm_table_at(head, 0, 1);
	const int64_t lost = nm_table_at(head, 0, 3)->integer, without = nm_table_at(head, 0, 4)->integer;

	nm_print_wrapped("command     ", nm_table_at(head, 0, 0)->text, width, out);
	if (host->text)
		nm_print_wrapped("sampled on  ", host->text, width, out);
	nm_print_wrapped("events      ", events->text ? events->text : "?", width, out);
	fputs("samples     ", out);
	nm_print_grouped(nm_table_at(head, 0, 2)->integer, out);
	if (lost) {
		fputs(", and ", out);
		nm_print_grouped(lost, out);
		fputs(" that the kernel lost", out);
	}
	if (without) {
		fputs("; ", out);
		nm_print_grouped(without, out);
		fputs(" of instructions that access no memory", out);
	}
	fputs("\n", out);
	if (nm_table_at(head, 0, 6)->text)
		print_joined(head, width, out);
}

/* "1,045 samples in all, page-faults every 1, on vm, Intel(R) Xeon(R) Processor". */
static int show_source(struct nm_profile *profile, unsigned width, FILE *out, struct nm_error *err)
{
	struct nm_table head = {.columns = NULL};
	char *text = NULL;
	FILE *line = nm_memstream_open(&text, NULL);
	int status = fill_table(&head, profile, head_sql, head_columns, HEAD_COLUMNS, err);

	if (!status && line) {
		const char *events = nm_table_at(&head, 0, 1)->text, *host = nm_table_at(&head, 0, 5)->text;

		nm_print_grouped(nm_table_at(&head, 0, 2)->integer - nm_table_at(&head, 0, 4)->integer, line);
		fprintf(line, " samples in all%s%s%s%s", events ? ", " : "", events ? events : "",
			host ? ", on " : "", host ? host : "");
	}
	if (!line || nm_memstream_close(line, &text))
		status = nm_fail_memory(err);
	if (!status) {
		fputc('\n', out);
		nm_print_wrapped("", text, width, out);
	}
	free(text);
	nm_table_done(&head);
	return status;
}

static int show_summary(struct nm_profile *profile, const struct nm_report_request *request,
			const struct nm_style *style, FILE *out, struct nm_error *err)
{
	enum { LATENCY = 4 };
	const struct nm_report *pairs = nm_report_named("pairs");
	struct nm_table head = {.columns = NULL}, served = {.columns = NULL};
	struct nm_column shown[LATENCY + 1];
	int status, has_latency = 0;

	if (style->format != NM_FORMAT_TEXT)
		return show_rows(pairs, profile, request, style, out, err);
	memcpy(shown, served_columns, sizeof shown);
	status = fill_table(&head, profile, head_sql, head_columns, HEAD_COLUMNS, err);
	if (!status)
		status = fill_table(&served, profile, served_sql, shown, LATENCY + 1, err);
	if (!status)
		print_head(&head, style->width, out);
	for (size_t row = 0; !status && row < served.row_count; row++)
		has_latency |= nm_table_at(&served, row, LATENCY)->type != NM_VALUE_NULL;
	shown[LATENCY].hidden = !has_latency;
	if (!status && served.row_count) {
		fputc('\n', out);
		status = nm_table_text(&served, style, out) ? nm_fail_memory(err) : 0;
	}
	if (!status) {
		fputs("\nSamples by object and line\n", out);
		status = show_rows(pairs, profile, request, style, out, err);
	}
	nm_table_done(&head);
	nm_table_done(&served);
	return status;
}

int nm_samples_report(const struct nm_report *report, struct nm_profile *profile,
		      const struct nm_report_request *request, const struct nm_style *style, FILE *out,
		      struct nm_error *err)
{
	int status;

	if (report->is_summary)
		return show_summary(profile, request, style, out, err);
	if (report->columns)
		return nm_fail(err, NM_EINVAL,
			       "samples do not tell what the report \"%s\" shows: it needs simulated caches",
			       report->name);
	status = show_rows(report, profile, request, style, out, err);
	return status || style->format != NM_FORMAT_TEXT ? status
							 : show_source(profile, style->width, out, err);
}
