/* SPDX-License-Identifier: MIT
 *
 * summary.c - the first screen: how much of the run waits for memory, what was run on which machine, how each
 * level did, the pairs of object and line that cost most, and what to try.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "memstream.h"
#include "notes.h"
#include "old_glibc.h"
#include "report_priv.h"
#include "summary_parts.h"
#include "verdict.h"

struct summary {
	struct nm_table info, processes;
	struct nm_report_table levels, pairs, groups; /* groups: of a merged profile */
	struct nm_verdict verdict;
	struct nm_mpi_waits waits;
	struct nm_notes notes;
	int has_code; /* instruction fetches were simulated */
};

static const struct nm_column info_columns[] = {{.name = "key"}, {.name = "value"}};
static const struct nm_column process_columns[] = {{.name = "process"},     {.name = "command"},
						   {.name = "exit_status"}, {.name = "instructions"},
						   {.name = "references"},  {.name = "lost_words"}};

static int fill_table(struct nm_profile *profile, const char *sql, const char *process,
		      const struct nm_column *columns, unsigned count, struct nm_table *table,
		      struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, sql, &rows, err);

	table->columns = columns;
	table->column_count = count;
	if (!status) {
		nm_rows_bind_text(rows, 1, process);
		status = nm_table_fill(table, rows, err);
	}
	nm_rows_free(rows);
	return status;
}

static int find_code(struct nm_profile *profile, int *ret_found, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status =
	    nm_profile_query(profile, "SELECT 1 FROM objects WHERE kind = 'code' LIMIT 1", &rows, err);

	if (!status)
		status = nm_rows_next(rows, err);
	*ret_found = status > 0;
	nm_rows_free(rows);
	return status > 0 ? 0 : status;
}

static int gather_summary(struct summary *summary, struct nm_profile *profile,
			  const struct nm_selection *selection, struct nm_error *err)
{
	struct nm_selection all_levels = {
	    .request = {.level = selection->request.level, .process = selection->request.process}};
	int status = fill_table(profile, "SELECT key, value FROM info ORDER BY key", NULL, info_columns, 2,
				&summary->info, err);

	if (!status)
		status = fill_table(
		    profile,
		    "SELECT process, command, exit_status, instructions, refs, lost_words FROM processes "
		    "WHERE ?1 IS NULL OR process = ?1",
		    selection->request.process, process_columns, 6, &summary->processes, err);
	if (!status)
		status =
		    nm_report_fill(nm_report_named("levels"), profile, &all_levels, &summary->levels, err);
	if (!status)
		status = find_code(profile, &summary->has_code, err);
	if (!status)
		status = nm_report_fill(nm_report_named("pairs"), profile, selection, &summary->pairs, err);
	if (!status)
		status = nm_groups_fill(profile, selection, &summary->groups, err);
	if (!status)
		status = nm_mpi_waits_fill(profile, selection, &summary->waits, err);
	if (!status)
		status = nm_verdict_make(profile, selection, &summary->verdict, err);
	if (!status)
		status = nm_notes_make(profile, selection, &summary->verdict, &summary->pairs.table,
				       &summary->notes, NULL, err);
	return status;
}

static const char *info_value(const struct summary *summary, const char *key)
{
	size_t i;

	for (i = 0; i < summary->info.row_count; i++)
		if (!strcmp(nm_table_at(&summary->info, i, 0)->text, key))
			return nm_table_at(&summary->info, i, 1)->text;
	return NULL;
}

static int64_t sum_column(const struct nm_table *table, const char *column)
{
	int64_t total = 0;
	size_t i;

	for (i = 0; i < table->row_count; i++)
		total += nm_table_named(table, i, column)->integer;
	return total;
}

/* A process that a signal ended has 128 and the signal's number, as in a shell. */
static void print_end(int64_t exit_status, FILE *out)
{
	enum { SIGNALLED = 128 };
	const char *name = exit_status > SIGNALLED ? sigabbrev_np((int)(exit_status - SIGNALLED)) : NULL;

	if (name)
		fprintf(out, " (exit status %" PRId64 ", as by SIG%s)", exit_status, name);
}

static int print_processes(const struct summary *summary, unsigned width, FILE *to)
{
	enum { SHOWN = 6 };
	const struct nm_table *processes = &summary->processes;
	char *text = NULL;
	FILE *out = nm_memstream_open(&text, NULL);
	size_t i;

	if (!out)
		return NM_ENOMEM;
	fprintf(out, "%zu: ", processes->row_count);
	for (i = 0; i < processes->row_count && i < SHOWN; i++) {
		fprintf(out, "%s%s", i ? ", " : "", nm_table_at(processes, i, 0)->text);
		print_end(nm_table_named(processes, i, "exit_status")->integer, out);
	}
	if (processes->row_count > SHOWN)
		fprintf(out, ", and %zu more", processes->row_count - SHOWN);
	if (nm_memstream_close(out, &text))
		return NM_ENOMEM;
	nm_print_wrapped("processes   ", text, width, to);
	free(text);
	return 0;
}

/* Whether a part of a SPEC is a level: NAME=SIZE,WAYS,LINE. */
static int is_level(const char *spec) { return spec[strcspn(spec, ",:")] == ','; }

/* A line for each machine: their levels differ in the prefix of their names. */
static int print_spec(const char *spec, unsigned width, FILE *out)
{
	int status = 0;

	const char *level = spec, *end;

	for (const char *start = spec; *level; level = *end ? end + 1 : end) {
		end = level + strcspn(level, ":");
		if (*end && (nm_machine_same(level, end + 1) || !is_level(end + 1)))
			continue;
		status |= nm_print_sentence("            ", width, out, "%.*s", (int)(end - start), start);
		start = *end ? end + 1 : end;
	}
	return status;
}

static int print_verdict(const struct nm_verdict *verdict, unsigned width, FILE *out)
{
	char *text = NULL;
	FILE *to = nm_memstream_open(&text, NULL);

	if (!to)
		return NM_ENOMEM;
	nm_verdict_write(verdict, to);
	if (nm_memstream_close(to, &text))
		return NM_ENOMEM;
	nm_print_wrapped("verdict     ", text, width, out);
	free(text);
	return 0;
}

static void print_threads(const struct summary *summary, unsigned width, FILE *out)
{
	const char *cores = info_value(summary, "cores");
	char text[256];

	snprintf(text, sizeof text,
		 "%" PRId64
		 ", on %s core%s: nearmiss sharing shows which lines threads on different cores take from "
		 "each other%s",
		 summary->verdict.threads, cores ? cores : "one", cores ? "s" : "",
		 cores ? "" : " (record --cores N)");
	nm_print_wrapped("threads     ", text, width, out);
}

/* What the simulation left out that costs time too. */
static void print_left_out(const struct summary *summary, const char *spec, unsigned width, FILE *out)
{
	char text[128];

	snprintf(text, sizeof text, "%s%s%sthe kernel, limits of bandwidth",
		 summary->has_code ? "" : "instruction fetches, ",
		 spec && (strstr(spec, "pages=") || strstr(spec, ":tlb=")) ? "" : "TLBs, ",
		 summary->verdict.has_covered || (spec && strstr(spec, "prefetch=")) ? "" : "prefetchers, ");
	nm_print_wrapped("left out    ", text, width, out);
}

/* Of a hermetic recording: what may still differ in another run. */
static int print_hermetic(const struct summary *summary, unsigned width, FILE *out)
{
	const char *instructions = info_value(summary, "hermetic_instructions"),
		   *unpinned = info_value(summary, "hermetic_unpinned");
	char *text;

	if (!info_value(summary, "hermetic_clock"))
		return 0;
	if (asprintf(
		&text,
		"clocks, random numbers, processors, environment and stack are pinned, for processors with %s; %s%s",
		instructions ? instructions : "?",
		unpinned && *unpinned ? "not pinned: " : "nothing was seen that is not pinned",
		unpinned ? unpinned : "") < 0)
		return NM_ENOMEM;
	nm_print_wrapped("hermetic    ", text, width, out);
	free(text);
	return 0;
}

static int print_head(const struct summary *summary, const struct nm_report_request *request, unsigned width,
		      FILE *out)
{
	const char *description = info_value(summary, "machine_description"),
		   *spec = info_value(summary, "machine_spec");
	const char *command =
	    request->process ? nm_table_at(&summary->processes, 0, 1)->text : info_value(summary, "command");

	if (print_verdict(&summary->verdict, width, out))
		return NM_ENOMEM;
	nm_print_wrapped("command     ",
			 command                         ? command
			 : info_value(summary, "merged") ? "more than one"
							 : "?",
			 width, out);
	if (nm_print_sentence("machine     ", width, out, "%s%s%s",
			      info_value(summary, "machine") ? info_value(summary, "machine") : "?",
			      description && *description ? ": " : "", description ? description : "") ||
	    (spec && print_spec(spec, width, out)) || print_processes(summary, width, out))
		return NM_ENOMEM;
	if (nm_groups_print(&summary->groups.table, width, out))
		return NM_ENOMEM;
	fputs("executed    ", out);
	nm_print_grouped(sum_column(&summary->processes, "instructions"), out);
	fputs(" instructions, ", out);
	nm_print_grouped(sum_column(&summary->processes, "references"), out);
	fputs(" references\n", out);
	if (summary->verdict.threads > 1)
		print_threads(summary, width, out);
	nm_mpi_waits_print(&summary->waits, width, out);
	print_left_out(summary, spec, width, out);
	if (print_hermetic(summary, width, out))
		return NM_ENOMEM;
	if (request->part.region)
		fprintf(out, "region      %s, with those within it\n", request->part.region);
	if (request->part.phase)
		fprintf(out, "phase       %s\n", request->part.phase);
	if (request->thread)
		fprintf(out, "thread      %" PRId64 " (MPKI is per instruction of all threads)\n",
			request->thread);
	return 0;
}

static void print_title(const char *title, const char *rest, const struct nm_style *style, FILE *out)
{
	fprintf(out, "\n%s%s%s%s\n", style->colour ? "\033[1;4m" : "", title, rest,
		style->colour ? "\033[m" : "");
}

/* The report "levels" without its narrower details. */
static int print_levels(struct summary *summary, const struct nm_style *style, FILE *out)
{
	enum { ESSENTIAL = 3 };
	struct nm_query *query = &summary->levels.query;
	unsigned i;

	for (i = 0; i < query->count; i++)
		query->columns[i].hidden |= query->columns[i].drop_order > ESSENTIAL;
	fputc('\n', out);
	return nm_table_text(&summary->levels.table, style, out);
}

/* What a row costs, and where its misses end: the share of misses tells less. */
static void choose_columns(struct nm_query *query)
{
	static const struct {
		const char *name;
		unsigned drop_order;
	} shown[] = {{"last_misses", 1}, {"cycles", 0}, {"run_share", 0}};

	for (unsigned i = 0; i < query->count; i++) {
		struct nm_column *column = &query->columns[i];

		column->hidden |= !strcmp(column->name, "share");
		for (unsigned k = 0; k < sizeof shown / sizeof *shown; k++)
			if (!strcmp(column->name, shown[k].name)) {
				column->hidden = 0;
				column->drop_order = shown[k].drop_order;
			}
	}
}

static int as_text(struct summary *summary, const struct nm_report_request *request,
		   const struct nm_style *style, FILE *out)
{
	size_t i;

	if (print_head(summary, request, style->width, out) || print_levels(summary, style, out))
		return NM_ENOMEM;
	print_title("Misses by object and line, ", request->level, style, out);
	if (nm_table_text(&summary->pairs.table, style, out))
		return NM_ENOMEM;
	if (summary->notes.count)
		print_title("What to try", "", style, out);
	for (i = 0; i < summary->notes.count; i++)
		nm_print_wrapped("- ", summary->notes.at[i], style->width, out);
	return 0;
}

static int as_json(struct summary *summary, const struct nm_report_request *request, FILE *out)
{
	static const char *const parts[] = {"processes", "levels", "pairs"};
	const struct nm_table *tables[] = {&summary->processes, &summary->levels.table,
					   &summary->pairs.table};
	int status = 0;
	size_t i;

	nm_json_begin("summary", out);
	fputs(",\"level\":", out);
	status |= nm_json_text(request->level, out);
	fputs(",\"info\":{", out);
	for (i = 0; i < summary->info.row_count; i++) {
		const char *value = nm_table_at(&summary->info, i, 1)->text;

		fputs(i ? "," : "", out);
		status |= nm_json_text(nm_table_at(&summary->info, i, 0)->text, out);
		fputc(':', out);
		status |= nm_json_text(value ? value : "", out);
	}
	fputs("}", out);
	for (i = 0; i < 3; i++) {
		fprintf(out, ",\n\"%s\":", parts[i]);
		status |= nm_table_json(tables[i], out);
	}
	fputs(",\n\"advice\":[", out);
	for (i = 0; i < summary->notes.count; i++) {
		fputs(i ? ",\n" : "\n", out);
		status |= nm_json_text(summary->notes.at[i], out);
	}
	fputs("\n]}\n", out);
	return status ? NM_ENOMEM : 0;
}

/* The selection of the rows: dynamic linking and waiting in MPI get one row each. */
static int fold_selection(const struct nm_selection *selection, const struct nm_style *style)
{
	return selection->request.folds && !selection->request.columns && style->format == NM_FORMAT_TEXT;
}

int nm_summary_run(struct nm_profile *profile, struct nm_selection *selection, const struct nm_style *style,
		   FILE *out, struct nm_error *err)
{
	struct summary summary = {.info = {0}};
	struct nm_level_cube pairs = {.cube = {.key_count = 0}};
	int status = 0;

	selection->leaves_apart = fold_selection(selection, style);
	if (selection->leaves_apart || nm_pairs_have_numbers(selection)) {
		status = nm_pairs_load(&pairs, profile, selection, 1, err);
		selection->pairs = &pairs;
	}
	if (!status)
		status = gather_summary(&summary, profile, selection, err);
	if (!selection->request.columns)
		choose_columns(&summary.pairs.query);
	if (!status && selection->leaves_apart)
		status = nm_fold_rows(selection, &summary.pairs.table, err);
	if (!status) {
		if (style->format == NM_FORMAT_TEXT)
			status = as_text(&summary, &selection->request, style, out);
		else if (style->format == NM_FORMAT_JSON)
			status = as_json(&summary, &selection->request, out);
		else /* a CSV file has one kind of row */
			status = nm_table_csv(&summary.pairs.table, out);
		if (status)
			nm_fail_memory(err);
	}
	nm_vec_free(&summary.notes);
	nm_table_done(&summary.info);
	nm_table_done(&summary.processes);
	nm_report_table_done(&summary.levels);
	nm_report_table_done(&summary.pairs);
	nm_report_table_done(&summary.groups);
	nm_level_cube_done(&pairs);
	selection->pairs = NULL;
	return status;
}
