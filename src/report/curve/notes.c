/* SPDX-License-Identifier: MIT
 *
 * notes.c - what a reader of estimated curves must know: methods that disagree, and samples that are too few.
 *
 * Two methods of one policy disagree at a size where their intervals do not meet. LRU and random replacement may
 * differ at one size, but neither misses more than twice as often as an optimal cache of half the size (Sleator and
 * Tarjan, CACM 28, 1985; Raghavan and Snir, ICALP 1989), and so as the other does there.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "curve_priv.h"

static const double least_gap = 0.01; /* misses per reference */
/* The half of an interval that needs more samples, and what it is to become. */
static const double wide = 0.05, narrow = 0.03;

enum { STEPS_AN_OCTAVE = 4, LONGEST = 512 /* bytes of a note; a longer one is cut */ };

static int add_note(struct nm_curves *curves, const char *text)
{
	const char *kept = nm_intern(&curves->pool, text);

	return kept ? nm_vec_push(&curves->notes, kept) : NM_ENOMEM;
}

/* A point at which one curve misses more than another allows. */
struct gap {
	const struct nm_curve *more, *less;
	double size, lesser_size; /* of the caches */
	double gap;               /* by which intervals are apart */
};

static void look_at_gap(struct gap *widest, const struct nm_curve *more, const struct nm_curve *less,
			double bytes)
{
	const int alike = !strcmp(more->policy, less->policy);
	const double size = alike ? bytes : 2 * bytes, bound = alike ? 1 : 2;
	const double gap = nm_curve_at(more, size).low - bound * nm_curve_at(less, bytes).high;

	if (gap > widest->gap)
		*widest = (struct gap){more, less, size, bytes, gap};
}

static int add_gap(struct nm_curves *curves, const struct gap *g)
{
	const struct nm_curve_point more = nm_curve_at(g->more, g->size),
				    less = nm_curve_at(g->less, g->lesser_size);
	char size[NM_TICK_TEXT], lesser_size[NM_TICK_TEXT], low[NM_TICK_TEXT], high[NM_TICK_TEXT],
	    text[LONGEST];

	nm_size_text(g->size, size);
	nm_size_text(g->lesser_size, lesser_size);
	nm_percent_text(more.low, low);
	nm_percent_text(less.high, high);
	snprintf(
	    text, sizeof text, "%s and %s disagree: %s misses at least %s at %s, %s at most %s at %s%s",
	    g->more->method, g->less->method, g->more->method, low, size, g->less->method, high, lesser_size,
	    strcmp(g->more->policy, g->less->policy) ? ", more than their replacement policies explain" : "");
	return add_note(curves, text);
}

static int compare_curves(struct nm_curves *curves, const struct nm_curve *c, const struct nm_curve *b)
{
	struct gap widest = {.gap = least_gap};

	for (double bytes = curves->from; bytes <= curves->to; bytes *= exp2(1.0 / STEPS_AN_OCTAVE)) {
		look_at_gap(&widest, c, b, bytes);
		look_at_gap(&widest, b, c, bytes);
	}
	return widest.more ? add_gap(curves, &widest) : 0;
}

/* Half of a curve's intervals, on average over sizes: at a step they are wide, however many samples there are. */
static double mean_half(const struct nm_curves *curves, const struct nm_curve *c)
{
	double sum = 0;
	unsigned n = 0;

	for (double bytes = curves->from; bytes <= curves->to; bytes *= exp2(1.0 / STEPS_AN_OCTAVE), n++) {
		const struct nm_curve_point p = nm_curve_at(c, bytes);

		sum += (p.high - p.low) / 2;
	}
	return n ? sum / n : 0;
}

/* To two digits. */
static double round_two_digits(double x)
{
	const double unit = pow(10, fmax(0, floor(log10(x)) - 1));

	return ceil(x / unit) * unit;
}

static int count_samples(struct nm_curves *curves, const struct nm_curve *c)
{
	const double half = mean_half(curves, c), times = (half / narrow) * (half / narrow);
	char now[NM_TICK_TEXT], then[NM_TICK_TEXT], text[LONGEST];

	if (c->exact || !(half > wide) || c->samples <= 0)
		return 0;
	nm_percent_text(half, now);
	nm_percent_text(narrow, then);
	snprintf(text, sizeof text,
		 "%s: %" PRId64 " samples (%s) tell misses to within %s on average; %s would take about %.0f",
		 c->name, c->samples, c->method, now, then, round_two_digits((double)c->samples * times));
	return add_note(curves, text);
}

int nm_curve_notes(struct nm_curves *curves)
{
	int status = 0;

	for (size_t i = 0; i < curves->list.count && !status; i++) {
		const struct nm_curve *c = &curves->list.at[i];

		for (size_t k = i + 1; k < curves->list.count && !status; k++)
			if (curves->list.at[k].group == c->group)
				status = compare_curves(curves, c, &curves->list.at[k]);
	}
	for (size_t i = 0; i < curves->list.count && !status; i++)
		status = count_samples(curves, &curves->list.at[i]);
	return status;
}
