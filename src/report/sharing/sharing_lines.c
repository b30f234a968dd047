/* SPDX-License-Identifier: MIT
 *
 * sharing_lines.c - contended lines of memory as text: for each who touches which bytes of it, who takes it
 * from whom, and what to change.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "repair.h"
#include "sharing_priv.h"

static const struct nm_column touch_columns[] = {
    {.name = "offset", .title = "offset", .kind = NM_COLUMN_NUMBER},
    {.name = "bytes", .title = "bytes", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "thread", .title = "thread", .kind = NM_COLUMN_NUMBER},
    {.name = "core", .title = "core", .kind = NM_COLUMN_NUMBER, .drop_order = 4},
    {.name = "reads", .title = "reads", .kind = NM_COLUMN_NUMBER},
    {.name = "writes", .title = "writes", .kind = NM_COLUMN_NUMBER},
    {.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},
    {.name = "false_misses", .title = "false", .kind = NM_COLUMN_NUMBER},
    {.name = "invalidations", .title = "takes", .kind = NM_COLUMN_NUMBER},
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "field", .title = "field", .kind = NM_COLUMN_TEXT},
    {.name = "where", .title = "line", .kind = NM_COLUMN_LOCATION, .compose = nm_compose_location},
    {.name = "file", .hidden = 1},
    {.name = "line", .hidden = 1},
    {.name = "function", .hidden = 1},
    {.name = "type", .hidden = 1},
    {.name = "structure", .hidden = 1},
    {.name = "position", .hidden = 1},
};

static const struct nm_column taker_columns[] = {
    {.name = "invalidations", .title = "taken", .kind = NM_COLUMN_NUMBER},
    {.name = "interventions", .title = "handed over", .kind = NM_COLUMN_NUMBER},
    {.name = "thread", .title = "by thread", .kind = NM_COLUMN_NUMBER},
    {.name = "where", .title = "at", .kind = NM_COLUMN_LOCATION, .compose = nm_compose_location},
    {.name = "file", .hidden = 1},
    {.name = "line", .hidden = 1},
    {.name = "function", .hidden = 1},
    {.name = "victim_thread", .title = "from thread", .kind = NM_COLUMN_NUMBER},
    {.name = "victim_where",
     .title = "loaded at",
     .kind = NM_COLUMN_LOCATION,
     .compose = nm_compose_victim_location},
    {.name = "victim_file", .hidden = 1},
    {.name = "victim_line", .hidden = 1},
    {.name = "victim_function", .hidden = 1},
};

enum { TAKERS = 8 };

/* One contended line. */
struct line {
	const char *process;
	int64_t block, misses, false_misses, invalidations, threads;
};

/* The rows of a table for one line. */
static int fill(struct nm_profile *profile, const struct nm_selection *selection,
		const struct nm_report *table, const char *groups, const struct line *l, int64_t limit,
		struct nm_report_table *filled, struct nm_error *err)
{
	struct nm_selection chosen = *selection;
	struct nm_report report = *table;
	char *sql;
	int status;

	chosen.request.limit = limit;
	chosen.request.process = l->process;
	if (asprintf(&sql, "%s AND block = %" PRId64 " %s", table->sql, l->block, groups) < 0)
		return nm_fail_memory(err);
	report.sql = sql;
	status = nm_report_fill(&report, profile, &chosen, filled, err);
	free(sql);
	return status;
}

static const struct nm_report touch_table = {
    .name = "sharing",
    .columns = touch_columns,
    .column_count = NM_COLUMNS_IN(touch_columns),
    .ties = "offset, bytes, thread, file, line, function",
    .sql =
	"SELECT offset, bytes, thread, core, sum(reads) AS reads, sum(writes) AS writes, sum(misses) AS misses, "
	"sum(false_misses) AS false_misses, sum(invalidations) AS invalidations, object, field, file, line, function, "
	"type, structure, position FROM sharing WHERE level = ?1 AND process = ?2"};

static const struct nm_report taker_table = {
    .name = "takers",
    .columns = taker_columns,
    .column_count = NM_COLUMNS_IN(taker_columns),
    .sort = "invalidations",
    .ties = "interventions DESC, thread, file, line, victim_thread, victim_file, victim_line",
    .sql =
	"SELECT sum(invalidations) AS invalidations, sum(interventions) AS interventions, thread, file, line, "
	"function, victim_thread, victim_file, victim_line, victim_function FROM contenders "
	"WHERE level = ?1 AND process = ?2"};

static int64_t integer_or(const struct nm_value *v, int64_t otherwise)
{
	return v->type == NM_VALUE_INTEGER ? v->integer : otherwise;
}

static int print_repair(const struct nm_table *t, const struct line *l, int64_t bytes, FILE *out)
{
	struct nm_line_touch *touches = calloc(t->row_count + 1, sizeof *touches);

	if (!touches)
		return NM_ENOMEM;
	for (size_t row = 0; row < t->row_count; row++)
		touches[row] =
		    (struct nm_line_touch){.offset = (unsigned)nm_table_named(t, row, "offset")->integer,
					   .bytes = (unsigned)nm_table_named(t, row, "bytes")->integer,
					   .thread = nm_table_named(t, row, "thread")->integer,
					   .structure = integer_or(nm_table_named(t, row, "structure"), -1),
					   .position = integer_or(nm_table_named(t, row, "position"), -1),
					   .object = nm_table_named(t, row, "object")->text,
					   .type = nm_table_named(t, row, "type")->text,
					   .field = nm_table_named(t, row, "field")->text,
					   .reads = nm_table_named(t, row, "reads")->integer,
					   .writes = nm_table_named(t, row, "writes")->integer};
	nm_repair_print(touches, t->row_count, (unsigned)bytes, l->misses, l->false_misses, out);
	fputs("\n", out);
	free(touches);
	return 0;
}

static void print_title(const struct line *l, FILE *out)
{
	fprintf(out, "Line 0x%" PRIx64 ": ", (uint64_t)l->block);
	nm_print_grouped(l->misses, out);
	fputs(" coherence misses, ", out);
	nm_print_grouped(l->false_misses, out);
	fputs(" of them false sharing; ", out);
	nm_print_grouped(l->threads, out);
	fputs(" threads, ", out);
	nm_print_grouped(l->invalidations, out);
	fputs(" copies taken\n", out);
}

static int show_line(struct nm_profile *profile, struct nm_selection *selection, const struct line *l,
		     int64_t bytes, const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_report_table touches = {.table = {0}}, takers = {.table = {0}};
	int status =
	    fill(profile, selection, &touch_table,
		 "GROUP BY offset, bytes, thread, object, field, file, line, function", l, 0, &touches, err);

	if (!status)
		status = fill(profile, selection, &taker_table,
			      "GROUP BY 3, 4, 5, 6, 7, 8, 9, 10 HAVING invalidations + interventions > 0", l,
			      TAKERS, &takers, err);
	if (!status) {
		print_title(l, out);
		status = nm_table_show(&touches.table, "sharing", NULL, style, out, err);
	}
	if (!status && takers.table.row_count) {
		fputs("\n", out);
		status = nm_table_show(&takers.table, "sharing", NULL, style, out, err);
	}
	if (!status && print_repair(&touches.table, l, bytes, out))
		status = nm_fail_memory(err);
	fputs("\n", out);
	nm_report_table_done(&touches);
	nm_report_table_done(&takers);
	return status;
}

static const char lines_sql[] =
    "SELECT process, block, sum(misses), sum(false_misses), sum(invalidations), count(DISTINCT thread) FROM sharing "
    "WHERE level = ?1 AND (?2 IS NULL OR process = ?2) GROUP BY process, block HAVING sum(misses) > 0 "
    "ORDER BY sum(false_misses) DESC, sum(misses) DESC, process, block";

int nm_sharing_lines(struct nm_profile *profile, struct nm_selection *selection, int64_t bytes,
		     const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int64_t shown = 0, limit = selection->request.limit;
	int status = nm_profile_query(profile, lines_sql, &rows, err);

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, selection->request.level);
	nm_rows_bind_text(rows, 2, selection->request.process);
	while (!status && (!limit || shown < limit)) {
		status = nm_rows_next(rows, err);
		if (status <= 0)
			break;

		const struct line l = {.process = nm_rows_text(rows, 0),
				       .block = nm_rows_integer(rows, 1),
				       .misses = nm_rows_integer(rows, 2),
				       .false_misses = nm_rows_integer(rows, 3),
				       .invalidations = nm_rows_integer(rows, 4),
				       .threads = nm_rows_integer(rows, 5)};
		shown++;
		status = show_line(profile, selection, &l, bytes, style, out, err);
	}
	if (!status && !shown)
		fputs("No core lost a line that another one wrote to and missed it again.\n", out);
	nm_rows_free(rows);
	return status;
}
