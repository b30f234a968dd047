/* SPDX-License-Identifier: MIT
 *
 * timeline_phases.c - the phases of a result: intervals become vectors (phases.h), and phases what misses most in
 * them.
 */
#include <stdlib.h>

#include "intervals.h"
#include "phases.h"

_Static_assert((int)NM_MOST_PHASES <= (int)NM_RESULT_PHASES, "a result has room for them");

enum { KINDS = 2 /* objects, lines */ };

/* Objects that are listed by interval are the first columns of vectors, such lines of code the next; the last two are
 * all other objects, and all other lines. */
struct vectors {
	const struct nm_result *result;
	unsigned level;
	struct nm_vec(uint32_t) whose[KINDS];
	struct nm_phase_intervals in;
	double *misses, *instructions;
};

static size_t first_column(const struct vectors *v, unsigned kind) { return kind ? v->whose[0].count : 0; }

/* Its number among those of the kind; their count: it is not among them. */
static size_t number_of(const struct vectors *v, unsigned kind, uint32_t whose)
{
	size_t i = 0;

	while (i < v->whose[kind].count && v->whose[kind].at[i] != whose)
		i++;
	return i;
}

static int list_columns(struct vectors *v)
{
	for (size_t i = 0; i < v->result->interval_part_count; i++) {
		const struct nm_result_interval_part *part = &v->result->interval_parts[i];
		const unsigned kind = part->of_site;

		if (part->level == v->level && number_of(v, kind, part->whose) == v->whose[kind].count &&
		    nm_vec_push(&v->whose[kind], part->whose))
			return NM_ENOMEM;
	}
	v->in.width = v->whose[0].count + v->whose[1].count + KINDS;
	return 0;
}

static int fill_vectors(struct vectors *v)
{
	const struct nm_result *r = v->result;
	const size_t width = v->in.width;

	v->misses = calloc(r->interval_count * width + 1, sizeof *v->misses);
	v->instructions = calloc(r->interval_count + 1, sizeof *v->instructions);
	if (!v->misses || !v->instructions)
		return NM_ENOMEM;
	for (size_t i = 0; i < r->interval_count; i++) {
		const struct nm_counts *c = &r->interval_levels[i * r->machine.count + v->level].counts;
		double *row = &v->misses[i * width];

		v->instructions[i] =
		    (double)(r->intervals[i].instructions ? r->intervals[i].instructions : 1);
		row[width - 2] = row[width - 1] = (double)(c->read_misses + c->write_misses);
	}
	for (size_t i = 0; i < r->interval_part_count; i++) {
		const struct nm_result_interval_part *part = &r->interval_parts[i];
		const double misses = (double)(part->read_misses + part->write_misses);
		double *row = &v->misses[part->interval * width];

		if (part->level != v->level)
			continue;
		row[first_column(v, part->of_site) + number_of(v, part->of_site, part->whose)] += misses;
		row[width - KINDS + part->of_site] -= misses;
	}
	v->in = (struct nm_phase_intervals){r->interval_count, width, v->misses, v->instructions};
	return 0;
}

/* Of a phase's misses by column, the object or line with the most. */
static uint32_t phase_leader(const struct vectors *v, unsigned kind, const double *sums)
{
	const size_t first = first_column(v, kind);
	uint32_t best = UINT32_MAX;
	double most = 0;

	for (size_t i = 0; i < v->whose[kind].count; i++)
		if (sums[first + i] > most) {
			most = sums[first + i];
			best = v->whose[kind].at[i];
		}
	return best;
}

static int name_phases(const struct vectors *v, struct nm_result *r)
{
	const size_t width = v->in.width + 2; /* and all misses, and instructions */
	double *sums = calloc((r->phase_count + 1) * width, sizeof *sums), *run;

	if (!sums)
		return NM_ENOMEM;
	run = &sums[r->phase_count * width];
	for (size_t s = 0; s < r->stretch_count; s++)
		for (size_t i = r->stretches[s].first; i < r->stretches[s].first + r->stretches[s].count;
		     i++) {
			const struct nm_counts *c =
			    &r->interval_levels[i * r->machine.count + v->level].counts;
			double *phase = &sums[r->stretches[s].phase * width];

			for (size_t k = 0; k < v->in.width; k++)
				phase[k] += v->misses[i * v->in.width + k];
			phase[width - 2] += (double)(c->read_misses + c->write_misses);
			phase[width - 1] += v->instructions[i];
			run[width - 2] += (double)(c->read_misses + c->write_misses);
			run[width - 1] += v->instructions[i];
		}
	for (size_t p = 0; p < r->phase_count; p++) {
		const double *phase = &sums[p * width];

		r->phases[p] = (struct nm_result_phase){phase_leader(v, 0, phase), phase_leader(v, 1, phase),
							phase[width - 2] / phase[width - 1] <
							    NM_PHASE_FLOOR * run[width - 2] / run[width - 1]};
	}
	free(sums);
	return 0;
}

/* The stretches that a plan gives: an interval is of the phase in which it begins. malloc'ed. */
static int follow_plan(const struct nm_result *r, const struct nm_phase_plan *plan,
		       struct nm_stretch **ret_list, size_t *ret_count)
{
	struct nm_stretch *list = calloc(r->interval_count + 1, sizeof *list);
	size_t n = 0, next = 0;

	if (!list)
		return NM_ENOMEM;
	for (size_t i = 0; i < r->interval_count && plan->limits.count; i++) {
		while (next < plan->limits.count && plan->limits.at[next].begin <= r->intervals[i].begin)
			next++;
		if (!n || list[n - 1].phase != plan->limits.at[next - 1].phase)
			list[n++] = (struct nm_stretch){i, 0, plan->limits.at[next - 1].phase};
		list[n - 1].count++;
	}
	*ret_list = list;
	*ret_count = n;
	return 0;
}

static int find_phases(struct vectors *v, struct nm_result *r, const struct nm_phase_plan *plan)
{
	struct nm_stretch *list = NULL;
	size_t count = 0;
	int status = list_columns(v) || fill_vectors(v) ? NM_ENOMEM
		     : plan                             ? follow_plan(r, plan, &list, &count)
							: nm_phases_find(&v->in, &list, &count);

	if (!status) {
		r->stretches = calloc(count + 1, sizeof *r->stretches);
		r->phases = calloc(NM_MOST_PHASES, sizeof *r->phases);
		status = r->stretches && r->phases ? 0 : NM_ENOMEM;
	}
	for (size_t i = 0; !status && i < count; i++) {
		r->stretches[r->stretch_count++] = (struct nm_result_stretch){
		    (uint32_t)list[i].first, (uint32_t)list[i].count, list[i].phase};
		if (list[i].phase >= r->phase_count)
			r->phase_count = list[i].phase + 1;
	}
	free(list);
	return status ? status : name_phases(v, r);
}

int nm_intervals_find_phases(struct nm_result *r, unsigned level, const struct nm_phase_plan *plan)
{
	struct vectors v = {.result = r, .level = level};
	const int status = find_phases(&v, r, plan);

	nm_vec_free(&v.whose[0]);
	nm_vec_free(&v.whose[1]);
	free(v.misses);
	free(v.instructions);
	return status;
}
