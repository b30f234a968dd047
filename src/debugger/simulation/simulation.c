/* SPDX-License-Identifier: MIT */
#include "simulation.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stops.h"

/* ---- a run ---- */

struct run {
	const struct nm_simulation *simulation;
	struct nm_stop *stops;
	unsigned stop_count, flags;
	struct nm_checkpoint_report *report;
};

enum { STOPPED = 1 };

static void write_record(const struct nm_simulation *s)
{
	const struct nm_shared_record *r = s->record;
	const struct nm_caches *c = s->caches;

	for (unsigned i = 0; i < c->effect_count; i++)
		if (nm_event_leaves(c->effects[i].kind))
			nm_record_left(r, nm_record_piece(r, c->position), c->effects[i].level,
				       c->effects[i].line);
	if (!(c->position & ((1ull << r->bin_shift) - 1)) || c->position == c->program->references.count)
		r->misses[(c->position - 1) >> r->bin_shift] = c->misses;
}

/* Simulates the next reference. 0 or a code of nm_caches_feed(). */
static int feed_reference(const struct nm_simulation *s)
{
	const int status = nm_caches_feed(s->caches, nm_reference_at(s->reader, s->caches->position));

	write_record(s);
	return status;
}

/* Whether the run ends here: a stop matches that has no skips left. */
static int check_stops(const struct run *run, const struct nm_nest_step *step)
{
	const struct nm_caches *c = run->simulation->caches;

	for (unsigned i = 0; i < run->stop_count; i++) {
		struct nm_stop *stop = &run->stops[i];
		struct nm_effect left = {0};

		if (!nm_stop_holds(stop, c, step, &left))
			continue;
		if (stop->skip) {
			stop->skip--;
			continue;
		}
		run->report->matched = c->position;
		run->report->matched_by = stop->id;
		run->report->left = left;
		return !(run->flags & NM_RUN_LAST);
	}
	return 0;
}

static int take_step(const struct run *run, const struct nm_nest_step *step)
{
	run->report->status = feed_reference(run->simulation);
	return run->report->status ? STOPPED : check_stops(run, step);
}

static int note_step(void *self, const struct nm_nest_step *step, struct nm_error *err)
{
	(void)err;
	return take_step(self, step);
}

/* Steps through the nest at the same time, to know its loop indices. */
static void run_in_nest(struct run *run, uint64_t to)
{
	const struct nm_caches *c = run->simulation->caches;
	const struct nm_nest_visitor visitor = {note_step, run};
	struct nm_error err;

	nm_nest_walk(c->program->nest, c->program->first + c->position, c->program->first + to - 1, &visitor,
		     &err);
}

void nm_simulation_run(const struct nm_simulation *s, uint64_t to, unsigned flags, struct nm_stop *stops,
		       unsigned stop_count, struct nm_checkpoint_report *ret)
{
	struct run run = {s, stops, stop_count, flags, ret};
	const struct nm_caches *c = s->caches;

	assert(stops || !stop_count);
	*ret = (struct nm_checkpoint_report){.matched = 0};
	if (to > c->position && nm_stops_ask_loops(stops, stop_count))
		run_in_nest(&run, to);
	else
		while (c->position < to && !take_step(&run, NULL))
			;
	ret->position = c->position;
	ret->effect_count = c->effect_count;
	memcpy(ret->effects, c->effects, sizeof c->effects);
}

int nm_simulation_status(const struct nm_checkpoint_report *report, struct nm_error *err)
{
	if (!report->status)
		return 0;
	return nm_fail(err, (enum nm_code)report->status, "%s",
		       report->status == NM_EPLUGIN ? "a plug-in named a place that its level has not"
						    : "out of memory for the caches");
}

/* ---- what the caches hold ---- */

int nm_simulation_slots(const struct nm_simulation *s, unsigned level, unsigned core, uint64_t from,
			uint64_t to, struct nm_slot **ret_slots, size_t *ret_count)
{
	const unsigned ways = nm_caches_ways(s->caches, level);
	const size_t count = (size_t)(to - from) * ways;
	struct nm_slot *slots = calloc(count + 1, sizeof *slots);

	if (!slots)
		return NM_ENOMEM;
	for (size_t i = 0; i < count; i++)
		slots[i] = nm_caches_slot(s->caches, level, core, from + i / ways, (unsigned)(i % ways));
	*ret_slots = slots;
	*ret_count = count;
	return 0;
}

const struct nm_sums *nm_simulation_sums(const struct nm_simulation *s, unsigned level, int by_set,
					 size_t *ret_count)
{
	const struct nm_caches *c = s->caches;

	assert(level < NM_MAX_LEVELS);
	*ret_count = by_set ? (size_t)nm_caches_sets(c, level) : c->program->sites.count;
	return by_set ? c->by_set[level] : c->by_attr[level];
}

struct nm_found_slot nm_simulation_find(const struct nm_simulation *s, unsigned level, unsigned core,
					uint64_t address)
{
	struct nm_found_slot found = {0};

	found.is_there = nm_caches_find(s->caches, level, core, address, &found.slot, &found.set, &found.way);
	return found;
}

/* ---- lines of memory ---- */

struct line_sums nm_vec(struct nm_line_sum);

/* Counts an effect of the last reference. 0 or NM_ENOMEM. */
static int count_line(struct line_sums *lines, struct nm_map *index_of, const struct nm_effect *e,
		      uint32_t attr)
{
	uint64_t index = nm_map_get(index_of, e->line, UINT64_MAX);

	if (index == UINT64_MAX) {
		index = lines->count;
		if (nm_map_put(index_of, e->line, index) ||
		    nm_vec_push(lines, (struct nm_line_sum){.line = e->line}))
			return NM_ENOMEM;
	}
	lines->at[index].attr = attr;
	lines->at[index].references++;
	lines->at[index].misses += e->kind == NM_EVENT_MISS;
	return 0;
}

int nm_simulation_lines(const struct nm_simulation *s, uint64_t to, unsigned level,
			struct nm_line_sum **ret_lines, size_t *ret_count)
{
	const struct nm_caches *c = s->caches;
	struct line_sums lines = {0};
	struct nm_map index_of = {0};
	int status = 0;

	assert(ret_lines && ret_count);
	while (c->position < to && !status && !(status = feed_reference(s)))
		for (unsigned i = 0; i < c->effect_count && !status; i++) {
			const struct nm_effect *e = &c->effects[i];

			if (e->level == level && (e->kind == NM_EVENT_HIT || e->kind == NM_EVENT_MISS))
				status = count_line(&lines, &index_of, e, c->reference->attr);
		}
	nm_map_done(&index_of);
	*ret_lines = lines.at;
	*ret_count = lines.count;
	if (status)
		nm_vec_free(&lines);
	return status;
}
