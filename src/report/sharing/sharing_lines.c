/* SPDX-License-Identifier: MIT
 *
 * sharing_lines.c - contended lines of memory as text or JSON: the threads that touch each line's bytes, the cores
 * that take it from each other, and what to change.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "figures.h"
#include "memstream.h"
#include "repair.h"
#include "sharing_priv.h"

static const struct nm_column touch_keys[] = {
    {.name = "offset", .title = "offset", .kind = NM_COLUMN_NUMBER},
    {.name = "bytes", .title = "bytes", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "thread", .title = "thread", .kind = NM_COLUMN_NUMBER},
    {.name = "core", .title = "core", .kind = NM_COLUMN_NUMBER, .drop_order = 4},
};
static const enum nm_figure_name touch_figures[] = {
    NM_FIGURE_READS, NM_FIGURE_WRITES, NM_FIGURE_MISSES, NM_FIGURE_FALSE, NM_FIGURE_TAKES,
};
static const struct nm_column touch_places[] = {
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "field", .title = "field", .kind = NM_COLUMN_TEXT},
    NM_PLACE_COLUMNS("", "line", nm_compose_location),
};
static const struct nm_column touch_facts[] = {
    {.name = "type", .hidden = 1},
    {.name = "structure", .hidden = 1},
    {.name = "position", .hidden = 1},
};
static const struct nm_column toucher[] = {NM_OWN_PROCESS};
static const struct nm_figure_table touch_table = {
    .name = "sharing",
    .view = "sharing",
    .processes = toucher,
    .process_count = NM_COLUMNS_IN(toucher),
    .keys = touch_keys,
    .key_count = NM_COLUMNS_IN(touch_keys),
    .figures = touch_figures,
    .figure_count = NM_COLUMNS_IN(touch_figures),
    .behind = touch_places,
    .behind_count = NM_COLUMNS_IN(touch_places),
    .facts = touch_facts,
    .fact_count = NM_COLUMNS_IN(touch_facts),
    .ties = "offset, bytes, thread, file, line, function",
};

static const enum nm_figure_name taker_figures[] = {NM_FIGURE_TAKEN, NM_FIGURE_INTERVENTIONS};
static const struct nm_column taker_places[] = {
    {.name = "thread", .title = "by thread", .kind = NM_COLUMN_NUMBER},
    NM_PLACE_COLUMNS("", "at", nm_compose_location),
    {.name = "field", .title = "field", .kind = NM_COLUMN_TEXT, .drop_order = 2},
    {.name = "victim_thread", .title = "from thread", .kind = NM_COLUMN_NUMBER},
    NM_PLACE_COLUMNS("victim_", "loaded at", nm_compose_victim_location),
    {.name = "victim_field", .title = "field", .kind = NM_COLUMN_TEXT, .drop_order = 1},
};
static const struct nm_column pair[] = {NM_OWN_PROCESS, NM_VICTIM_PROCESS};
static const struct nm_figure_table taker_table = {
    .name = "takers",
    .view = "contenders",
    .processes = pair,
    .process_count = NM_COLUMNS_IN(pair),
    .figures = taker_figures,
    .figure_count = NM_COLUMNS_IN(taker_figures),
    .behind = taker_places,
    .behind_count = NM_COLUMNS_IN(taker_places),
    .having = "invalidations + interventions > 0",
    .sort = "invalidations",
    .ties = "interventions DESC, thread, file, line, field, victim_thread, victim_file, victim_line, "
	    "victim_field",
};

static const struct nm_column line_keys[] = {{.name = "process"}, {.name = "block"}};
static const enum nm_figure_name line_figures[] = {NM_FIGURE_MISSES, NM_FIGURE_FALSE, NM_FIGURE_TAKES,
						   NM_FIGURE_THREADS};
static const struct nm_figure_table line_table = {
    .name = "lines",
    .view = "sharing",
    .of_process = NM_TOUCHED_BY_PROCESS,
    .keys = line_keys,
    .key_count = NM_COLUMNS_IN(line_keys),
    .figures = line_figures,
    .figure_count = NM_COLUMNS_IN(line_figures),
    .having = "misses > 0",
    .sort = "false_misses",
    .ties = "misses DESC, process, block",
};

enum { TAKERS = 8 };

/* One contended line: row `row` of a table of lines. */
struct line {
	struct nm_table *table;
	size_t row;
	int64_t block;
};

/* Fills a table with the rows of one line. */
static int fill_line(struct nm_profile *profile, const struct nm_selection *selection,
		     const struct nm_figure_table *table, const struct line *l, int64_t limit,
		     struct nm_report_table *filled, struct nm_error *err)
{
	struct nm_selection chosen = *selection;
	char of_line[40];

	chosen.request.limit = limit;
	chosen.request.process = nm_table_named(l->table, l->row, "process")->text;
	snprintf(of_line, sizeof of_line, "block = %" PRId64, l->block);
	return nm_figures_fill(table, profile, &chosen, of_line, filled, err);
}

static int64_t line_figure(const struct line *l, const char *name)
{
	return nm_table_named(l->table, l->row, name)->integer;
}

static int64_t integer_or(const struct nm_value *v, int64_t otherwise)
{
	return v->type == NM_VALUE_INTEGER ? v->integer : otherwise;
}

static int print_repair(const struct nm_table *t, const struct line *l, int64_t bytes, FILE *out)
{
	struct nm_repair_touch *touches = calloc(t->row_count + 1, sizeof *touches);

	if (!touches)
		return NM_ENOMEM;
	for (size_t row = 0; row < t->row_count; row++)
		touches[row] =
		    (struct nm_repair_touch){.offset = (unsigned)nm_table_named(t, row, "offset")->integer,
					     .bytes = (unsigned)nm_table_named(t, row, "bytes")->integer,
					     .thread = nm_table_named(t, row, "thread")->integer,
					     .structure = integer_or(nm_table_named(t, row, "structure"), -1),
					     .position = integer_or(nm_table_named(t, row, "position"), -1),
					     .object = nm_table_named(t, row, "object")->text,
					     .type = nm_table_named(t, row, "type")->text,
					     .field = nm_table_named(t, row, "field")->text,
					     .reads = nm_table_named(t, row, "reads")->integer,
					     .writes = nm_table_named(t, row, "writes")->integer,
					     .false_misses = nm_table_named(t, row, "false_misses")->integer};
	nm_repair_print(touches, t->row_count, (unsigned)bytes, line_figure(l, "misses"),
			line_figure(l, "false_misses"), out);
	free(touches);
	return 0;
}

/* "1,234", or "1,234 (1,100..1,300)" if the orders of the threads differ. */
static void print_figure(const struct line *l, const char *name, FILE *out)
{
	char bound[32];
	const struct nm_value *min, *max;

	snprintf(bound, sizeof bound, "%s_min", name);
	min = nm_table_find(l->table, l->row, bound);
	snprintf(bound, sizeof bound, "%s_max", name);
	max = nm_table_find(l->table, l->row, bound);
	nm_print_grouped(line_figure(l, name), out);
	if (min->integer == max->integer)
		return;
	fputs(" (", out);
	nm_print_grouped(min->integer, out);
	fputs("..", out);
	nm_print_grouped(max->integer, out);
	fputs(")", out);
}

static void print_title(const struct line *l, FILE *out)
{
	fprintf(out, "Line 0x%" PRIx64 ": ", (uint64_t)l->block);
	print_figure(l, "misses", out);
	fputs(" coherence misses, ", out);
	print_figure(l, "false_misses", out);
	fputs(" of them false sharing; ", out);
	print_figure(l, "threads", out);
	fputs(" threads, ", out);
	print_figure(l, "invalidations", out);
	fputs(" copies taken", out);
}

/* Its title and its repair; malloc'ed. */
static int write_texts(const struct nm_table *touches, const struct line *l, int64_t bytes, char **ret_title,
		       char **ret_repair)
{
	FILE *out = nm_memstream_open(ret_title, NULL);
	int status;

	if (!out)
		return NM_ENOMEM;
	print_title(l, out);
	if (nm_memstream_close(out, ret_title))
		return NM_ENOMEM;
	out = nm_memstream_open(ret_repair, NULL);
	if (!out)
		return NM_ENOMEM;
	status = print_repair(touches, l, bytes, out);
	return nm_memstream_close(out, ret_repair) ? NM_ENOMEM : status;
}

static int print_line(struct nm_table *touches, struct nm_table *takers, const struct line *l, int64_t bytes,
		      const struct nm_style *style, FILE *out, struct nm_error *err)
{
	char *title = NULL, *repair = NULL;
	int status = write_texts(touches, l, bytes, &title, &repair);

	if (status) {
		nm_fail_memory(err);
	} else {
		nm_print_wrapped("", title, style->width, out);
		status = nm_table_show(touches, "sharing", NULL, style, out, err);
	}
	if (!status && takers->row_count) {
		fputs("\n", out);
		status = nm_table_show(takers, "sharing", NULL, style, out, err);
	}
	if (!status)
		nm_print_wrapped("", repair, style->width, out);
	fputs("\n", out);
	free(title);
	free(repair);
	return status;
}

/* {"block":..., its figures, "touches":[...],"takers":[...],"repair":TEXT} */
static int write_line(struct nm_table *touches, struct nm_table *takers, const struct line *l, int64_t bytes,
		      FILE *out, struct nm_error *err)
{
	static const char *const figures[] = {"block", "misses", "false_misses", "invalidations", "threads"};
	char *repair = NULL;
	FILE *text = nm_memstream_open(&repair, NULL);
	int status = text ? print_repair(touches, l, bytes, text) : NM_ENOMEM;

	if (text && nm_memstream_close(text, &repair))
		status = NM_ENOMEM;
	fputs("{\"process\":", out);
	nm_json_text(nm_table_named(l->table, l->row, "process")->text, out);
	for (unsigned i = 0; i < NM_COLUMNS_IN(figures); i++)
		fprintf(out, ",\"%s\":%" PRId64, figures[i], line_figure(l, figures[i]));
	fputs(",\"touches\":", out);
	status = status ? status : nm_table_json(touches, out);
	fputs(",\"takers\":", out);
	status = status ? status : nm_table_json(takers, out);
	fputs(",\"repair\":", out);
	nm_json_text(repair ? repair : "", out);
	fputs("}", out);
	free(repair);
	return status ? nm_fail_memory(err) : 0;
}

static int show_line(struct nm_profile *profile, struct nm_selection *selection, const struct line *l,
		     int64_t bytes, const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_report_table touches = {.table = {0}}, takers = {.table = {0}};
	int status = fill_line(profile, selection, &touch_table, l, 0, &touches, err);

	if (!status)
		status = fill_line(profile, selection, &taker_table, l, TAKERS, &takers, err);
	if (!status)
		status = style->format == NM_FORMAT_JSON
			     ? write_line(&touches.table, &takers.table, l, bytes, out, err)
			     : print_line(&touches.table, &takers.table, l, bytes, style, out, err);
	nm_report_table_done(&touches);
	nm_report_table_done(&takers);
	return status;
}

/* The document up to its rows: how many lines there are, and the sums of all. */
static void begin_document(const struct nm_table *lines, const char *level, FILE *out)
{
	int64_t misses = 0, false_misses = 0;

	for (size_t row = 0; row < lines->row_count; row++) {
		misses += nm_table_named(lines, row, "misses")->integer;
		false_misses += nm_table_named(lines, row, "false_misses")->integer;
	}
	nm_json_begin("sharing lines", out);
	fputs(",\"level\":", out);
	nm_json_text(level, out);
	fprintf(out, ",\"lines\":%zu,\"misses\":%" PRId64 ",\"false_misses\":%" PRId64 ",\"rows\":[",
		lines->row_count, misses, false_misses);
}

int nm_sharing_lines(struct nm_profile *profile, struct nm_selection *selection, int64_t bytes,
		     const struct nm_style *style, FILE *out, struct nm_error *err)
{
	const int is_json = style->format == NM_FORMAT_JSON;
	struct nm_selection all = *selection;
	struct nm_report_table lines = {.table = {0}};
	size_t shown;
	int status;

	if (is_json)
		all.request.limit = 0;
	status = nm_figures_fill(&line_table, profile, &all, NULL, &lines, err);
	shown = lines.table.row_count;
	if (is_json && !status)
		begin_document(&lines.table, selection->request.level, out);
	if (is_json && shown > (size_t)selection->request.limit)
		shown = (size_t)selection->request.limit;
	for (size_t row = 0; row < shown && !status; row++) {
		const struct line l = {&lines.table, row,
				       nm_table_named(&lines.table, row, "block")->integer};

		fputs(is_json && row ? "," : "", out);
		status = show_line(profile, selection, &l, bytes, style, out, err);
	}
	if (is_json)
		fputs("]}\n", out);
	else if (!status && !lines.table.row_count)
		fputs("No core lost a line that another one wrote to and missed it again.\n", out);
	nm_report_table_done(&lines);
	return status;
}
