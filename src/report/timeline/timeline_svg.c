/* SPDX-License-Identifier: MIT
 *
 * timeline_svg.c - a timeline as SVG 1.1, without scripts and fonts: an area for each level and the working set,
 * a strip for each object or line, darker where it misses more.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distinct.h"
#include "scale.h"
#include "table.h"
#include "timeline_priv.h"

enum {
	LEFT = 210,
	TOP = 44,
	WIDTH = 640,
	RIGHT = 130,
	AREA = 56,  /* height of a level */
	STRIP = 18, /* of an object */
	GAP = 10,
	COLUMNS = 256,
	NAME = 30 /* characters */
};

struct picture {
	const struct nm_process_timeline *timeline;
	FILE *out;
	double values[COLUMNS];
	double y;
	nm_shorten_function *shorten; /* names of rows */
};

static void write_text(const char *s, FILE *out)
{
	for (; *s; s++)
		switch (*s) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		default: fputc(*s, out);
		}
}

static double x_of(double column) { return LEFT + WIDTH * column / COLUMNS; }

static int print_name(const struct picture *p, const char *name, double y)
{
	char *shown = p->shorten(name, NAME, "\xe2\x80\xa6");

	if (!shown)
		return NM_ENOMEM;
	fprintf(p->out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8, y);
	write_text(shown, p->out);
	fputs("</text>", p->out);
	free(shown);
	return 0;
}

static void print_total(const struct picture *p, int64_t total, double y)
{
	fprintf(p->out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT + WIDTH + RIGHT - 8, y);
	nm_print_grouped(total, p->out);
	fputs("</text>\n", p->out);
}

static void print_area(struct picture *p, const char *colour)
{
	const double most = nm_timeline_most(p->values, COLUMNS), bottom = p->y + AREA;

	fprintf(p->out, "<path fill=\"%s\" d=\"M%d %.1f", colour, LEFT, bottom);
	for (unsigned i = 0; i < COLUMNS && most > 0; i++)
		fprintf(p->out, "V%.1fH%.1f", bottom - AREA * p->values[i] / most, x_of(i + 1));
	fprintf(p->out, "V%.1fZ\"/><path class=\"axis\" d=\"M%d %.1fH%d\"/>\n", bottom, LEFT, bottom,
		LEFT + WIDTH);
	p->y = bottom + GAP;
}

static int print_level(struct picture *p, const struct nm_timeline_row *row)
{
	nm_timeline_rates(p->timeline, row->misses, p->values, COLUMNS);
	if (print_name(p, row->name, p->y + AREA - 4))
		return NM_ENOMEM;
	print_total(p, row->total, p->y + AREA - 4);
	print_area(p, "#0072b2");
	return 0;
}

static int print_working_set(struct picture *p)
{
	char size[NM_TICK_TEXT];

	nm_timeline_working_set(p->timeline, p->values, COLUMNS);
	if (print_name(p, "working set", p->y + AREA - 4))
		return NM_ENOMEM;
	nm_size_text(nm_timeline_most(p->values, COLUMNS), size);
	fprintf(p->out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT + WIDTH + RIGHT - 8,
		p->y + AREA - 4, size);
	print_area(p, "#e69f00");
	return 0;
}

/* A box for each stretch, with the letter of its phase; its title is the phase's name. */
static int print_phases(struct picture *p)
{
	static const char *const colours[] = {"#56b4e9", "#e69f00", "#009e73",
					      "#f0e442", "#cc79a7", "#999999"};
	const struct nm_process_timeline *t = p->timeline;

	if (t->stretches.count && print_name(p, "phases", p->y + STRIP - 5))
		return NM_ENOMEM;
	for (size_t i = 0; i < t->stretches.count && t->instructions; i++) {
		const struct nm_timeline_stretch *s = &t->stretches.at[i];
		const double x = x_of((double)COLUMNS * (double)s->begin / (double)t->instructions),
			     width = WIDTH * (double)s->instructions / (double)t->instructions;

		fprintf(p->out,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>%c  ", x,
			p->y, width, STRIP - 3,
			colours[(size_t)s->phase % (sizeof colours / sizeof *colours)],
			nm_phase_letter(s->phase));
		write_text(s->name, p->out);
		fputs("</title></rect>", p->out);
		if (width > STRIP)
			fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%c</text>",
				x + width / 2, p->y + STRIP - 5, nm_phase_letter(s->phase));
		fputc('\n', p->out);
	}
	p->y += t->stretches.count ? STRIP + GAP : 0;
	return 0;
}

static double most_of_level(struct picture *p)
{
	const struct nm_process_timeline *t = p->timeline;

	for (size_t i = 0; i < t->levels.count; i++)
		if (t->levels.at[i].name == t->level) {
			nm_timeline_rates(t, t->levels.at[i].misses, p->values, COLUMNS);
			return nm_timeline_most(p->values, COLUMNS);
		}
	return 0;
}

static int print_strip(struct picture *p, const struct nm_timeline_row *row, double most)
{
	nm_timeline_rates(p->timeline, row->misses, p->values, COLUMNS);
	if (print_name(p, row->name, p->y + STRIP - 5))
		return NM_ENOMEM;
	print_total(p, row->total, p->y + STRIP - 5);
	for (unsigned i = 0, end; i < COLUMNS; i = end) {
		const long shade = most > 0 ? lround(100 * p->values[i] / most) : 0;

		for (end = i + 1; end < COLUMNS && lround(100 * p->values[end] / most) == shade;)
			end++;
		if (shade > 0)
			fprintf(p->out,
				"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"#d55e00\" "
				"fill-opacity=\"%.2f\"/>",
				x_of(i), p->y, x_of(end) - x_of(i), STRIP - 3, fmin(1, (double)shade / 100));
	}
	fputc('\n', p->out);
	p->y += STRIP;
	return 0;
}

static void print_head(const struct picture *p, double height)
{
	const int width = LEFT + WIDTH + RIGHT;

	fprintf(
	    p->out,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
	    "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
	    "<style>.axis{stroke:#222;fill:none}</style>\n<title>",
	    width, height, width, height);
	write_text(p->timeline->process, p->out);
	fputs(": misses over instructions</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
	      p->out);
	fprintf(p->out, "<text x=\"%d\" y=\"24\" font-size=\"16\" font-weight=\"bold\">", LEFT);
	write_text(p->timeline->process, p->out);
	fprintf(p->out, ": misses over instructions</text>\n");
}

static void print_axis(const struct picture *p)
{
	fprintf(p->out, "<text x=\"%d\" y=\"%.1f\">0</text><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
		LEFT, p->y + 14, LEFT + WIDTH, p->y + 14);
	nm_print_grouped(p->timeline->instructions, p->out);
	fputs(" instructions</text>\n", p->out);
}

int nm_timeline_svg(const struct nm_process_timeline *t, const struct nm_timeline_request *request, FILE *out)
{
	struct picture p = {.timeline = t,
			    .out = out,
			    .y = TOP,
			    .shorten = strcmp(request->by, "line") ? nm_shorten_name : nm_shorten_location};
	const double height = TOP + (double)(t->levels.count + 1) * (AREA + GAP) +
			      (t->stretches.count ? STRIP + GAP : 0) + STRIP +
			      (double)t->parts.count * STRIP + 28;
	double most;

	print_head(&p, height);
	for (size_t i = 0; i < t->levels.count; i++)
		if (print_level(&p, &t->levels.at[i]))
			return NM_ENOMEM;
	if (print_working_set(&p) || print_phases(&p))
		return NM_ENOMEM;
	fprintf(out, "<text x=\"%d\" y=\"%.1f\" font-weight=\"bold\">%s misses by %s</text>\n", LEFT,
		p.y + STRIP - 6, t->level, request->by);
	p.y += STRIP;
	most = most_of_level(&p);
	for (size_t i = 0; i < t->parts.count; i++)
		if (print_strip(&p, &t->parts.at[i], most))
			return NM_ENOMEM;
	print_axis(&p);
	fputs("</svg>\n", out);
	return 0;
}
