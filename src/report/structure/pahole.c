/* SPDX-License-Identifier: MIT
 *
 * pahole.c - a structure in the shape of pahole: declarations with offsets and sizes, holes and the boundaries of
 * cache lines as comments. Further figures stand in the comment of a field.
 *
 * Lines are counted from the structure's beginning, as pahole does. The fields "cells[].x", "cells[].y" of an array
 * lie between each other, so only what is left of the array's bytes and of those behind it is known.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "structure.h"

enum { TYPE_WIDTH = 26, DECLARED = 48, MOST_DECLARED = 72, NAMED = 4 };

/* A card that is being printed. */
struct card {
	const struct nm_structure *of;
	const char *columns[3 + NM_REPORT_LEVELS]; /* behind the size: names, and their titles */
	const char *titles[3 + NM_REPORT_LEVELS];
	int widths[3 + NM_REPORT_LEVELS];
	unsigned column_count;
	int declared; /* columns of a declaration */
	FILE *out;
	int64_t end;  /* of the bytes so far */
	int64_t line; /* in which the last field begins */
	int64_t members, holes, hole_bytes, member_bytes;
};

static int64_t number(const struct card *c, size_t row, const char *column)
{
	return nm_structure_number(c->of, row, column);
}

static const char *text(const struct card *c, size_t row, const char *column)
{
	return nm_table_named(&c->of->all->filled.table, row, column)->text;
}

/* "1,234", or "?" */
static int write_figure(int64_t value, char room[NM_GROUPED_ROOM])
{
	if (value >= 0)
		return nm_format_grouped(value, room);
	strcpy(room, "?");
	return 1;
}

/* ---- the form ---- */

static int add_column(struct card *c, const char *column, const char *title)
{
	char figure[NM_GROUPED_ROOM];
	int width = (int)strlen(title);

	for (size_t row = c->of->first; row < c->of->end; row++) {
		const int n = write_figure(number(c, row, column), figure);

		width = n > width ? n : width;
	}
	c->columns[c->column_count] = column;
	c->titles[c->column_count] = title;
	return c->widths[c->column_count++] = width;
}

/* 0 or NM_ENOMEM. */
static int choose_form(struct card *c)
{
	const struct nm_structures *all = c->of->all;

	add_column(c, "loads", "loads");
	add_column(c, "stores", "stores");
	for (unsigned i = 0; i < all->level_count; i++)
		add_column(c, all->levels[i].misses, all->levels[i].title);
	add_column(c, "threads", "threads");
	c->declared = DECLARED;
	for (size_t row = c->of->first; row < c->of->end; row++) {
		char *declaration = nm_structure_declaration(c->of, row, TYPE_WIDTH);
		int n = declaration ? (int)nm_utf8_width(declaration) + 1 : 0;

		if (!declaration)
			return NM_ENOMEM;
		c->declared = n > c->declared && n <= MOST_DECLARED ? n : c->declared;
		free(declaration);
	}
	return 0;
}

static void print_head(const struct card *c)
{
	const char *name = c->of->name;
	int n = fprintf(c->out, "%s%s {", strncmp(name, "struct ", 7) ? "struct " : "", name);

	fprintf(c->out, "%*s /* offset  size", n < 8 + c->declared ? 8 + c->declared - n : 0, "");
	for (unsigned i = 0; i < c->column_count; i++)
		fprintf(c->out, "  %*s", c->widths[i], c->titles[i]);
	fputs(" */\n", c->out);
}

/* ---- members ---- */

static int print_member(const struct card *c, size_t row)
{
	char *declaration = nm_structure_declaration(c->of, row, TYPE_WIDTH), figure[NM_GROUPED_ROOM];
	const char *use = text(c, row, "use");
	int n;

	if (!declaration)
		return NM_ENOMEM;
	n = (int)nm_utf8_width(declaration) + 1;
	fprintf(c->out, "\t%s;%*s /* %6" PRId64 " %5" PRId64, declaration,
		n < c->declared ? c->declared - n : 0, "", number(c, row, "offset"), number(c, row, "bytes"));
	for (unsigned i = 0; i < c->column_count; i++) {
		write_figure(number(c, row, c->columns[i]), figure);
		fprintf(c->out, "  %*s", c->widths[i], figure);
	}
	fprintf(c->out, "%s%s */\n", use ? "  " : "", use ? use : "");
	free(declaration);
	return 0;
}

/* The length of "cells[]" in "cells[].x", or 0. */
static size_t array_of(const char *field)
{
	const char *brackets = strstr(field, "[].");

	return brackets ? (size_t)(brackets - field) + 2 : 0;
}

/* Bytes up to `offset` that are no field's. array: the field before it, if that is in an array. */
static void print_hole(struct card *c, int64_t offset, const char *array)
{
	const int64_t bytes = offset - c->end;

	if (bytes <= 0)
		return;
	c->holes++;
	c->hole_bytes += bytes;
	if (array)
		fprintf(c->out, "\n\t/* XXX %" PRId64 " byte%s of holes in and behind %.*s */\n\n", bytes,
			bytes == 1 ? "" : "s", (int)array_of(array), array);
	else
		fprintf(c->out, "\n\t/* XXX %" PRId64 " byte%s hole, try to pack */\n\n", bytes,
			bytes == 1 ? "" : "s");
}

/* ---- lines ---- */

static int is_in_line(const struct card *c, size_t row, int64_t line)
{
	const int64_t bytes = c->of->all->line_size, offset = number(c, row, "offset");

	return offset < (line + 1) * bytes && offset + number(c, row, "bytes") > line * bytes;
}

/* Prints the fields of a line with this use by commas; their number. */
static int list_fields(const struct card *c, int64_t line, const char *use, FILE *out)
{
	int n = 0;

	for (size_t row = c->of->first; row < c->of->end; row++) {
		const char *found = text(c, row, "use");

		if (!found || strcmp(found, use) != 0 || !is_in_line(c, row, line))
			continue;
		if (out && n <= NAMED)
			fprintf(out, "%s%s", n ? ", " : "", n < NAMED ? text(c, row, "field") : "...");
		n++;
	}
	return n;
}

static int64_t coherence_misses(const struct card *c, int64_t line)
{
	int64_t sum = 0;

	for (size_t row = c->of->first; row < c->of->end; row++)
		if (is_in_line(c, row, line) && number(c, row, "coherence") > 0)
			sum = nm_sum_bounded(sum, number(c, row, "coherence"));
	return sum;
}

/* Behind the fields of the current line, if it mixes uses. A line in which no field begins has one field. */
static void print_mixture(const struct card *c)
{
	const int64_t line = c->line, coherence = coherence_misses(c, line);
	char figure[NM_GROUPED_ROOM];

	if (!list_fields(c, line, NM_USE_READ, NULL) || !list_fields(c, line, NM_USE_WRITTEN, NULL))
		return;
	fprintf(c->out, "\n\t/* XXX cacheline %" PRId64 " mixes " NM_USE_READ " (", line);
	list_fields(c, line, NM_USE_READ, c->out);
	fputs(") and " NM_USE_WRITTEN " (", c->out);
	list_fields(c, line, NM_USE_WRITTEN, c->out);
	fputs(")", c->out);
	if (coherence) {
		nm_format_grouped(coherence, figure);
		fprintf(c->out, ": %s coherence miss%s", figure, coherence == 1 ? "" : "es");
	}
	fputs(" */\n", c->out);
}

static void begin_lines(struct card *c, int64_t offset)
{
	const int64_t bytes = c->of->all->line_size, line = offset / bytes;

	print_mixture(c);
	c->line = line;
	fprintf(c->out, "\t/* --- cacheline %" PRId64 " boundary (%" PRId64 " bytes)", line, line * bytes);
	if (offset % bytes)
		fprintf(c->out, " was %" PRId64 " byte%s ago", offset % bytes,
			offset % bytes == 1 ? "" : "s");
	fputs(" --- */\n", c->out);
}

/* ---- the whole ---- */

static int print_members(struct card *c)
{
	const char *array = NULL; /* the last field, if it is in one */
	int status = 0;

	for (size_t row = c->of->first; row < c->of->end && !status; row++) {
		const char *field = text(c, row, "field");
		const int64_t offset = number(c, row, "offset"), bytes = number(c, row, "bytes");
		const size_t n = array_of(field);
		const int goes_on = array && n && n == array_of(array) && !strncmp(array, field, n);

		if (!goes_on)
			print_hole(c, offset, array);
		if (offset / c->of->all->line_size > c->line)
			begin_lines(c, offset);
		status = print_member(c, row);
		c->end = goes_on ? c->end + bytes : offset + bytes;
		c->members++;
		c->member_bytes += bytes;
		array = n ? field : NULL;
	}
	return status;
}

/* What no comment of C may hold is taken apart. */
static void print_in_comment(const char *text, FILE *out)
{
	for (; *text; text++) {
		fputc(*text, out);
		if (text[0] == '*' && text[1] == '/')
			fputc(' ', out);
	}
}

static void print_foot(struct card *c)
{
	const int64_t bytes = c->of->bytes, line = c->of->all->line_size;

	print_mixture(c);
	fprintf(c->out, "\n\t/* size: %" PRId64 ", cachelines: %" PRId64 ", members: %" PRId64 " */\n", bytes,
		(bytes + line - 1) / line, c->members);
	if (c->holes)
		fprintf(c->out,
			"\t/* sum members: %" PRId64 ", holes: %" PRId64 ", sum holes: %" PRId64 " */\n",
			c->member_bytes, c->holes, c->hole_bytes);
	if (bytes > c->end)
		fprintf(c->out, "\t/* padding: %" PRId64 " */\n", bytes - c->end);
	if (bytes % line)
		fprintf(c->out, "\t/* last cacheline: %" PRId64 " bytes */\n", bytes % line);
	fputs("\t/* nearmiss: ", c->out);
	print_in_comment(c->of->all->recorded, c->out);
	fputs(" */\n};\n", c->out);
}

int nm_structure_pahole(const struct nm_structure *structure, FILE *out)
{
	struct card c = {.of = structure, .out = out};

	if (choose_form(&c))
		return NM_ENOMEM;
	print_head(&c);
	if (print_members(&c))
		return NM_ENOMEM;
	print_foot(&c);
	return 0;
}
