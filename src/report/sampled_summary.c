/* SPDX-License-Identifier: MIT
 *
 * sampled_summary.c - the first screen of a sampled recording: what was run, on how many samples its curves
 * stand, and that no cache was simulated.
 */
#include <string.h>

#include "report_priv.h"

static const struct nm_column columns[] = {
    {.name = "process", .kind = NM_COLUMN_NAME},
    {.name = "command", .kind = NM_COLUMN_TEXT},
    {.name = "exit_status"},
    {.name = "references"},
    {.name = "sampling_rate", .kind = NM_COLUMN_TEXT},
    {.name = "sampling_line", .kind = NM_COLUMN_TEXT},
    {.name = "samples", .kind = NM_COLUMN_TEXT},
};

static const char sql[] =
    "SELECT process, command, exit_status, refs, (SELECT value FROM info WHERE key = 'sampling_rate'), "
    "(SELECT value FROM info WHERE key = 'sampling_line'), (SELECT value FROM info WHERE key = 'samples') "
    "FROM processes WHERE ?1 IS NULL OR process = ?1";

static void as_text(const struct nm_table *table, FILE *out)
{
	int64_t references = 0;

	fprintf(out, "command     %s\nprocesses   %zu: ", nm_table_named(table, 0, "command")->text,
		table->row_count);
	for (size_t i = 0; i < table->row_count; i++) {
		references += nm_table_named(table, i, "references")->integer;
		fprintf(out, "%s%s", i ? ", " : "", nm_table_named(table, i, "process")->text);
	}
	fputs("\nexecuted    ", out);
	nm_print_grouped(references, out);
	fprintf(out, " references, of which %s were sampled (rate %s, lines of %s bytes)\n\n",
		nm_table_named(table, 0, "samples")->text, nm_table_named(table, 0, "sampling_rate")->text,
		nm_table_named(table, 0, "sampling_line")->text);
	fputs("A sampled recording simulates no caches and counts no misses.\n"
	      "nearmiss curve shows the miss ratios that the samples predict for caches of every size.\n",
	      out);
}

int nm_sampled_summary_run(struct nm_profile *profile, const struct nm_report_request *request,
			   const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, sql, &rows, err);

	if (!status) {
		nm_rows_bind_text(rows, 1, request->process);
		status = nm_table_fill(&table, rows, err);
	}
	nm_rows_free(rows);
	if (!status && !table.row_count)
		status = nm_fail(err, NM_EINVAL, "no process was recorded");
	if (!status && style->format == NM_FORMAT_TEXT)
		as_text(&table, out);
	else if (!status)
		status = nm_table_show(&table, "summary", NULL, style, out, err);
	nm_table_done(&table);
	return status;
}
