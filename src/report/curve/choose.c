/* SPDX-License-Identifier: MIT
 *
 * choose.c - which curves are shown, and over which sizes.
 *
 * Names are ranked by their misses, averaged over all sizes that are shown, each octave with the same weight:
 * neither the smallest caches nor the largest decide alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve_priv.h"

static const double least_from = 1024, least_octaves = 4, negligible = 0.002;

static double misses_between(const struct nm_curve *c, double from, double to)
{
	double sum = 0;

	for (double bytes = from; bytes <= to; bytes *= M_SQRT2)
		sum += nm_curve_at(c, bytes).ratio;
	return sum * nm_curve_weight(c);
}

/* The smallest size beyond which a curve falls by a negligible part only. */
static double end_of(const struct nm_curve *c)
{
	size_t i = c->points.count;
	double rest;

	if (!i)
		return 0;
	rest = negligible * (c->points.at[0].ratio - c->points.at[i - 1].ratio);
	while (i > 1 && c->points.at[i - 2].ratio - c->points.at[c->points.count - 1].ratio <= rest)
		i--;
	return c->points.at[i - 1].bytes;
}

/* Outside of the sizes of a sweep nothing is known. 0: not all curves are of one. */
static int choose_simulated(struct nm_curves *curves, const struct nm_curve_request *r)
{
	double first = HUGE_VAL, last = 0;

	for (size_t i = 0; i < curves->list.count; i++) {
		const struct nm_curve *c = &curves->list.at[i];

		if (!c->simulated || !c->points.count)
			return 0;
		first = fmin(first, c->points.at[0].bytes);
		last = fmax(last, c->points.at[c->points.count - 1].bytes);
	}
	curves->from = r->from > 0 ? r->from : first;
	curves->to = r->to > 0 ? r->to : fmax(last, 2 * first);
	return 1;
}

static void choose_sizes(struct nm_curves *curves, const struct nm_curve_request *r)
{
	double last = 0;

	if (choose_simulated(curves, r))
		return;
	for (size_t i = 0; i < curves->list.count; i++)
		last = fmax(last, end_of(&curves->list.at[i]));
	curves->from = r->from > 0 ? r->from : least_from;
	curves->to = r->to > 0 ? r->to : exp2(ceil(log2(fmax(last, 1))));
	for (size_t i = 0; i < r->mark_count && !(r->to > 0); i++)
		if (r->marks[i].bytes <= 4 * curves->to)
			curves->to = fmax(curves->to, exp2(ceil(log2(r->marks[i].bytes))));
	curves->to = fmax(curves->to, curves->from * exp2(least_octaves));
}

/* A name, in whichever profiles it is, with its misses. */
struct ranked {
	const char *process, *name;
	double misses;
};

static int by_text(const void *a, const void *b)
{
	const struct ranked *r = a, *y = b;
	int order = strcmp(r->name, y->name);

	return order ? order : strcmp(r->process, y->process);
}

static int by_misses(const void *a, const void *b)
{
	const struct ranked *r = a, *y = b;

	if (r->misses != y->misses)
		return r->misses < y->misses ? 1 : -1;
	return by_text(a, b);
}

static int is_of(const struct ranked *name, const struct nm_curve *c)
{
	return name->name == c->name && name->process == c->process;
}

static int is_among(const struct ranked *names, size_t count, const struct nm_curve *c)
{
	for (size_t i = 0; i < count; i++)
		if (is_of(&names[i], c))
			return 1;
	return 0;
}

/* Fills `names` with each name once, those that miss most first. Returns how many there are. */
static size_t rank_names(const struct nm_curves *curves, struct ranked *names)
{
	size_t n = 0;

	for (size_t i = 0; i < curves->list.count; i++) {
		const struct nm_curve *c = &curves->list.at[i];

		names[i] = (struct ranked){c->process, c->name, misses_between(c, curves->from, curves->to)};
	}
	qsort(names, curves->list.count, sizeof *names, by_text);
	for (size_t i = 0; i < curves->list.count; i++)
		if (n && !by_text(&names[n - 1], &names[i]))
			names[n - 1].misses = fmax(names[n - 1].misses, names[i].misses);
		else
			names[n++] = names[i];
	qsort(names, n, sizeof *names, by_misses);
	return n;
}

/* Keeps curves of these names, in that order. */
static int keep_named(struct nm_curves *curves, const struct ranked *names, size_t count)
{
	struct nm_curve *kept = calloc(curves->list.count + 1, sizeof *kept);
	size_t n = 0;

	if (!kept)
		return NM_ENOMEM;
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; i < curves->list.count; i++)
			if (is_of(&names[k], &curves->list.at[i]))
				kept[n++] = curves->list.at[i];
	for (size_t i = 0; i < curves->list.count; i++)
		if (!is_among(names, count, &curves->list.at[i]))
			nm_vec_free(&curves->list.at[i].points);
	memcpy(curves->list.at, kept, n * sizeof *kept);
	curves->list.count = n;
	free(kept);
	return 0;
}

static int same_group(const struct nm_curve *c, const struct nm_curve *b)
{
	return c->name == b->name && c->process == b->process && c->source == b->source;
}

static void curve_count(struct nm_curves *curves)
{
	for (size_t i = 0; i < curves->list.count; i++) {
		struct nm_curve *c = &curves->list.at[i];
		size_t k, m;

		for (k = 0; k < i && !same_group(&curves->list.at[k], c); k++)
			;
		for (m = 0; m < i && curves->list.at[m].method != c->method; m++)
			;
		c->group = k < i ? curves->list.at[k].group : curves->groups++;
		c->method_index = m < i ? curves->list.at[m].method_index : curves->methods++;
	}
}

/* Drops all curves but those of the first method: with several for each name, a plot is unreadable. */
static void keep_one_method(struct nm_curves *curves)
{
	size_t n = 0;

	for (size_t i = 0; i < curves->list.count; i++)
		if (curves->list.at[i].method == curves->list.at[0].method)
			curves->list.at[n++] = curves->list.at[i];
		else
			nm_vec_free(&curves->list.at[i].points);
	curves->list.count = n;
}

int nm_curves_choose(struct nm_curves *curves, const struct nm_curve_request *request, struct nm_error *err)
{
	struct ranked *names = calloc(curves->list.count + 1, sizeof *names);
	size_t n, offset = (size_t)request->offset;

	if (!names)
		return nm_fail_memory(err);
	if (strcmp(request->by, "total") != 0)
		keep_one_method(curves);
	choose_sizes(curves, request);
	n = rank_names(curves, names);
	offset = offset < n ? offset : n;
	n -= offset;
	if (request->limit > 0 && n > (size_t)request->limit)
		n = (size_t)request->limit;
	if (keep_named(curves, names + offset, n)) {
		free(names);
		return nm_fail_memory(err);
	}
	free(names);
	choose_sizes(curves, request);
	curve_count(curves);
	return 0;
}
