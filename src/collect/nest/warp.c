/* SPDX-License-Identifier: MIT
 *
 * warp.c - counts the misses of a nest without simulating all of its iterations (after Morelli and Reineke, "Warping
 * Cache Simulation of Polyhedral Programs", PLDI 2022). The counts are those of plain simulation.
 *
 * Let each area of memory be referenced, in every iteration of a loop, at the addresses of the iteration before plus
 * a constant. After a period of iterations all constants are whole lines, and differ by whole rounds of the sets: they
 * permute the sets alike. If then the caches hold the lines of a period ago, moved so, in the same order, each further
 * period does to the moved lines what the last one did: as many misses, and a state that has moved once more. So the
 * whole periods that remain are skipped, and their misses added.
 *
 * No line moves in the caches for this. Instead the addresses of the area are lowered, for good, by what it has moved.
 * Its number, in the upper bits of an address, keeps lines of different areas apart.
 *
 * Storing and comparing a state costs as much as some references per line, so a loop does it after PAYS times as many.
 * Innermost loops repeat their lines between the ends of lines: nm_lru_misses_loop skips that.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "affine.h"
#include "lru_misses.h"

enum { PAYS = 16, LEAST_PERIODS = 3 /* of a loop */, MOST_AREAS = 1 << (64 - NM_LRU_MISSES_AREA) };

/* An area's addresses lie around the middle of what its number leaves of 64 bits, so that they can move FAR. */
#define MIDDLE (1ull << (NM_LRU_MISSES_AREA - 1))
#define FAR (1ll << (NM_LRU_MISSES_AREA - 2))

struct warped_loop {
	uint64_t period; /* iterations; 0: they are not alike */
	int64_t *moves;  /* [areas] in a period */
	/* a state, and what was counted then; NULL: the loop has stored none */
	uint64_t *lines, *misses, references;
	int64_t *moved;
	uint64_t stored_at; /* iteration */
	int is_stored;
	uint64_t tried; /* references when it last stored one */
};

struct warp {
	const struct nm_nest *nest;
	struct nm_affine affine;
	struct nm_lru_misses *caches;
	unsigned level; /* whose misses are asked for; the last one */
	struct warped_loop *loops;
	struct nm_lru_misses_ref *batch; /* [the references of the largest block] */
	int64_t slots[NM_NEST_DEPTH];
	unsigned depth, warming;
	uint64_t references, warped;
	size_t keys;
	uint64_t *skipped; /* [keys] misses of what was warped */
	uint64_t *labels;  /* [areas] added to their addresses */
	int64_t *moved;    /* [areas] in what was warped */
	int64_t *expected; /* [areas] */
};

/* ---- periods ---- */

/* Steps after which a move has gone through whole units, a power of two. */
static uint64_t steps_to_whole(uint64_t unit, uint64_t move)
{
	const uint64_t low = move & -move;

	return !move || low >= unit ? 1 : unit / low;
}

/* Finds the period; way: bytes after which all levels' sets come round. */
static void find_period(struct warped_loop *l, unsigned areas, const uint8_t *is_touched, uint64_t line,
			uint64_t way)
{
	const int64_t *first = NULL;
	uint64_t others;

	for (unsigned a = 0; a < areas; a++) {
		uint64_t whole, round;

		if (!is_touched[a])
			continue;
		first = first ? first : &l->moves[a];
		whole = steps_to_whole(line, (uint64_t)l->moves[a]);
		round = steps_to_whole(way, (uint64_t)l->moves[a] - (uint64_t)*first);
		l->period = whole > l->period ? whole : l->period;
		l->period = round > l->period ? round : l->period;
	}
	if (!first)
		return;
	/* An area that the loop does not touch must follow the sets round, unless they stay. */
	others = (uint64_t)*first * l->period;
	others = others % way ? others : 0;
	for (unsigned a = 0; a < areas; a++)
		l->moves[a] = (int64_t)(is_touched[a] ? (uint64_t)l->moves[a] * l->period : others);
}

static int find_periods(struct warp *w, const struct nm_nest_node *n, uint64_t line, uint64_t way,
			uint8_t *is_touched)
{
	for (; n; n = n->next) {
		if (n->kind == NM_NEST_RUN)
			continue;
		if (n->kind == NM_NEST_LOOP) {
			struct warped_loop *l = &w->loops[n->number];

			l->moves = calloc(w->affine.areas + 1, sizeof *l->moves);
			if (!l->moves)
				return NM_ENOMEM;
			if (nm_affine_moves(&w->affine, n, is_touched, l->moves))
				find_period(l, w->affine.areas, is_touched, line, way);
		}
		if (find_periods(w, n->body, line, way, is_touched))
			return NM_ENOMEM;
	}
	return 0;
}

/* ---- states ---- */

static int store_state(struct warp *w, struct warped_loop *l, uint64_t iteration)
{
	const unsigned areas = w->affine.areas;

	if (!l->lines) {
		l->lines = calloc(nm_lru_misses_lines(w->caches), sizeof *l->lines);
		l->misses = calloc(w->keys, sizeof *l->misses);
		l->moved = calloc(areas, sizeof *l->moved);
		if (!l->lines || !l->misses || !l->moved)
			return NM_ENOMEM;
	}
	nm_lru_misses_save(w->caches, l->lines);
	for (size_t k = 0; k < w->keys; k++)
		l->misses[k] = nm_lru_misses_by_key(w->caches, w->level)[k] + w->skipped[k];
	memcpy(l->moved, w->moved, areas * sizeof *l->moved);
	l->references = l->tried = w->references;
	l->stored_at = iteration;
	l->is_stored = 1;
	return 0;
}

/* Whether the state is the stored one, a period further. */
static int has_moved(const struct warp *w, const struct warped_loop *l)
{
	for (unsigned a = 0; a < w->affine.areas; a++)
		w->expected[a] = l->moved[a] + l->moves[a] - w->moved[a];
	return nm_lru_misses_is_moved(w->caches, l->lines, w->expected);
}

/* Skips periods: their counts are those since the state was stored. 0: addresses would become too large. */
static int skip_periods(struct warp *w, const struct warped_loop *l, uint64_t periods)
{
	for (unsigned a = 0; a < w->affine.areas; a++) {
		const __int128 moved = w->moved[a] + (__int128)l->moves[a] * periods;

		if (moved >= FAR || moved <= -FAR)
			return 0;
		w->expected[a] = (int64_t)moved;
	}
	memcpy(w->moved, w->expected, w->affine.areas * sizeof *w->moved);
	for (size_t k = 0; k < w->keys; k++)
		w->skipped[k] +=
		    periods * (nm_lru_misses_by_key(w->caches, w->level)[k] + w->skipped[k] - l->misses[k]);
	w->warped += periods * (w->references - l->references);
	w->references += periods * (w->references - l->references);
	return 1;
}

/* Before an iteration of a loop, with `left` ones left: how many of them to skip, or NM_ENOMEM. */
static int64_t try_warp(struct warp *w, struct warped_loop *l, uint64_t iteration, uint64_t left)
{
	if (!l->period || left / l->period < LEAST_PERIODS - 1)
		return 0;
	if (l->is_stored && iteration == l->stored_at + l->period) {
		l->is_stored = 0;
		if (has_moved(w, l) && skip_periods(w, l, left / l->period))
			return (int64_t)(left - left % l->period);
	}
	if (!l->is_stored && w->references - l->tried >= PAYS * nm_lru_misses_lines(w->caches) &&
	    store_state(w, l, iteration))
		return NM_ENOMEM;
	return 0;
}

/* ---- execution ---- */

/* Puts a block's references where the slots have them. */
static void place_references(struct warp *w, const struct nm_nest_block *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const uint32_t number = b->first + i;
		const struct nm_affine_reference *r = &w->affine.references[number];
		uint64_t address = r->base + w->labels[r->area] - (uint64_t)w->moved[r->area];

		for (unsigned d = 0; d < w->depth; d++)
			address += (uint64_t)r->factor[d] * (uint64_t)w->slots[d];
		w->batch[i] = (struct nm_lru_misses_ref){
		    .address = address,
		    .key = w->warming ? 0 : 1 + number,
		    .size = (uint16_t)w->nest->references.at[number].array->element};
	}
}

static void run_block(struct warp *w, const struct nm_nest_block *b)
{
	static const uint64_t no_shifts[1];

	place_references(w, b);
	nm_lru_misses_run(w->caches, w->batch, b->count, no_shifts);
	w->references += b->count;
}

static int run_nodes(struct warp *w, const struct nm_nest_node *n);

static int64_t evaluate_bound(const struct warp *w, const struct nm_nest_value *v)
{
	int64_t best = 0, value = 0;

	for (unsigned i = 0; i < v->arms; i++) {
		const int is_small = nm_nest_sum_at(&v->arm[i], w->slots, &value);

		assert(is_small);
		(void)is_small;
		if (!i || (v->kind == NM_NEST_MIN ? value < best : value > best))
			best = value;
	}
	return best;
}

static uint64_t count_trips(int64_t from, int64_t to, int64_t step)
{
	if (step > 0 ? to < from : to > from)
		return 0;
	return (step > 0 ? (uint64_t)(to - from) / (uint64_t)step : (uint64_t)(from - to) / (uint64_t)-step) +
	       1;
}

/* Iterations of a loop over one block: as many as nothing is to be stored or compared in, `most` at most. */
static uint64_t run_piece(struct warp *w, const struct nm_nest_node *loop, const struct warped_loop *l,
			  uint64_t most)
{
	const struct nm_nest_block *b = loop->body->block;
	const uint64_t due = l->tried + PAYS * nm_lru_misses_lines(w->caches);
	uint64_t trips = most;
	int64_t steps[NM_LRU_MISSES_LOOP];

	if (l->is_stored)
		trips = l->period;
	else if (l->period && due > w->references && (due - w->references) / b->count + 1 < most)
		trips = (due - w->references) / b->count + 1;
	trips = trips < most ? trips : most;
	place_references(w, b);
	for (uint32_t i = 0; i < b->count; i++)
		steps[i] = w->affine.references[b->first + i].factor[loop->slot] * loop->step;
	nm_lru_misses_loop(w->caches, w->batch, steps, b->count, trips);
	w->references += trips * b->count;
	return trips;
}

static int is_simple(const struct nm_nest_node *loop)
{
	const struct nm_nest_node *n = loop->body;

	return n && !n->next && n->kind == NM_NEST_RUN && n->block->count &&
	       n->block->count <= NM_LRU_MISSES_LOOP;
}

/* Iterations [first, end) of a loop. */
static int run_iterations(struct warp *w, const struct nm_nest_node *loop, int64_t from, uint64_t first,
			  uint64_t end)
{
	struct warped_loop *l = &w->loops[loop->number];
	int status = 0;

	l->is_stored = 0;
	for (uint64_t i = first; i < end && !status;) {
		const int64_t skipped = try_warp(w, l, i, end - i);

		if (skipped < 0)
			return NM_ENOMEM;
		i += (uint64_t)skipped;
		if (i == end)
			break;
		w->slots[loop->slot] = from + (int64_t)i * loop->step;
		if (is_simple(loop)) {
			i += run_piece(w, loop, l, end - i);
		} else {
			status = run_nodes(w, loop->body);
			i++;
		}
	}
	return status;
}

static int run_loop(struct warp *w, const struct nm_nest_node *loop)
{
	const int64_t from = evaluate_bound(w, loop->from);
	const uint64_t trips = count_trips(from, evaluate_bound(w, loop->to), loop->step);
	const uint64_t warm = loop->warm < trips ? loop->warm : trips;
	int status;

	w->depth++;
	w->warming++;
	status = run_iterations(w, loop, from, 0, warm);
	w->warming--;
	if (!status)
		status = run_iterations(w, loop, from, warm, trips);
	w->depth--;
	return status;
}

static int run_nodes(struct warp *w, const struct nm_nest_node *n)
{
	int status = 0;

	for (; n && !status; n = n->next) {
		if (n->kind == NM_NEST_RUN) {
			run_block(w, n->block);
		} else if (n->kind == NM_NEST_LOOP) {
			status = run_loop(w, n);
		} else {
			w->warming++;
			status = run_nodes(w, n->body);
			w->warming--;
		}
	}
	return status;
}

/* ---- the whole ---- */

/* The levels that data pass on their way to `last`. NM_NEST_SIMULATE: some have other rules than are simulated here,
 * or lose lines to an inclusive level. */
static int choose_levels(const struct nm_machine *machine, unsigned last, struct nm_machine *ret)
{
	const char *name = machine->levels[last].name;

	*ret = (struct nm_machine){.cores = machine->cores};
	for (unsigned i = 0; i < machine->count; i++) {
		const struct nm_level_spec *spec = &machine->levels[i];

		if (!nm_machine_same(name, spec->name) || spec->side == NM_SIDE_INSTRUCTION)
			continue;
		if (spec->inclusion == NM_INCLUSIVE)
			return NM_NEST_SIMULATE;
		if (i <= last)
			ret->levels[ret->count++] = *spec;
	}
	return !ret->count || nm_lru_misses_check(ret, "", NULL) ? NM_NEST_SIMULATE : 0;
}

/* Finds the periods of all loops, and labels areas for the upper bits of addresses. */
static int prepare_warps(struct warp *w, const struct nm_machine *machine)
{
	const uint64_t line = machine->levels[w->level].line;
	uint64_t way = line;
	uint8_t *is_touched;
	int status;

	for (unsigned i = 0; i < machine->count; i++) {
		const uint64_t sets = machine->levels[i].sets, bytes = sets * machine->levels[i].line;

		if (sets & (sets - 1))
			return 0;
		way = bytes > way ? bytes : way;
	}
	for (unsigned a = 0; a < w->affine.areas; a++)
		w->labels[a] = (uint64_t)a << NM_LRU_MISSES_AREA | MIDDLE;
	is_touched = calloc(w->affine.areas + 1, 1);
	status = is_touched ? find_periods(w, w->nest->body, line, way, is_touched) : NM_ENOMEM;
	free(is_touched);
	return status;
}

static int prepare_warp(struct warp *w, const struct nm_machine *machine)
{
	uint32_t largest = 0;
	unsigned areas;
	int status;

	w->level = machine->count - 1;
	status = nm_affine_new(w->nest, machine->levels[w->level].line, FAR, MOST_AREAS, &w->affine);
	if (status)
		return status;
	for (size_t i = 0; i < w->nest->blocks.count; i++)
		if (w->nest->blocks.at[i]->count > largest)
			largest = w->nest->blocks.at[i]->count;
	areas = w->affine.areas + 1;
	w->keys = w->nest->references.count + 1;
	w->caches = nm_lru_misses_new(machine);
	w->loops = calloc(w->nest->loops + 1, sizeof *w->loops);
	w->batch = calloc(largest + 1, sizeof *w->batch);
	w->skipped = calloc(w->keys, sizeof *w->skipped);
	w->labels = calloc(areas, sizeof *w->labels);
	w->moved = calloc(areas, sizeof *w->moved);
	w->expected = calloc(areas, sizeof *w->expected);
	if (!w->caches || !w->loops || !w->batch || !w->skipped || !w->labels || !w->moved || !w->expected ||
	    nm_lru_misses_reserve(w->caches, w->keys))
		return NM_ENOMEM;
	return prepare_warps(w, machine);
}

static void free_warp(struct warp *w)
{
	for (unsigned i = 0; w->loops && i < w->nest->loops; i++) {
		free(w->loops[i].moves);
		free(w->loops[i].lines);
		free(w->loops[i].misses);
		free(w->loops[i].moved);
	}
	nm_lru_misses_free(w->caches);
	free(w->affine.references);
	free(w->loops);
	free(w->batch);
	free(w->skipped);
	free(w->labels);
	free(w->moved);
	free(w->expected);
}

int nm_nest_count_misses(const struct nm_nest *nest, const struct nm_machine *machine, unsigned level,
			 struct nm_nest_misses *ret)
{
	struct warp w = {.nest = nest};
	struct nm_machine levels;
	int status = choose_levels(machine, level, &levels);

	if (!status)
		status = prepare_warp(&w, &levels);
	if (!status)
		status = run_nodes(&w, nest->body);
	if (!status) {
		for (size_t k = 0; k + 1 < w.keys; k++)
			w.skipped[k] = w.skipped[k + 1] + nm_lru_misses_by_key(w.caches, w.level)[k + 1];
		*ret = (struct nm_nest_misses){w.skipped, w.references, w.warped};
		w.skipped = NULL;
	}
	free_warp(&w);
	return status;
}
