/* SPDX-License-Identifier: MIT
 *
 * curve_text.c - curves as a plot for terminals: braille dots in Unicode, digits where there is none.
 *
 * A cell of the terminal has 2 by 4 dots. Exact curves are solid, others dashed. So that a plot needs no
 * colours, each curve has a digit, which stands where the other curves are farthest away. Letters follow the
 * digits; objects are often named by one letter, but seldom more than nine are shown.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curve_priv.h"
#include "table.h"
#include "text.h"

enum {
	LEFT = 11, /* columns before the plot: a label, a blank, the axis */
	DOTS_X = 2,
	DOTS_Y = 4,
	LEAST_WIDTH = 20,
	USUAL_WIDTH = 100,
	COLUMNS_A_TICK = 8,
	CURVES = 26
};

static const char labels[CURVES + 1] = "123456789abcdefghijklmnopq";

struct cell {
	uint8_t dots;
	uint8_t curve; /* 1 + index of the curve that has dots here; 0: none */
	char label;
	uint8_t mark, knee;
};

struct canvas {
	struct nm_curves *curves;
	const struct nm_style *style;
	struct nm_axis x, y;
	unsigned width, height; /* cells */
	struct cell *cells;
	int unicode;
};

static const char *const colours[] = {"\033[34m", "\033[31m", "\033[32m", "\033[35m", "\033[36m", "\033[33m"};

static const char *colour_of(const struct canvas *c, const struct nm_curve *curve)
{
	return c->style->colour ? colours[curve->group % (sizeof colours / sizeof *colours)] : "";
}

static const char *without_colour(const struct canvas *c) { return c->style->colour ? "\033[m" : ""; }

static struct cell *cell_at(struct canvas *c, unsigned column, unsigned row)
{
	return &c->cells[row * c->width + column];
}

/* ---- drawing ---- */

static double size_at(const struct canvas *c, double dot)
{
	return c->x.low * pow(c->x.high / c->x.low, dot / (c->width * DOTS_X - 1));
}

static unsigned column_of(const struct canvas *c, double bytes)
{
	return (unsigned)lround(nm_axis_place(&c->x, bytes) * (c->width - 1));
}

/* How many dots below the top a ratio lies. */
static unsigned dot_row(const struct canvas *c, double ratio)
{
	return (unsigned)lround((1 - nm_axis_place(&c->y, ratio)) * (c->height * DOTS_Y - 1));
}

static void put_dot(struct canvas *c, unsigned x, unsigned y, unsigned curve)
{
	static const uint8_t bits[DOTS_Y][DOTS_X] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
	struct cell *cell = cell_at(c, x / DOTS_X, y / DOTS_Y);

	cell->dots |= bits[y % DOTS_Y][x % DOTS_X];
	if (!cell->curve)
		cell->curve = (uint8_t)(curve + 1);
}

static void draw_curve(struct canvas *c, unsigned index)
{
	enum { DASH = 4 };
	const struct nm_curve *curve = &c->curves->list.at[index];
	unsigned last = 0;

	assert(index < c->curves->list.count);
	for (unsigned x = 0; x < c->width * DOTS_X; x++) {
		const unsigned y = dot_row(c, nm_curve_at(curve, size_at(c, x)).ratio);
		const unsigned from = x && last < y ? last + 1 : y, to = x && last > y ? last - 1 : y;

		for (unsigned k = from; k <= to; k++)
			if (curve->exact || (x + k) % DASH < DASH / 2)
				put_dot(c, x, k, index);
		last = y;
	}
}

/* The distance to the nearest other curve, in dots. */
static unsigned distance_to_others(const struct canvas *c, unsigned index, double bytes)
{
	const unsigned mine = dot_row(c, nm_curve_at(&c->curves->list.at[index], bytes).ratio);
	unsigned least = c->height * DOTS_Y;

	assert(index < c->curves->list.count);
	for (unsigned i = 0; i < c->curves->list.count && i < CURVES; i++) {
		const unsigned other = dot_row(c, nm_curve_at(&c->curves->list.at[i], bytes).ratio);

		if (i != index && abs((int)other - (int)mine) < (int)least)
			least = (unsigned)abs((int)other - (int)mine);
	}
	return least;
}

static void put_label(struct canvas *c, unsigned index)
{
	unsigned best = 0, most = 0;

	assert(index < c->curves->list.count);
	for (unsigned column = 1; column + 1 < c->width; column++) {
		const double bytes = size_at(c, column * DOTS_X);
		const unsigned distance = 1 + distance_to_others(c, index, bytes);
		const unsigned row =
		    dot_row(c, nm_curve_at(&c->curves->list.at[index], bytes).ratio) / DOTS_Y;

		if (distance > most && !cell_at(c, column, row)->label && !cell_at(c, column, row)->knee) {
			most = distance;
			best = column;
		}
	}
	if (most) {
		const double ratio = nm_curve_at(&c->curves->list.at[index], size_at(c, best * DOTS_X)).ratio;
		struct cell *cell = cell_at(c, best, dot_row(c, ratio) / DOTS_Y);

		cell->label = labels[index];
		cell->curve = (uint8_t)(index + 1);
	}
}

static void put_knees(struct canvas *c)
{
	for (size_t i = 0; i < c->curves->knees.count; i++) {
		const struct nm_knee *knee = &c->curves->knees.at[i];
		const double ratio = nm_curve_at(knee->curve, knee->bytes).ratio;

		if (knee->bytes <= c->x.high)
			cell_at(c, column_of(c, knee->bytes), dot_row(c, ratio) / DOTS_Y)->knee = 1;
	}
}

static void put_marks(struct canvas *c, const struct nm_curve_request *request)
{
	for (size_t i = 0; i < request->mark_count; i++)
		for (unsigned row = 0; row < c->height; row++)
			if (request->marks[i].bytes >= c->x.low && request->marks[i].bytes <= c->x.high)
				cell_at(c, column_of(c, request->marks[i].bytes), row)->mark = 1;
}

/* ---- printing ---- */

static void print_braille(uint8_t dots, FILE *out)
{
	fprintf(out, "\xe2%c%c", 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));
}

static void print_cell(const struct canvas *c, const struct cell *cell, FILE *out)
{
	const char *colour = cell->curve ? colour_of(c, &c->curves->list.at[cell->curve - 1]) : "";

	if (cell->knee)
		fputs(c->unicode ? "\xe2\x97\x86" : "#", out); /* a diamond */
	else if (cell->label)
		fprintf(out, "%s%c%s", colour, cell->label, without_colour(c));
	else if (cell->dots && c->unicode)
		fputs(colour, out), print_braille(cell->dots, out), fputs(without_colour(c), out);
	else if (cell->dots)
		fputc(labels[cell->curve - 1], out);
	else if (cell->mark)
		fputs(c->unicode ? "\xe2\x94\x8a" : ":", out); /* a dotted line */
	else
		fputc(' ', out);
}

static int tick_row(const struct canvas *c, double ratio) { return (int)(dot_row(c, ratio) / DOTS_Y); }

static void print_row(struct canvas *c, unsigned row, FILE *out)
{
	char text[NM_TICK_TEXT] = "";
	unsigned last = 0;

	for (unsigned i = 0; i < c->y.ticks; i++)
		if (tick_row(c, c->y.tick[i]) == (int)row)
			nm_percent_text(c->y.tick[i], text);
	fprintf(out, "%*s %s", LEFT - 2, text, !c->unicode ? "|" : *text ? "\xe2\x94\xa4" : "\xe2\x94\x82");
	for (unsigned i = 0; i < c->width; i++) {
		const struct cell *cell = cell_at(c, i, row);

		if (cell->dots || cell->mark || cell->knee || cell->label)
			last = i + 1;
	}
	for (unsigned i = 0; i < last; i++)
		print_cell(c, cell_at(c, i, row), out);
	fputc('\n', out);
}

/* Writes a text around a column of a line, if all is blank there. Returns whether it did. */
static int put_text(char *line, unsigned width, unsigned column, const char *text)
{
	const unsigned n = (unsigned)strlen(text);
	unsigned from = column > n / 2 ? column - n / 2 : 0;

	if (from + n > width)
		from = width > n ? width - n : 0;
	for (unsigned i = from ? from - 1 : 0; i < from + n + 1 && i < width; i++)
		if (line[i] != ' ')
			return 0;
	if (n <= width)
		memcpy(line + from, text, n);
	return n <= width;
}

static void print_line(char *line, unsigned indent, FILE *out)
{
	size_t n = strlen(line);

	while (n && line[n - 1] == ' ')
		line[--n] = 0;
	if (n)
		fprintf(out, "%*s%s\n", (int)indent, "", line);
}

static void clear_line(char *line, unsigned width)
{
	memset(line, ' ', width);
	line[width] = 0;
}

static int print_size_axis(const struct canvas *c, FILE *out)
{
	char *line = malloc(c->width + 1), text[NM_TICK_TEXT];

	if (!line)
		return NM_ENOMEM;
	fprintf(out, "%*s", LEFT - 1, "");
	fputs(c->unicode ? "\xe2\x94\x94" : "+", out);
	for (unsigned i = 0; i < c->width; i++) {
		unsigned k;

		for (k = 0; k < c->x.ticks && column_of(c, c->x.tick[k]) != i; k++)
			;
		if (c->unicode)
			fputs(k < c->x.ticks ? "\xe2\x94\xac" : "\xe2\x94\x80", out);
		else
			fputc(k < c->x.ticks ? '+' : '-', out);
	}
	fputc('\n', out);
	clear_line(line, c->width);
	for (unsigned k = 0; k < c->x.ticks; k++) {
		nm_size_text(c->x.tick[k], text);
		put_text(line, c->width, column_of(c, c->x.tick[k]), text);
	}
	print_line(line, LEFT, out);
	free(line);
	return 0;
}

/* The names of marks, above their lines, in as many rows as they need. */
static int print_marks(const struct canvas *c, const struct nm_curve_request *request, FILE *out)
{
	char *line = malloc(c->width + 1), *done = calloc(request->mark_count + 1, 1);
	int more = 1;

	for (int rows = 0; line && done && more && rows < 8; rows++) {
		clear_line(line, c->width);
		more = 0;
		for (size_t i = 0; i < request->mark_count; i++) {
			const struct nm_curve_mark *mark = &request->marks[i];

			if (done[i] || mark->bytes < c->x.low || mark->bytes > c->x.high)
				continue;
			done[i] = (char)put_text(line, c->width, column_of(c, mark->bytes), mark->label);
			more |= !done[i];
		}
		print_line(line, LEFT, out);
	}
	free(line);
	free(done);
	return line && done ? 0 : NM_ENOMEM;
}

static int print_legend(const struct canvas *c, FILE *out)
{
	for (unsigned i = 0; i < c->curves->list.count && i < CURVES; i++) {
		const struct nm_curve *curve = &c->curves->list.at[i];
		const char *label = nm_curve_label(c->curves, curve);
		const size_t room = c->style->width > LEFT ? c->style->width - LEFT : 0;
		char cold[NM_TICK_TEXT],
		    *name =
			label ? nm_shorten_name(label, room > 60 ? room - 40 : 20, c->style->ellipsis) : NULL;

		if (!name)
			return NM_ENOMEM;
		nm_percent_text(curve->cold_ratio, cold);
		fprintf(out, "%*s%s%c%s  %s  (", LEFT, "", colour_of(c, curve), labels[i], without_colour(c),
			name);
		nm_print_grouped(curve->references ? curve->references : curve->samples, out);
		fprintf(out, " %s, %s cold)\n", curve->references ? "references" : "samples", cold);
		free(name);
	}
	if (c->curves->list.count > CURVES)
		fprintf(out, "%*sand %zu more: --limit shows fewer\n", LEFT, "",
			c->curves->list.count - CURVES);
	return 0;
}

static int print_knees(const struct canvas *c, FILE *out)
{
	const int several = c->curves->list.count > 1;
	char lead[LEFT + 16];
	int status = 0;

	for (size_t i = 0; i < c->curves->knees.count; i++) {
		const struct nm_knee *knee = &c->curves->knees.at[i];
		const size_t curve = (size_t)(knee->curve - c->curves->list.at);
		char size[NM_TICK_TEXT], before[NM_TICK_TEXT], after[NM_TICK_TEXT];

		if (curve >= CURVES)
			continue;
		nm_size_text(knee->bytes, size);
		nm_percent_text(knee->before, before);
		nm_percent_text(knee->after, after);
		snprintf(lead, sizeof lead, "%*s%s %.*s%s", LEFT, "", c->unicode ? "\xe2\x97\x86" : "#",
			 several, &labels[curve], several ? "  " : "");
		status |=
		    knee->object
			? nm_print_sentence(lead, c->style->width, out,
					    "%s: %s to %s; %s %s (%.0f %% of the fall)", size, before, after,
					    knee->object, knee->fits ? "fits" : "misses less",
					    100 * knee->share)
			: nm_print_sentence(lead, c->style->width, out, "%s: %s to %s", size, before, after);
	}
	return status;
}

static void choose_axes(struct canvas *c, const struct nm_curve_request *request)
{
	double least = 1, largest = 0;

	c->x = nm_size_axis(c->curves->from, c->curves->to, c->width / COLUMNS_A_TICK + 1);
	for (size_t i = 0; i < c->curves->list.count; i++)
		for (unsigned x = 0; x < c->width * DOTS_X; x++) {
			const double ratio = nm_curve_at(&c->curves->list.at[i], size_at(c, x)).ratio;

			largest = fmax(largest, ratio);
			if (ratio > 0)
				least = fmin(least, ratio);
		}
	c->y = nm_ratio_axis(least, largest, request->log_ratio);
}

static int print_canvas(struct canvas *c, const struct nm_curve_request *request, FILE *out)
{
	const char *title = nm_curve_title(c->curves, request);
	char lead[LEFT + 1];

	if (!title)
		return NM_ENOMEM;
	snprintf(lead, sizeof lead, "%*s", LEFT, "");
	fprintf(out, "%s%s%s\n\n", c->style->colour ? "\033[1m" : "", title, without_colour(c));
	if (print_marks(c, request, out))
		return NM_ENOMEM;
	for (unsigned row = 0; row < c->height; row++)
		print_row(c, row, out);
	if (print_size_axis(c, out))
		return NM_ENOMEM;
	fprintf(out, "%*scache size\n\n", (int)(LEFT + c->width / 2 - 5), "");
	if (print_legend(c, out) || print_knees(c, out))
		return NM_ENOMEM;
	for (size_t i = 0; i < c->curves->notes.count; i++)
		nm_print_wrapped(lead, c->curves->notes.at[i], c->style->width, out);
	return 0;
}

int nm_curves_text(struct nm_curves *curves, const struct nm_curve_request *request,
		   const struct nm_style *style, FILE *out)
{
	const unsigned width = style->width ? style->width : USUAL_WIDTH;
	struct canvas c = {.curves = curves,
			   .style = style,
			   .width = width > LEFT + LEAST_WIDTH ? width - LEFT : LEAST_WIDTH,
			   .height = request->height,
			   .unicode = style->ellipsis[0] != '.'};
	int status;

	c.cells = calloc((size_t)c.width * c.height, sizeof *c.cells);
	if (!c.cells)
		return NM_ENOMEM;
	choose_axes(&c, request);
	put_marks(&c, request);
	for (unsigned i = 0; i < curves->list.count && i < CURVES; i++)
		draw_curve(&c, i);
	put_knees(&c);
	for (unsigned i = 0; curves->list.count > 1 && i < curves->list.count && i < CURVES; i++)
		put_label(&c, i);
	status = print_canvas(&c, request, out);
	free(c.cells);
	return status;
}

/* ---- legend: the labels of curves and the headings of plots ---- */

static int several_processes(const struct nm_curves *curves)
{
	for (size_t i = 1; i < curves->list.count; i++)
		if (curves->list.at[i].process != curves->list.at[0].process)
			return 1;
	return 0;
}

/* Frees the text and returns a copy that is safe to print: names come from the profiled program. */
static const char *keep_text(struct nm_curves *curves, char *text)
{
	char *clean = text ? nm_utf8_clean(text) : NULL;
	const char *kept = clean ? nm_intern(&curves->pool, clean) : NULL;

	free(text);
	free(clean);
	return kept;
}

const char *nm_curve_label(struct nm_curves *curves, const struct nm_curve *c)
{
	const int process = several_processes(curves) && strcmp(c->name, c->process) != 0;
	const int method = curves->methods > 1 || !c->exact;
	char *text;

	if (asprintf(&text, "%s%s%s%s%s%s%s", c->source ? c->source : "", c->source ? ": " : "", c->name,
		     process ? " in " : "", process ? c->process : "", method ? ", " : "",
		     method ? c->method : "") < 0)
		return NULL;
	return keep_text(curves, text);
}

const char *nm_curve_title(struct nm_curves *curves, const struct nm_curve_request *request)
{
	const struct nm_curve *first = &curves->list.at[0];
	char *text;
	int length = strcmp(request->by, "total")
			 ? asprintf(&text, "%s: miss ratio by %s", first->process, request->by)
			 : asprintf(&text, "%s: miss ratio", first->process);

	return length < 0 ? NULL : keep_text(curves, text);
}
