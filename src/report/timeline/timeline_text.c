/* SPDX-License-Identifier: MIT
 *
 * timeline_text.c - a timeline for terminals: a row of bars for each level, the working set, and each object or
 * line.
 *
 * Rows of levels and of the working set are scaled to their own maximum, those of objects or lines to that of
 * their level.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distinct.h"
#include "scale.h"
#include "table.h"
#include "timeline_priv.h"

enum { NAME = 24, TOTAL = 14, LEAST_WIDTH = 20, LEAST_NAME = 12, USUAL_WIDTH = 100, HEIGHTS = 8 };

struct canvas {
	const struct nm_process_timeline *timeline;
	const struct nm_style *style;
	FILE *out;
	double *values; /* [width] */
	unsigned width; /* columns of bars */
	int unicode;
	nm_shorten_function *shorten; /* names of rows */
};

static void print_bars(const struct canvas *c, double most)
{
	static const char ascii[HEIGHTS + 1] = ".:-=+*#@";

	for (unsigned i = 0; i < c->width; i++) {
		const int height = most > 0 ? (int)ceil(HEIGHTS * c->values[i] / most) : 0;

		if (height <= 0)
			fputc(' ', c->out);
		else if (c->unicode) /* U+2581 to U+2588 */
			fprintf(c->out, "\xe2\x96%c", 0x80 + (height < HEIGHTS ? height : HEIGHTS));
		else
			fputc(ascii[height < HEIGHTS ? height - 1 : HEIGHTS - 1], c->out);
	}
}

static void print_heading(const struct canvas *c, const char *text)
{
	fprintf(c->out, "%s%s%s\n", c->style->colour ? "\033[1m" : "", text,
		c->style->colour ? "\033[m" : "");
}

static int print_name(const struct canvas *c, const char *name)
{
	char *shown = c->shorten(name, NAME, c->style->ellipsis);

	if (!shown)
		return NM_ENOMEM;
	fprintf(c->out, "%s%*s ", shown,
		(int)(NAME - (nm_utf8_width(shown) < NAME ? nm_utf8_width(shown) : NAME)), "");
	free(shown);
	return 0;
}

/* A number, aligned right. */
static void print_total(const struct canvas *c, int64_t number)
{
	unsigned width = 1;

	for (int64_t n = number / 10, digits = 1; n > 0; n /= 10)
		width += 1 + (digits++ % 3 == 0);
	fprintf(c->out, "%*s", TOTAL > width ? (int)(TOTAL - width) : 1, "");
	nm_print_grouped(number, c->out);
	fputc('\n', c->out);
}

/* most: 0: the row's own maximum. */
static int print_row(const struct canvas *c, const struct nm_timeline_row *row, double most)
{
	nm_timeline_rates(c->timeline, row->misses, c->values, c->width);
	if (print_name(c, row->name))
		return NM_ENOMEM;
	print_bars(c, most > 0 ? most : nm_timeline_most(c->values, c->width));
	print_total(c, row->total);
	return 0;
}

static int print_working_set(const struct canvas *c)
{
	char text[NM_TICK_TEXT];
	double most;

	nm_timeline_working_set(c->timeline, c->values, c->width);
	most = nm_timeline_most(c->values, c->width);
	if (print_name(c, "working set"))
		return NM_ENOMEM;
	print_bars(c, most);
	nm_size_text(most, text);
	fprintf(c->out, "%*s\n", TOTAL, text);
	return 0;
}

/* The letter of the phase that has most of each column. */
static int print_phases(const struct canvas *c)
{
	const struct nm_process_timeline *t = c->timeline;

	if (!t->stretches.count)
		return 0;
	if (print_name(c, "phases"))
		return NM_ENOMEM;
	for (unsigned i = 0; i < c->width; i++) {
		const double from = (double)t->instructions * i / c->width,
			     to = (double)t->instructions * (i + 1) / c->width;
		double most = 0;
		char letter = ' ';

		for (size_t k = 0; k < t->stretches.count; k++) {
			const struct nm_timeline_stretch *s = &t->stretches.at[k];
			const double part =
			    fmin(to, (double)(s->begin + s->instructions)) - fmax(from, (double)s->begin);

			if (part > most) {
				most = part;
				letter = nm_phase_letter(s->phase);
			}
		}
		fputc(letter, c->out);
	}
	fputc('\n', c->out);
	return 0;
}

/* What the letters stand for. */
static int print_legend(const struct canvas *c)
{
	const struct nm_process_timeline *t = c->timeline;
	struct nm_phase_sums sums;
	int64_t misses = 0;

	for (size_t i = 0; i < t->levels.count; i++)
		misses += t->levels.at[i].name == t->level ? t->levels.at[i].total : 0;
	for (int64_t phase = 0; nm_timeline_phase(t, phase, &sums); phase++) {
		const int taken = fprintf(
		    c->out,
		    "%c  %5.1f %% of the instructions, %5.1f %% of the %s misses: ", nm_phase_letter(phase),
		    100.0 * (double)sums.instructions / (double)(t->instructions ? t->instructions : 1),
		    100.0 * (double)sums.misses / (double)(misses ? misses : 1), t->level);
		char *name = c->style->width ? nm_shorten_name(sums.name,
							       c->style->width > (unsigned)taken + LEAST_NAME
								   ? c->style->width - (unsigned)taken
								   : LEAST_NAME,
							       c->style->ellipsis)
					     : strdup(sums.name);

		if (!name)
			return NM_ENOMEM;
		fprintf(c->out, "%s\n", name);
		free(name);
	}
	return 0;
}

static void print_axis(const struct canvas *c)
{
	char *end = NULL;
	size_t bytes;
	FILE *f = open_memstream(&end, &bytes);

	if (f) {
		nm_print_grouped(c->timeline->instructions, f);
		fputs(" instructions", f);
		fclose(f);
		fprintf(c->out, "%*s0%*s\n", NAME + 1, "", (int)c->width - 1, end);
	}
	free(end);
}

static int print_parts(const struct canvas *c, const char *by)
{
	const struct nm_process_timeline *t = c->timeline;
	char *heading;
	double most = 0;

	if (!t->parts.count)
		return 0;
	if (asprintf(&heading, "%s misses by %s", t->level, by) < 0)
		return NM_ENOMEM;
	fputc('\n', c->out);
	print_heading(c, heading);
	free(heading);
	for (size_t i = 0; i < t->levels.count; i++)
		if (t->levels.at[i].name == t->level) {
			nm_timeline_rates(t, t->levels.at[i].misses, c->values, c->width);
			most = nm_timeline_most(c->values, c->width);
		}
	for (size_t i = 0; i < t->parts.count; i++)
		if (print_row(c, &t->parts.at[i], most))
			return NM_ENOMEM;
	return 0;
}

static int print_canvas(const struct canvas *c, const struct nm_timeline_request *request)
{
	const struct nm_process_timeline *t = c->timeline;
	char *heading;

	if (asprintf(&heading, "%s: %zu intervals", t->process, t->intervals.count) < 0)
		return NM_ENOMEM;
	print_heading(c, heading);
	free(heading);
	fprintf(c->out, "%*s\n", NAME + 1 + (int)c->width + TOTAL, "misses");
	for (size_t i = 0; i < t->levels.count; i++)
		if (print_row(c, &t->levels.at[i], 0))
			return NM_ENOMEM;
	if (print_working_set(c) || print_phases(c) || print_parts(c, request->by))
		return NM_ENOMEM;
	print_axis(c);
	if (print_legend(c))
		return NM_ENOMEM;
	if (t->others)
		nm_print_wrapped("further processes: ", t->others, c->style->width, c->out);
	return 0;
}

int nm_timeline_text(const struct nm_process_timeline *t, const struct nm_timeline_request *request,
		     const struct nm_style *style, FILE *out)
{
	const unsigned all = style->width ? style->width : USUAL_WIDTH, rest = NAME + 1 + TOTAL;
	struct canvas c = {.timeline = t,
			   .style = style,
			   .out = out,
			   .width = all > rest + LEAST_WIDTH ? all - rest : LEAST_WIDTH,
			   .unicode = style->ellipsis[0] != '.',
			   .shorten = strcmp(request->by, "line") ? nm_shorten_name : nm_shorten_location};
	int status;

	c.values = calloc(c.width, sizeof *c.values);
	status = c.values ? print_canvas(&c, request) : NM_ENOMEM;
	free(c.values);
	return status;
}
