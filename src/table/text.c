/* SPDX-License-Identifier: MIT
 *
 * text.c - a table for people: aligned columns that fit the width.
 *
 * Numbers get the width that they need. Names and places share the rest: each gets the width that it needs
 * or an equal part, whichever is less. If that part is less than ENOUGH, the column with the highest
 * drop_order is dropped. When no column may be dropped any more, names get less; if less than LEAST, other texts are
 * shortened too, and then the last columns go that neither tell rows apart nor sort them. Names that differ are
 * shown differently, and rows whose visible names are all the same get a number.
 */
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "distinct.h"
#include "memstream.h"
#include "table.h"

enum { GAP = 2, ENOUGH = 24, LEAST = 12 };

struct layout {
	struct nm_table *table;
	const struct nm_style *style;
	char **cells;    /* row by row; the title row first */
	unsigned *width; /* of each column; 0: left out */
	char *shown;
	char *right;        /* aligned right */
	int shortens_texts; /* not names alone */
	unsigned lost;      /* columns left out though they have no drop_order */
};

static int is_name(const struct nm_column *column)
{
	return column->kind == NM_COLUMN_NAME || column->kind == NM_COLUMN_LOCATION;
}

/* Whether a column is aligned right: one in which every value is a number. */
static int is_right_aligned(const struct nm_table *table, unsigned column)
{
	if (table->columns[column].kind == NM_COLUMN_RIGHT)
		return 1;
	if (is_name(&table->columns[column]) || table->columns[column].kind == NM_COLUMN_TEXT)
		return 0;
	if (table->columns[column].kind != NM_COLUMN_PLAIN)
		return 1;
	for (size_t row = 0; row < table->row_count; row++)
		if (nm_table_at(table, row, column)->type == NM_VALUE_TEXT)
			return 0;
	return table->row_count > 0 && !table->columns[column].compose;
}

/* Shown, and may be shortened. */
static int is_flexible(const struct layout *layout, unsigned column)
{
	return layout->shown[column] && (is_name(&layout->table->columns[column]) ||
					 (layout->shortens_texts && !layout->right[column]));
}

int nm_format_grouped(int64_t value, char text[NM_GROUPED_ROOM])
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%" PRId64, value), to = 0;

	for (int i = 0; i < n; i++) {
		text[to++] = digits[i];
		if (digits[i] != '-' && i + 1 < n && (n - i - 1) % 3 == 0)
			text[to++] = ',';
	}
	text[to] = '\0';
	return to;
}

void nm_print_grouped(int64_t value, FILE *out)
{
	char text[NM_GROUPED_ROOM];

	nm_format_grouped(value, text);
	fputs(text, out);
}

static char *bytes_text(int64_t value)
{
	static const char suffix[] = "\0KMGT";
	unsigned i = 0;
	char *text;

	while (value && value % 1024 == 0 && i < 4) {
		value /= 1024;
		i++;
	}
	if (asprintf(&text, i ? "%" PRId64 "%c" : "%" PRId64, value, suffix[i]) < 0)
		return NULL;
	return text;
}

static char *format_value(const struct nm_column *column, const struct nm_value *value)
{
	char digits[NM_GROUPED_ROOM], *text;
	int n = 0;

	if (value->type == NM_VALUE_NULL)
		return strdup(column->kind == NM_COLUMN_NAME ? "-" : "");
	if (value->type == NM_VALUE_TEXT)
		return strdup(value->text);
	if (column->kind == NM_COLUMN_REAL)
		n = asprintf(&text, "%.*f", (int)column->decimals, value->real);
	else if (value->type == NM_VALUE_REAL)
		n = asprintf(&text, "%.10g", value->real);
	else if (column->kind == NM_COLUMN_NUMBER) {
		nm_format_grouped(value->integer, digits);
		return strdup(digits);
	} else if (column->kind == NM_COLUMN_BYTES)
		return bytes_text(value->integer);
	else
		n = asprintf(&text, "%" PRId64, value->integer);
	return n < 0 ? NULL : text;
}

char *nm_table_format(struct nm_table *table, size_t row, unsigned column)
{
	const char *text;

	assert(row < table->row_count && column < table->column_count);
	if (!table->columns[column].compose)
		return format_value(&table->columns[column], nm_table_at(table, row, column));
	text = table->columns[column].compose(table, row);
	return table->is_exhausted ? NULL : strdup(text ? text : "");
}

static char **cell_text(const struct layout *layout, size_t line, unsigned column)
{
	return &layout->cells[line * layout->table->column_count + column];
}

static int fill_cells(struct layout *layout)
{
	struct nm_table *table = layout->table;
	unsigned i;
	size_t row;

	for (i = 0; i < table->column_count; i++) {
		const struct nm_column *column = &table->columns[i];

		layout->shown[i] = column->title && !column->hidden;
		if (!layout->shown[i])
			continue;
		*cell_text(layout, 0, i) = strdup(column->title);
		for (row = 0; row < table->row_count; row++) {
			char **to = cell_text(layout, row + 1, i);

			*to = nm_table_format(table, row, i);
			if (!*to)
				return NM_ENOMEM;
		}
		if (!*cell_text(layout, 0, i))
			return NM_ENOMEM;
	}
	return 0;
}

static void natural_widths(struct layout *layout)
{
	unsigned i;
	size_t line;

	for (i = 0; i < layout->table->column_count; i++) {
		layout->width[i] = 0;
		for (line = 0; layout->shown[i] && line <= layout->table->row_count; line++) {
			size_t n = nm_utf8_width(*cell_text(layout, line, i));

			if (n > layout->width[i])
				layout->width[i] = (unsigned)n;
		}
	}
}

/* Columns left for the flexible ones, and how many these are. */
static long flexible_room(const struct layout *layout, unsigned *ret_flexible)
{
	long left = (long)layout->style->width + GAP;
	unsigned i;

	*ret_flexible = 0;
	for (i = 0; i < layout->table->column_count; i++) {
		if (!layout->shown[i])
			continue;
		left -= GAP;
		if (is_flexible(layout, i))
			++*ret_flexible;
		else
			left -= layout->width[i];
	}
	return left;
}

/* Gives each flexible column its need or an equal part of what those that need less leave over. */
static void share_room(struct layout *layout, long left, unsigned count)
{
	char given[64] = {0};
	unsigned i, n = layout->table->column_count < 64 ? layout->table->column_count : 64, changed;

	do {
		changed = 0;
		for (i = 0; i < n && count; i++) {
			if (given[i] || !is_flexible(layout, i) ||
			    (long)layout->width[i] * (long)count > left)
				continue;
			given[i] = 1;
			left -= layout->width[i];
			count--;
			changed++;
		}
	} while (changed);
	for (i = 0; i < n && count; i++) {
		long part = left / (long)count;

		if (given[i] || !is_flexible(layout, i))
			continue;
		layout->width[i] = (unsigned)(part > LEAST ? part : LEAST);
		left -= part;
		count--;
	}
}

/* What the flexible columns take if each gets at most so much. */
static long wanted_width(const struct layout *layout, unsigned most)
{
	long sum = 0;
	unsigned i;

	for (i = 0; i < layout->table->column_count; i++)
		if (is_flexible(layout, i))
			sum += layout->width[i] < most ? layout->width[i] : most;
	return sum;
}

/* Leaves out the most drop_order column; 0 if there is none. */
static int leave_one_out(struct layout *layout)
{
	unsigned i, worst = 0, at = 0;

	for (i = 0; i < layout->table->column_count; i++) {
		if (layout->shown[i] && layout->table->columns[i].drop_order > worst) {
			worst = layout->table->columns[i].drop_order;
			at = i;
		}
	}
	if (worst)
		layout->shown[at] = 0;
	return worst > 0;
}

/* Leaves out the last column that neither tells rows apart nor sorts them; 0 if there is none. */
static int leave_last_out(struct layout *layout)
{
	const struct nm_table *table = layout->table;

	for (unsigned i = table->column_count; i-- > (table->keys ? table->keys : 1);) {
		if (!layout->shown[i] || table->columns[i].sorts)
			continue;
		layout->shown[i] = 0;
		layout->lost++;
		return 1;
	}
	return 0;
}

/* Shortens a column's cells to its width. */
static int shorten_column(struct layout *layout, unsigned column, struct nm_distinct *distinct)
{
	nm_shorten_function *shorten =
	    layout->table->columns[column].kind == NM_COLUMN_LOCATION ? nm_shorten_location : nm_shorten_name;
	char **title = cell_text(layout, 0, column);
	char *short_title = nm_shorten_name(*title, layout->width[column], layout->style->ellipsis);
	size_t widest = short_title ? nm_utf8_width(short_title) : 0;

	if (!short_title)
		return NM_ENOMEM;
	free(*title);
	*title = short_title;
	for (size_t line = 1; line <= layout->table->row_count; line++) {
		char **at = cell_text(layout, line, column);
		const char *shown =
		    nm_distinct_name(distinct, shorten, *at, layout->width[column], layout->style->ellipsis);
		char *text = shown ? strdup(shown) : NULL;

		if (!text)
			return NM_ENOMEM;
		free(*at);
		*at = text;
		if (nm_utf8_width(text) > widest)
			widest = nm_utf8_width(text);
	}
	layout->width[column] = (unsigned)widest;
	return 0;
}

static int shorten_cells(struct layout *layout)
{
	int status = 0;

	for (unsigned i = 0; i < layout->table->column_count && !status; i++) {
		struct nm_distinct distinct = {0};

		if (is_flexible(layout, i))
			status = shorten_column(layout, i, &distinct);
		nm_distinct_done(&distinct);
	}
	return status;
}

static int fit_width(struct layout *layout)
{
	unsigned count;
	long left;

	natural_widths(layout);
	if (!layout->style->width)
		return 0;
	while ((left = flexible_room(layout, &count)) < wanted_width(layout, ENOUGH) && leave_one_out(layout))
		;
	layout->shortens_texts = left < wanted_width(layout, LEAST);
	while ((left = flexible_room(layout, &count)) < wanted_width(layout, LEAST) && leave_last_out(layout))
		;
	share_room(layout, left, count);
	return shorten_cells(layout);
}

/* The width of a column and what the line has left. */
static size_t column_room(const struct layout *layout, unsigned column)
{
	unsigned count;
	const long left = flexible_room(layout, &count) - wanted_width(layout, UINT_MAX);

	return layout->width[column] + (left > 0 ? (size_t)left : 0);
}

/* "x.c:7 (f) #2" in the first name of a row. */
static int put_number(struct layout *layout, size_t line, uint64_t number)
{
	unsigned column = 0;
	char **at, *text, *marked, mark[32];
	size_t n, room;

	while (column < layout->table->keys &&
	       (!layout->shown[column] || !is_name(&layout->table->columns[column])))
		column++;
	if (column == layout->table->keys)
		return 0;
	at = cell_text(layout, line, column);
	n = (size_t)snprintf(mark, sizeof mark, " #%" PRIu64, number);
	room = column_room(layout, column);
	if (layout->style->width && nm_utf8_width(*at) + n > room && room > n)
		text = nm_shorten_name(*at, room - n, layout->style->ellipsis);
	else
		text = strdup(*at);
	if (!text || asprintf(&marked, "%s%s", text, mark) < 0)
		marked = NULL;
	free(text);
	if (!marked)
		return NM_ENOMEM;
	free(*at);
	*at = marked;
	if (nm_utf8_width(marked) > layout->width[column])
		layout->width[column] = (unsigned)nm_utf8_width(marked);
	return 0;
}

/* The keys of a row that are shown, as one text; malloc'ed. */
static char *shown_keys(const struct layout *layout, size_t line)
{
	char *text = NULL;
	FILE *out = nm_memstream_open(&text, NULL);

	if (!out)
		return NULL;
	for (unsigned i = 0; i < layout->table->keys; i++)
		if (layout->shown[i])
			fprintf(out, "%s\n", *cell_text(layout, line, i));
	return nm_memstream_close(out, &text) ? NULL : text;
}

static int tell_rows_apart(struct layout *layout)
{
	struct nm_strings pool = {0};
	struct nm_map seen = {0}; /* keys -> the rows that show them */
	int status = 0;

	for (size_t line = 1; line <= layout->table->row_count && layout->table->keys && !status; line++) {
		char *text = shown_keys(layout, line);
		const char *keys = text ? nm_intern(&pool, text) : NULL;
		uint64_t number = keys ? nm_map_get(&seen, (uintptr_t)keys, 0) + 1 : 0;

		if (!keys || nm_map_put(&seen, (uintptr_t)keys, number))
			status = NM_ENOMEM;
		else if (number > 1)
			status = put_number(layout, line, number);
		free(text);
	}
	nm_map_done(&seen);
	nm_strings_done(&pool);
	return status;
}

static void print_line(const struct layout *layout, size_t line, FILE *out)
{
	unsigned i, last = 0;
	int pending = 0; /* blanks due before the next text, so that no line ends in blanks */

	for (i = 0; i < layout->table->column_count; i++)
		if (layout->shown[i])
			last = i;
	for (i = 0; i <= last; i++) {
		const char *text = layout->shown[i] ? *cell_text(layout, line, i) : NULL;
		int pad;

		if (!text)
			continue;
		pad = (int)layout->width[i] - (int)nm_utf8_width(text);
		if (pad < 0)
			pad = 0;
		if (layout->right[i])
			pending += pad;
		if (*text)
			fprintf(out, "%*s%s", pending, "", text);
		pending = (*text ? 0 : pending) + (layout->right[i] ? 0 : pad) + GAP;
	}
	fputc('\n', out);
}

static void print_rows(const struct layout *layout, FILE *out)
{
	for (size_t line = 0; line <= layout->table->row_count; line++) {
		if (layout->style->colour && !line)
			fputs("\033[1m", out);
		print_line(layout, line, out);
		if (layout->style->colour && !line)
			fputs("\033[m", out);
	}
	if (layout->lost)
		fprintf(out, "(%u more column%s: --width=0 shows all)\n", layout->lost,
			layout->lost == 1 ? "" : "s");
}

int nm_table_text(struct nm_table *table, const struct nm_style *style, FILE *out)
{
	struct layout layout = {.table = table, .style = style};
	size_t count = (table->row_count + 1) * table->column_count, i;
	int status = NM_ENOMEM;

	layout.cells = calloc(count + 1, sizeof *layout.cells);
	layout.width = calloc(table->column_count + 1, sizeof *layout.width);
	layout.shown = calloc(table->column_count + 1, 1);
	layout.right = calloc(table->column_count + 1, 1);
	for (i = 0; layout.right && i < table->column_count; i++)
		layout.right[i] = (char)is_right_aligned(table, (unsigned)i);
	if (layout.cells && layout.width && layout.shown && layout.right && !fill_cells(&layout) &&
	    !fit_width(&layout) && !tell_rows_apart(&layout)) {
		print_rows(&layout, out);
		status = 0;
	}
	for (i = 0; layout.cells && i < count; i++)
		free(layout.cells[i]);
	free(layout.cells);
	free(layout.width);
	free(layout.shown);
	free(layout.right);
	return status;
}
