/* SPDX-License-Identifier: MIT
 *
 * show.c - writes an annotation as text, CSV or JSON.
 *
 * Text is for people: of each file a line about it, its functions, then figures beside lines, with a mark
 * where lines were left out. Colours tell the share of the selection: red from HOT percent on, yellow from
 * WARM. CSV is the lines of all files in one table; JSON holds everything.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "annotate_priv.h"
#include "text.h"

enum { HOT = 10, WARM = 1, GAP = 2, WIDEST_OBJECT = 28 };

/* The columns that text shows before the source: figures, perhaps the object, the line's number. */
struct margin {
	unsigned column[NM_MAX_CHOSEN + 2];
	size_t width[NM_MAX_CHOSEN + 2];
	unsigned count;
	char **cells; /* [row × count] */
};

static int is_left(const struct nm_column *column)
{
	return column->kind == NM_COLUMN_TEXT || column->kind == NM_COLUMN_NAME;
}

static char *cell_text(struct nm_table *table, size_t row, unsigned column, const struct nm_style *style)
{
	int is_object = table->columns[column].kind == NM_COLUMN_NAME;
	char *text, *shorter;

	if (!table->columns[column].compose && nm_table_at(table, row, column)->type == NM_VALUE_NULL)
		return strdup("");
	text = nm_table_format(table, row, column);
	if (!text || !is_object || !style->width)
		return text;
	shorter = nm_shorten_name(text, WIDEST_OBJECT, style->ellipsis);
	free(text);
	return shorter;
}

static void margin_done(struct margin *margin, const struct nm_table *table)
{
	for (size_t i = 0; margin->cells && i < table->row_count * margin->count; i++)
		free(margin->cells[i]);
	free(margin->cells);
}

static int margin_fill(struct margin *margin, const struct nm_annotation *a, struct nm_table *table,
		       const struct nm_style *style)
{
	*margin = (struct margin){0};
	for (unsigned i = 0; i < a->chosen_count; i++)
		margin->column[margin->count++] = NM_LINE_SUMS + a->chosen[i];
	if (a->shows_object)
		margin->column[margin->count++] = nm_line_object();
	margin->column[margin->count++] = NM_LINE_NUMBER;
	margin->cells = calloc(table->row_count * margin->count + 1, sizeof *margin->cells);
	if (!margin->cells)
		return NM_ENOMEM;
	for (unsigned c = 0; c < margin->count; c++) {
		margin->width[c] = strlen(table->columns[margin->column[c]].title);
		for (size_t row = 0; row < table->row_count; row++) {
			char *text = cell_text(table, row, margin->column[c], style);

			margin->cells[row * margin->count + c] = text;
			if (!text)
				return NM_ENOMEM;
			if (nm_utf8_width(text) > margin->width[c])
				margin->width[c] = nm_utf8_width(text);
		}
	}
	return 0;
}

static size_t margin_width(const struct margin *margin)
{
	size_t width = 0;

	for (unsigned c = 0; c < margin->count; c++)
		width += margin->width[c] + GAP;
	return width;
}

/* The beginning of a line of source, as far as there is room behind what takes `before` columns. */
static void print_source(const char *source, size_t before, const struct nm_style *style, FILE *out)
{
	const size_t dots = nm_utf8_width(style->ellipsis);

	if (!style->width || before + nm_utf8_width(source) <= style->width)
		fputs(source, out);
	else if (before + dots <= style->width)
		fprintf(out, "%.*s%s", (int)nm_utf8_bytes(source, style->width - before - dots), source,
			style->ellipsis);
}

/* One line of text; no blanks at its end. */
static void print_row(const struct margin *margin, const struct nm_table *table, char *const *cells,
		      const char *colour, const char *source, const struct nm_style *style, FILE *out)
{
	size_t pending = 0;

	if (*colour)
		fputs(colour, out);
	for (unsigned c = 0; c < margin->count; c++) {
		const char *text = cells ? cells[c] : table->columns[margin->column[c]].title;
		size_t pad = margin->width[c] - nm_utf8_width(text);
		int left = is_left(&table->columns[margin->column[c]]);

		pending += left ? 0 : pad;
		if (*text)
			fprintf(out, "%*s%s", (int)pending, "", text);
		pending = (*text ? 0 : pending + nm_utf8_width(text)) + (left ? pad : 0) + GAP;
	}
	if (*colour)
		fputs("\033[m", out);
	if (source && *source) {
		fprintf(out, "%*s", (int)pending, "");
		print_source(source, margin_width(margin), style, out);
	}
	fputc('\n', out);
}

/* Before instructions, the line that they are from, if it is not that of the row before. */
static void print_origin(const struct margin *margin, const struct nm_table *table, size_t row,
			 const struct nm_style *style, FILE *out)
{
	unsigned first = nm_line_source();
	const char *file = nm_table_at(table, row, first + NM_ASM_FILE)->text, *slash, *text;
	int64_t line = nm_table_at(table, row, first + NM_ASM_LINE)->integer;
	size_t before;

	if (!file || !line)
		return;
	if (row && nm_table_at(table, row - 1, first + NM_ASM_FILE)->text == file &&
	    nm_table_at(table, row - 1, first + NM_ASM_LINE)->integer == line)
		return;
	slash = strrchr(file, '/');
	text = nm_table_at(table, row, first + NM_ASM_SOURCE)->text;
	text = text ? text + strspn(text, " ") : "";
	fprintf(out, "%*s%s", (int)margin_width(margin), "", style->colour ? "\033[34m" : "");
	before = margin_width(margin) +
		 (size_t)fprintf(out, "%s:%" PRId64 "%s", slash ? slash + 1 : file, line, *text ? "  " : "");
	print_source(text, before, style, out);
	fprintf(out, "%s\n", style->colour ? "\033[m" : "");
}

/* Where lines or instructions were left out: how many, if that is known. */
static void print_gap(const struct margin *margin, int64_t count, const char *what, FILE *out)
{
	size_t indent = margin_width(margin);

	if (what)
		fprintf(out, "%*s-- %" PRId64 " %s%s --\n", (int)indent, "", count, what,
			count == 1 ? "" : "s");
	else
		fprintf(out, "%*s--\n", (int)indent, "");
}

static const char *heat_colour(const struct nm_annotation *a, const struct nm_table *table, size_t row,
			       const struct nm_style *style)
{
	unsigned sort = 0;
	double share;
	int64_t whole;

	if (!style->colour || nm_table_at(table, row, NM_LINE_SUMS)->type == NM_VALUE_NULL)
		return "";
	while (nm_sum_column_at(sort) != a->sort)
		sort++;
	whole = nm_sum_column_weight(a->sort, &a->whole.sum);
	if (!a->sort->real && a->sort->unit != NM_METRIC_TEXT)
		share = whole ? 100.0 * (double)nm_table_at(table, row, NM_LINE_SUMS + sort)->integer /
				    (double)whole
			      : 0;
	else
		share = nm_table_named(table, row, "share")->real;
	return share >= HOT ? "\033[1;31m" : share >= WARM ? "\033[33m" : "";
}

static int print_lines(const struct nm_annotation *a, struct nm_section *section,
		       const struct nm_style *style, FILE *out)
{
	struct nm_table *table = &section->lines;
	const char *what = !section->module ? "line" : section->function ? "instruction" : NULL;
	struct margin margin;
	int64_t last = 0;
	int status = margin_fill(&margin, a, table, style);

	if (!status && table->row_count)
		print_row(&margin, table, NULL, style->colour ? "\033[1m" : "", NULL, style, out);
	for (size_t row = 0; row < table->row_count && !status; row++) {
		int64_t number = section->numbers.at[row];

		if (number > last + 1 && last)
			print_gap(&margin, number - last - 1, what, out);
		last = number;
		if (section->module)
			print_origin(&margin, table, row, style, out);
		print_row(&margin, table, &margin.cells[row * margin.count],
			  heat_colour(a, table, row, style), nm_table_at(table, row, nm_line_source())->text,
			  style, out);
	}
	margin_done(&margin, table);
	return status;
}

static int64_t function_misses(const struct nm_metric_sums *f) { return f->read_misses + f->write_misses; }

enum { SHARE_ROOM = 2 * NM_GROUPED_ROOM + 64 };

/* "62,500 misses of L1d (97.3 % of 64,224)". */
static const char *share_text(const struct nm_annotation *a, const struct nm_metric_sums *part,
			      char text[SHARE_ROOM])
{
	const int64_t all = function_misses(&a->whole.sum), own = function_misses(part);
	char misses[NM_GROUPED_ROOM], whole[NM_GROUPED_ROOM];

	nm_format_grouped(own, misses);
	nm_format_grouped(all, whole);
	snprintf(text, SHARE_ROOM, "%s miss%s of %s (%.1f %% of %s)", misses, own == 1 ? "" : "es", a->level,
		 all ? 100.0 * (double)own / (double)all : 0.0, whole);
	return text;
}

/* What the section is of, and its misses. */
static int show_heading(const struct nm_annotation *a, const struct nm_section *section,
			const struct nm_style *style, FILE *out)
{
	char share[SHARE_ROOM];

	return nm_print_sentence(
	    "", style->width, out, "%s%s%s%s%s%s: %s%s%s", style->colour ? "\033[1m" : "",
	    section->module && !section->function ? "code without symbols in " : "",
	    section->function ? section->function : "", section->function ? " in " : "",
	    section->module ? section->module : section->file, style->colour ? "\033[m" : "",
	    share_text(a, &section->sum, share), a->request->object ? " on " : "",
	    a->request->object ? a->request->object : "");
}

static int show_section(const struct nm_annotation *a, struct nm_section *section,
			const struct nm_style *style, FILE *out)
{
	int status = show_heading(a, section, style, out);

	if (section->source && strcmp(section->source, section->file))
		fprintf(out, "source: %s\n", section->source);
	if (section->note)
		nm_print_wrapped("note: ", section->note, style->width, out);
	if (section->functions.row_count && !status) {
		fputc('\n', out);
		status = nm_table_text(&section->functions, style, out);
	}
	if (section->lines.row_count && !status) {
		fputc('\n', out);
		status = print_lines(a, section, style, out);
	}
	return status;
}

static int show_text(struct nm_annotation *a, const struct nm_style *style, FILE *out)
{
	char share[SHARE_ROOM];
	const char *blank = "";
	int status = 0;

	for (size_t i = 0; i < a->sections.count && !status; i++) {
		fputs(blank, out);
		status = show_section(a, &a->sections.at[i], style, out);
		blank = "\n";
	}
	if (a->left_out && !status) {
		fputs(blank, out);
		status =
		    nm_print_sentence("", style->width, out, "%zu %s%s below the threshold: %s", a->left_out,
				      a->request->assembly ? "function" : "file", a->left_out == 1 ? "" : "s",
				      share_text(a, &a->left_out_sum, share));
		blank = "";
	}
	if (!a->request->name_count && function_misses(&a->unplaced))
		fprintf(out, "%scode without lines: %s\n", blank, share_text(a, &a->unplaced, share));
	return status;
}

static int show_csv(const struct nm_annotation *a, FILE *out)
{
	struct nm_table head = {.columns = a->line_columns.at,
				.column_count = (unsigned)a->line_columns.count};
	int status = nm_table_csv(&head, out);

	for (size_t i = 0; i < a->sections.count; i++)
		nm_table_csv_rows(&a->sections.at[i].lines, out);
	return status;
}

static int json_member(const char *name, const char *text, FILE *out)
{
	fprintf(out, ",\"%s\":", name);
	if (text)
		return nm_json_text(text, out);
	fputs("null", out);
	return 0;
}

static int json_section(const struct nm_section *section, FILE *out)
{
	int status;

	fputs(section->module ? "{\"module\":" : "{\"file\":", out);
	status = nm_json_text(section->module ? section->module : section->file, out);
	if (!status)
		status = json_member("function", section->function, out);
	if (!status && !section->module)
		status = json_member("source", section->source, out);
	if (!status)
		status = json_member("note", section->note, out);
	fprintf(out, ",\"misses\":%" PRId64, function_misses(&section->sum));
	if (!section->module) {
		fputs(",\"functions\":", out);
		if (!status)
			status = nm_table_json(&section->functions, out);
	}
	fputs(section->module ? ",\"instructions\":" : ",\"lines\":", out);
	if (!status)
		status = nm_table_json(&section->lines, out);
	fputc('}', out);
	return status;
}

static int show_json(const struct nm_annotation *a, FILE *out)
{
	int status = 0;

	nm_json_begin("annotate", out);
	status = json_member("level", a->level, out);
	if (!status)
		status = json_member("object", a->request->object, out);
	fprintf(out, ",\"misses\":%" PRId64 ",\"left_out\":%" PRId64 ",\"without_lines\":%" PRId64,
		function_misses(&a->whole.sum), function_misses(&a->left_out_sum),
		function_misses(&a->unplaced));
	fputs(a->request->assembly ? ",\"functions\":[" : ",\"files\":[", out);
	for (size_t i = 0; i < a->sections.count && !status; i++) {
		fputs(i ? ",\n" : "\n", out);
		status = json_section(&a->sections.at[i], out);
	}
	fputs("\n]}\n", out);
	return status;
}

int nm_annotation_show(struct nm_annotation *a, const struct nm_style *style, FILE *out)
{
	switch (style->format) {
	case NM_FORMAT_CSV: return show_csv(a, out);
	case NM_FORMAT_JSON: return show_json(a, out);
	default: return show_text(a, style, out);
	}
}
