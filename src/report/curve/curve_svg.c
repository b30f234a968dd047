/* SPDX-License-Identifier: MIT
 *
 * curve_svg.c - curves as SVG 1.1, without scripts and fonts.
 *
 * Colours are those of Okabe and Ito (2008), which colour-blind readers can tell apart. Dashes tell curves
 * apart in black and white: by method where there are several, else by name. The 95 % intervals of estimates
 * are bands. The legend stands beside the plot, so that it covers nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve_priv.h"
#include "table.h"
#include "text.h"

enum {
	LEFT = 76,
	TOP = 78,
	PLOT_WIDTH = 640,
	PLOT_HEIGHT = 360,
	LEGEND = 300,
	BOTTOM = 62,
	SAMPLES = 480,    /* points of an interpolated curve */
	LEGEND_TEXT = 38, /* characters */
	LINE_HEIGHT = 19,
	MARK_HEIGHT = 14,
	MARK_ROWS = 3,
	CHARACTER = 7 /* about the width of one in small text */
};

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
				      "#e69f00", "#56b4e9", "#000000"};
static const char *const dashes[] = {"", "9 4", "2 3", "9 3 2 3", "14 4 2 4 2 4"};

#define PICK(list, index) ((list)[(index) % (sizeof(list) / sizeof *(list))])

struct picture {
	struct nm_curves *curves;
	const struct nm_curve_request *request;
	struct nm_axis x, y;
	FILE *out;
};

static double x_of(const struct picture *p, double bytes)
{
	return LEFT + PLOT_WIDTH * nm_axis_place(&p->x, bytes);
}

static double y_of(const struct picture *p, double ratio)
{
	return TOP + PLOT_HEIGHT * (1 - nm_axis_place(&p->y, ratio));
}

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

static const char *dash_of(const struct picture *p, const struct nm_curve *c)
{
	return PICK(dashes, p->curves->methods > 1 ? c->method_index : c->group);
}

static void stroke_curve(const struct picture *p, const struct nm_curve *c)
{
	const char *dash = dash_of(p, c);

	fprintf(p->out, "fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\"",
		PICK(colours, c->group));
	if (*dash)
		fprintf(p->out, " stroke-dasharray=\"%s\"", dash);
}

/* ---- axes ---- */

static void print_ratio_axis(const struct picture *p)
{
	char label[NM_TICK_TEXT];

	for (unsigned i = 0; i < p->y.ticks; i++) {
		const double y = y_of(p, p->y.tick[i]);

		nm_percent_text(p->y.tick[i], label);
		fprintf(p->out,
			"<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			LEFT, y, LEFT + PLOT_WIDTH, y, LEFT - 8, y + 4, label);
	}
	fprintf(p->out,
		"<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">miss ratio</text>\n",
		TOP + PLOT_HEIGHT / 2);
}

static void print_size_axis(const struct picture *p)
{
	char label[NM_TICK_TEXT];

	for (unsigned i = 0; i < p->x.ticks; i++) {
		const double x = x_of(p, p->x.tick[i]);

		nm_size_text(p->x.tick[i], label);
		fprintf(p->out,
			"<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"axis\"/>"
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
			x, TOP + PLOT_HEIGHT, x, TOP + PLOT_HEIGHT + 5, x, TOP + PLOT_HEIGHT + 20, label);
	}
	fprintf(p->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">cache size (bytes)</text>\n",
		LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT + 46);
	fprintf(p->out, "<path d=\"M%d %dV%dH%d\" class=\"axis\" fill=\"none\"/>\n", LEFT, TOP,
		TOP + PLOT_HEIGHT, LEFT + PLOT_WIDTH);
}

/* Each name goes into the lowest row in which it does not overlap another. */
static void print_marks(const struct picture *p)
{
	double behind[MARK_ROWS] = {0};

	for (size_t i = 0; i < p->request->mark_count; i++) {
		const struct nm_curve_mark *mark = &p->request->marks[i];
		const double x = x_of(p, mark->bytes), half = (double)strlen(mark->label) * CHARACTER / 2;
		unsigned row = 0;

		if (mark->bytes < p->x.low || mark->bytes > p->x.high)
			continue;
		while (row + 1 < MARK_ROWS && x - half < behind[row])
			row++;
		behind[row] = x + half;
		fprintf(p->out,
			"<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"mark\"/>"
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" class=\"small\">",
			x, TOP, x, TOP + PLOT_HEIGHT, x, TOP - 6 - (int)row * MARK_HEIGHT);
		write_text(mark->label, p->out);
		fputs("</text>\n", p->out);
	}
}

/* ---- curves ---- */

static double sample_size(const struct picture *p, unsigned i)
{
	return p->x.low * pow(p->x.high / p->x.low, (double)i / SAMPLES);
}

static void print_steps(const struct picture *p, const struct nm_curve *c)
{
	fprintf(p->out, "M%.1f %.1f", x_of(p, p->x.low), y_of(p, nm_curve_at(c, p->x.low).ratio));
	for (size_t i = 0; i < c->points.count; i++)
		if (c->points.at[i].bytes > p->x.low && c->points.at[i].bytes <= p->x.high)
			fprintf(p->out, "H%.1fV%.1f", x_of(p, c->points.at[i].bytes),
				y_of(p, c->points.at[i].ratio));
	fprintf(p->out, "H%.1f", x_of(p, p->x.high));
}

static void print_line(const struct picture *p, const struct nm_curve *c)
{
	for (unsigned i = 0; i <= SAMPLES; i++) {
		const double bytes = sample_size(p, i);

		fprintf(p->out, "%c%.1f %.1f", i ? 'L' : 'M', x_of(p, bytes),
			y_of(p, nm_curve_at(c, bytes).ratio));
	}
}

static void print_band(const struct picture *p, const struct nm_curve *c)
{
	fprintf(p->out, "<path fill=\"%s\" fill-opacity=\"0.16\" stroke=\"none\" d=\"",
		PICK(colours, c->group));
	for (unsigned i = 0; i <= SAMPLES; i++)
		fprintf(p->out, "%c%.1f %.1f", i ? 'L' : 'M', x_of(p, sample_size(p, i)),
			y_of(p, nm_curve_at(c, sample_size(p, i)).high));
	for (unsigned i = SAMPLES + 1; i-- > 0;)
		fprintf(p->out, "L%.1f %.1f", x_of(p, sample_size(p, i)),
			y_of(p, nm_curve_at(c, sample_size(p, i)).low));
	fputs("Z\"/>\n", p->out);
}

static void print_curves(const struct picture *p)
{
	for (size_t i = 0; i < p->curves->list.count; i++)
		if (!p->curves->list.at[i].exact)
			print_band(p, &p->curves->list.at[i]);
	for (size_t i = p->curves->list.count; i-- > 0;) {
		const struct nm_curve *c = &p->curves->list.at[i];

		fputs("<path ", p->out);
		stroke_curve(p, c);
		fputs(" d=\"", p->out);
		if (c->exact)
			print_steps(p, c);
		else
			print_line(p, c);
		fputs("\"/>\n", p->out);
	}
}

/* ---- beside the plot ---- */

static char *shorten_label(const char *name) { return nm_shorten_name(name, LEGEND_TEXT, "\xe2\x80\xa6"); }

static int print_knee(const struct picture *p, const struct nm_knee *knee, unsigned number, double y)
{
	const double x = x_of(p, knee->bytes), at = y_of(p, nm_curve_at(knee->curve, knee->bytes).ratio);
	const int left = LEFT + PLOT_WIDTH + 24;
	char size[NM_TICK_TEXT], before[NM_TICK_TEXT], after[NM_TICK_TEXT];
	char *name = knee->object ? shorten_label(knee->object) : strdup("");

	if (!name)
		return NM_ENOMEM;
	nm_size_text(knee->bytes, size);
	nm_percent_text(knee->before, before);
	nm_percent_text(knee->after, after);
	fprintf(p->out,
		"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"8.5\" class=\"knee\" stroke=\"%s\"/>"
		"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" class=\"number\">%u</text>\n",
		x, at, PICK(colours, knee->curve->group), x, at + 4, number);
	fprintf(p->out,
		"<circle cx=\"%d\" cy=\"%.1f\" r=\"8.5\" class=\"knee\" stroke=\"%s\"/>"
		"<text x=\"%d\" y=\"%.1f\" text-anchor=\"middle\" class=\"number\">%u</text>"
		"<text x=\"%d\" y=\"%.1f\">%s: %s \xe2\x86\x92 %s</text>\n",
		left + 8, y - 4, PICK(colours, knee->curve->group), left + 8, y, number, left + 26, y, size,
		before, after);
	if (*name) {
		fprintf(p->out, "<text x=\"%d\" y=\"%.1f\" class=\"small\">", left + 26, y + 15);
		write_text(name, p->out);
		fputs(knee->fits ? " fits</text>\n" : " misses less</text>\n", p->out);
	}
	free(name);
	return 0;
}

static int print_legend(const struct picture *p, double *y)
{
	const int left = LEFT + PLOT_WIDTH + 24;

	for (size_t i = 0; i < p->curves->list.count; i++) {
		const struct nm_curve *c = &p->curves->list.at[i];
		const char *label = nm_curve_label(p->curves, c);
		char *name = label ? shorten_label(label) : NULL;

		if (!name)
			return NM_ENOMEM;
		fprintf(p->out, "<path d=\"M%d %.1fH%d\" ", left, *y - 4, left + 34);
		stroke_curve(p, c);
		fprintf(p->out, "/><text x=\"%d\" y=\"%.1f\">", left + 42, *y);
		write_text(name, p->out);
		fputs("</text>\n", p->out);
		free(name);
		*y += LINE_HEIGHT;
	}
	return 0;
}

static double legend_height(const struct nm_curves *curves)
{
	return LINE_HEIGHT * (double)curves->list.count + 2.0 * LINE_HEIGHT * (double)curves->knees.count +
	       LINE_HEIGHT;
}

static int print_beside(const struct picture *p)
{
	double y = TOP + 10;
	int status = print_legend(p, &y);

	y += LINE_HEIGHT / 2.0;
	for (size_t i = 0; i < p->curves->knees.count && !status; i++) {
		status = print_knee(p, &p->curves->knees.at[i], (unsigned)i + 1, y);
		y += p->curves->knees.at[i].object ? 2 * LINE_HEIGHT : LINE_HEIGHT;
	}
	return status;
}

static void choose_axes(struct picture *p)
{
	double least = 1, largest = 0;

	p->x = nm_size_axis(p->curves->from, p->curves->to, 12);
	for (size_t i = 0; i < p->curves->list.count; i++)
		for (unsigned k = 0; k <= SAMPLES; k++) {
			const struct nm_curve_point at =
			    nm_curve_at(&p->curves->list.at[i], sample_size(p, k));

			largest = fmax(largest, at.ratio);
			if (at.ratio > 0)
				least = fmin(least, at.ratio);
		}
	p->y = nm_ratio_axis(least, largest, p->request->log_ratio);
}

static void print_head(const struct picture *p, const char *title)
{
	const double below = fmax(TOP + PLOT_HEIGHT + BOTTOM, TOP + legend_height(p->curves));
	const int width = LEFT + PLOT_WIDTH + LEGEND + 24;

	fprintf(
	    p->out,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
	    "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\" fill=\"#222\">\n"
	    "<style>.grid{stroke:#ddd}.axis{stroke:#222}.mark{stroke:#777;stroke-dasharray:1 3}"
	    ".small{font-size:11.5px;fill:#444}.knee{fill:#fff;stroke-width:1.5}.number{font-size:11px}</style>\n"
	    "<title>",
	    width, below, width, below);
	write_text(title, p->out);
	fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", p->out);
	fprintf(p->out, "<text x=\"%d\" y=\"24\" font-size=\"16\" font-weight=\"bold\">", LEFT);
	write_text(title, p->out);
	fputs("</text>\n", p->out);
}

int nm_curves_svg(struct nm_curves *curves, const struct nm_curve_request *request, FILE *out)
{
	struct picture p = {
	    .curves = curves, .request = request, .out = out, .x = {.low = curves->from, .high = curves->to}};
	const char *title = nm_curve_title(curves, request);

	if (!title)
		return NM_ENOMEM;
	choose_axes(&p);
	print_head(&p, title);
	print_ratio_axis(&p);
	print_size_axis(&p);
	print_marks(&p);
	print_curves(&p);
	if (print_beside(&p))
		return NM_ENOMEM;
	fputs("</svg>\n", out);
	return 0;
}
