/* SPDX-License-Identifier: MIT */
#include "phases.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"

enum { LEAST_PART = 64 /* of the run */ };

struct part {
	struct nm_stretch stretch;
	double instructions;
	double *misses; /* [width], sums */
};

struct phases {
	size_t width, count; /* parts left */
	double floor, least; /* misses per instruction; instructions of a stretch that stays */
	struct part *parts;
	struct part phases[NM_MOST_PHASES];
	unsigned phase_count;
};

static double part_distance(const struct phases *p, const struct part *a, const struct part *b)
{
	double apart = 0, sum = 2 * p->floor;

	for (size_t i = 0; i < p->width; i++) {
		const double x = a->misses[i] / a->instructions, y = b->misses[i] / b->instructions;

		apart += fabs(x - y);
		sum += x + y;
	}
	return sum > 0 ? apart / sum : 0;
}

static void add_sums(const struct phases *p, struct part *to, const struct part *from)
{
	for (size_t i = 0; i < p->width; i++)
		to->misses[i] += from->misses[i];
	to->instructions += from->instructions;
}

/* Part i takes in the one behind it. */
static void join_parts(struct phases *p, size_t i)
{
	add_sums(p, &p->parts[i], &p->parts[i + 1]);
	p->parts[i].stretch.count += p->parts[i + 1].stretch.count;
	p->count--;
	memmove(&p->parts[i + 1], &p->parts[i + 2], (p->count - i - 1) * sizeof *p->parts);
}

static void join_neighbours(struct phases *p)
{
	for (;;) {
		double least = NM_PHASE_DISTANCE;
		size_t best = p->count;

		for (size_t i = 0; i + 1 < p->count; i++) {
			const double d = part_distance(p, &p->parts[i], &p->parts[i + 1]);

			if (d < least) {
				least = d;
				best = i;
			}
		}
		if (best == p->count)
			return;
		join_parts(p, best);
	}
}

static int is_short(const struct phases *p, const struct part *part)
{
	return part->stretch.count == 1 || part->instructions < p->least;
}

static void join_short(struct phases *p)
{
	while (p->count > 1) {
		size_t i = p->count, left; /* left: 1 if it joins the one before */

		for (size_t k = 0; k < p->count; k++)
			if (is_short(p, &p->parts[k]) &&
			    (i == p->count || p->parts[k].instructions < p->parts[i].instructions))
				i = k;
		if (i == p->count)
			return;
		left = i + 1 == p->count || (i && part_distance(p, &p->parts[i - 1], &p->parts[i]) <=
						      part_distance(p, &p->parts[i], &p->parts[i + 1]));
		join_parts(p, i - left);
	}
}

/* The phase of a part, whose sums are added to its own; the first part of a phase lends it the room for these. */
static void choose_phase(struct phases *p, struct part *part)
{
	double least = p->phase_count < NM_MOST_PHASES ? NM_PHASE_DISTANCE : INFINITY;
	unsigned best = p->phase_count;

	for (unsigned k = 0; k < p->phase_count; k++) {
		const double d = part_distance(p, &p->phases[k], part);

		if (d < least) {
			least = d;
			best = k;
		}
	}
	part->stretch.phase = best;
	if (best == p->phase_count)
		p->phases[p->phase_count++] = *part;
	else
		add_sums(p, &p->phases[best], part);
}

static void fill_parts(struct phases *p, const struct nm_phase_intervals *v, double *misses)
{
	double all = 0, instructions = 0;

	memcpy(misses, v->misses, v->count * v->width * sizeof *misses);
	for (size_t i = 0; i < v->count; i++) {
		p->parts[i] = (struct part){{i, 1, 0}, v->instructions[i], misses + i * v->width};
		for (size_t k = 0; k < v->width; k++)
			all += v->misses[i * v->width + k];
		instructions += v->instructions[i];
	}
	p->floor = NM_PHASE_FLOOR * all / instructions;
	p->least = instructions / LEAST_PART;
}

int nm_phases_find(const struct nm_phase_intervals *v, struct nm_stretch **ret_stretches, size_t *ret_count)
{
	struct phases p = {
	    .width = v->width, .count = v->count, .parts = calloc(v->count + 1, sizeof *p.parts)};
	double *misses = malloc((v->count * v->width + 1) * sizeof *misses);
	struct nm_stretch *list = calloc(v->count + 1, sizeof *list);
	size_t n = 0;

	assert(v->width > 0);
	if (p.parts && misses && list && v->count) {
		fill_parts(&p, v, misses);
		join_neighbours(&p);
		join_short(&p);
		for (size_t i = 0; i < p.count; i++) {
			choose_phase(&p, &p.parts[i]);
			if (n && list[n - 1].phase == p.parts[i].stretch.phase)
				list[n - 1].count += p.parts[i].stretch.count;
			else
				list[n++] = p.parts[i].stretch;
		}
	}
	*ret_stretches = list;
	*ret_count = n;
	n = p.parts && misses && list;
	free(p.parts);
	free(misses);
	return n ? 0 : NM_ENOMEM;
}
