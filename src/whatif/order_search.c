/* SPDX-License-Identifier: MIT */
#include "order_search.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy.h"

enum { LINE = 64, GRANULE = 16, HEADER = 8, LEAST = 32 };

/* ---- the cost of a layout ---- */

/* Where the units of a layout lie, and what it is fed to. */
struct simulation {
	const struct nm_visit_log *log;
	const struct nm_element_map *map;
	struct {
		uint32_t part;
		uint64_t from, last; /* offsets of its first and last bytes */
	} units[NM_VISIT_UNITS];
	struct nm_hierarchy *caches;
	struct nm_ref refs[NM_BATCH];
	unsigned count;
};

static int flush(struct simulation *s)
{
	const int status = nm_hierarchy_run(s->caches, s->refs, s->count);

	s->count = 0;
	return status;
}

static int feed(struct simulation *s, uint64_t address, uint32_t key)
{
	s->refs[s->count++] = (struct nm_ref){.address = address, .attr = key, .size = 1, .weight = 1};
	return s->count == NM_BATCH ? flush(s) : 0;
}

/* Bytes from block to block: of an array those of its elements count. */
static uint64_t pitch(const struct nm_visit_log *log, uint64_t bytes)
{
	const uint64_t room = (bytes + HEADER + GRANULE - 1) / GRANULE * GRANULE;

	return log->is_array ? bytes : room > LEAST ? room : LEAST;
}

/* Blocks stay as close to each other as they are, in proportion to their sizes; arrays at their place in a line. */
static uint64_t base_of(const struct simulation *s, uint32_t part, uint64_t low)
{
	const uint64_t was = pitch(s->log, s->map->bytes), is = pitch(s->log, s->map->strides.at[part]);
	const uint64_t region = UINT64_C(1) << 44;

	if (!part && was == is)
		return low;
	low %= region / 16;
	if (s->log->is_array)
		return (part + 1) * region + (low / was * is) / LINE * LINE + low % LINE;
	return (part + 1) * region + (low / was * is + low % was * is / was) / GRANULE * GRANULE;
}

/* Each line of an element that a visit needs, once. */
static int feed_visit(struct simulation *s, const struct nm_visit *v)
{
	uint64_t lines[2 * NM_VISIT_UNITS + 1];
	unsigned count = 0;
	int follows = 0, status = 0;

	for (uint64_t left = v->units; left; left &= left - 1) {
		const unsigned unit = (unsigned)__builtin_ctzll(left);
		const uint32_t part = s->units[unit].part;
		const uint64_t start = base_of(s, part, v->low) + v->element * s->map->strides.at[part];

		follows |= part && s->map->pointer != NM_NO_POINTER;
		lines[count++] = (start + s->units[unit].from) / LINE;
		lines[count++] = (start + s->units[unit].last) / LINE;
	}
	if (follows)
		lines[count++] =
		    (base_of(s, 0, v->low) + v->element * s->map->strides.at[0] + (uint64_t)s->map->pointer) /
		    LINE;
	for (unsigned i = 0; i < count && !status; i++) {
		unsigned before = 0;

		while (lines[before] != lines[i])
			before++;
		if (before == i)
			status = feed(s, lines[i] * LINE, v->key);
	}
	return status;
}

static double cost_of(const struct nm_order_search *search, const struct nm_hierarchy *caches)
{
	double cost = 0;

	for (unsigned level = 0; level < search->machine->count; level++) {
		struct nm_counts total;

		nm_hierarchy_total(caches, level, &total);
		cost += (double)total.covered * search->costs[level].covered +
			(double)(total.loads - total.covered) * search->costs[level].other;
	}
	return cost;
}

static int simulate(const struct nm_order_search *search, const struct nm_element_map *map, double *ret_cost,
		    struct nm_error *err)
{
	struct simulation *s = calloc(1, sizeof *s);
	const struct nm_visit_log *log = search->log;
	int status = s ? nm_hierarchy_new(&s->caches, search->machine, err) : nm_fail_memory(err);

	if (status) {
		free(s);
		return status;
	}
	s->log = log;
	s->map = map;
	for (size_t i = 0; i < log->units.count; i++) {
		const struct nm_member *m = &map->members.at[log->units.at[i].member];

		s->units[i].part = m->part;
		s->units[i].from = m->to + log->units.at[i].offset;
		s->units[i].last = s->units[i].from + log->units.at[i].bytes - 1;
	}
	for (size_t i = 0; i < log->visits.count && !status; i++)
		status = log->visits.at[i].units ? feed_visit(s, &log->visits.at[i])
						 : feed(s, log->visits.at[i].low, log->visits.at[i].key);
	if (!status)
		status = flush(s);
	if (!status)
		status = nm_hierarchy_finish(s->caches);
	if (!status)
		*ret_cost = cost_of(search, s->caches);
	nm_hierarchy_free(s->caches);
	free(s);
	return status ? nm_fail_memory(err) : 0;
}

int nm_order_cost(const struct nm_order_search *search, const char *text, double *ret_cost,
		  struct nm_error *err)
{
	struct nm_element_map map;
	struct nm_candidate c;
	int status = nm_candidate_parse(&c, text, err);

	if (!status && nm_element_map_init(&map, &search->log->type))
		status = nm_fail_memory(err);
	for (size_t i = 0; i < c.transforms.count && !status; i++)
		status = nm_element_map_apply(&map, &search->log->type, &c.transforms.at[i], err);
	if (!status && !search->log->is_array &&
	    pitch(search->log, map.strides.at[0]) > pitch(search->log, map.bytes))
		*ret_cost = INFINITY; /* all other blocks of the heap would move too */
	else if (!status)
		status = simulate(search, &map, ret_cost, err);
	nm_element_map_done(&map);
	nm_candidate_done(&c);
	return status;
}

/* ---- the search ---- */

/* Keeps the cheapest layouts: orders, or splits. */
static void rank(struct nm_order_search *search, const struct nm_found_layout *layout)
{
	struct nm_found_layout *list = layout->hot ? search->splits : search->orders;
	unsigned at = layout->hot ? NM_FOUND_SPLITS : NM_FOUND_ORDERS;

	if (list[at - 1].text && list[at - 1].order.cost <= layout->order.cost)
		return;
	for (at--; at && (!list[at - 1].text || list[at - 1].order.cost > layout->order.cost); at--)
		list[at] = list[at - 1];
	list[at] = *layout;
}

/* The cost of a layout, which is simulated once. */
static int try_layout(struct nm_order_search *search, struct nm_found_layout *layout, struct nm_error *err)
{
	uint64_t known;
	int status;

	if (!layout->text)
		return nm_fail_memory(err);
	known = nm_map_get(&search->known, (uintptr_t)layout->text, search->costs_known.count);
	if (known < search->costs_known.count) {
		layout->order.cost = search->costs_known.at[known];
		return 0;
	}
	search->tried++;
	status = nm_order_cost(search, layout->text, &layout->order.cost, err);
	if (!status)
		rank(search, layout);
	if (!status && (nm_vec_push(&search->costs_known, layout->order.cost) ||
			nm_map_put(&search->known, (uintptr_t)layout->text, known)))
		status = nm_fail_memory(err);
	return status;
}

static int try_order(struct nm_order_search *search, struct nm_order *o, struct nm_error *err)
{
	struct nm_found_layout layout = {.text = nm_order_text(search->log, &search->names, o, NULL, 0),
					 .order = *o};
	const int status = try_layout(search, &layout, err);

	o->cost = layout.order.cost;
	return status;
}

/* Moves one member at a time, until no move makes it cheaper. */
static int improve(struct nm_order_search *search, struct nm_order *best, struct nm_error *err)
{
	int status = 0, better = 1;

	while (better && !status) {
		better = 0;
		for (unsigned from = 0; from < best->count && !status; from++)
			for (unsigned to = 0; to < best->count && !status && search->tried < search->most;
			     to++) {
				struct nm_order moved = nm_order_move(best, from, to);

				if (to == from || (to + 1 == from)) /* the latter is another's move by one */
					continue;
				status = try_order(search, &moved, err);
				if (!status && moved.cost < best->cost) {
					*best = moved;
					better = 1;
				}
			}
	}
	return status;
}

/* Tries orders that are drawn; the best stays in *best. */
static int draw(struct nm_order_search *search, struct nm_order *best, struct nm_error *err)
{
	struct nm_order o = *best;
	uint64_t state = 1;
	int status = 0;

	for (unsigned round = 0; round < search->most / 4 && !status; round++) {
		nm_order_shuffle(&o, &state);
		status = try_order(search, &o, err);
		if (!status && o.cost < best->cost)
			*best = o;
	}
	return status;
}

int nm_order_search_splits(struct nm_order_search *search, const struct nm_order *order, struct nm_error *err)
{
	const struct nm_visit_log *log = search->log;
	struct nm_order own, used;
	int status = 0;

	nm_order_as_it_is(log, 1, &own);
	nm_order_by_use(log, &own, &used);
	for (unsigned hot = 1; hot < log->map.members.count && hot <= used.count && !status; hot++) {
		struct nm_found_layout layout = {.text =
						     nm_order_text(log, &search->names, order, &used, hot),
						 .order = *order,
						 .hot = hot};

		status = try_layout(search, &layout, err);
	}
	return status;
}

int nm_order_search_run(struct nm_order_search *search, struct nm_error *err)
{
	enum { STARTS = 3 };
	const struct nm_visit_log *log = search->log;
	struct nm_order starts[STARTS], best = {.cost = 0};
	int status;

	assert(log->type.name);
	status = simulate(search, &log->map, &search->own, err);
	nm_order_as_it_is(log, 1, &starts[0]);
	nm_order_by_use(log, &starts[0], &starts[1]);
	nm_order_by_affinity(log, &starts[1], &starts[2]);
	for (unsigned i = 0; i < STARTS && !status; i++) {
		status = try_order(search, &starts[i], err);
		if (!status && (!i || starts[i].cost < best.cost))
			best = starts[i];
	}
	if (!status)
		status = draw(search, &best, err);
	if (!status)
		status = improve(search, &best, err);
	return status;
}

void nm_order_search_done(struct nm_order_search *search)
{
	nm_map_done(&search->known);
	nm_vec_free(&search->costs_known);
	nm_strings_done(&search->names);
}
