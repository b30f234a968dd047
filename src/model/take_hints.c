/* SPDX-License-Identifier: MIT
 *
 * take_hints.c - has a running hierarchy follow the program's prefetches and non-temporal stores from the first of
 * them on, so that programs without any pay nothing.
 *
 * Only general levels follow them. A fast level becomes the general one that would be there had it taken the same
 * references: both have lines, timestamps, residencies and counters in the same arrays, so only the general state
 * is made of them: which ways are free, and LRU's order, which is that of the timestamps. Some ways may be padding;
 * they are never free. What a fast level left to the next one to know, the lines it has seen, it gets from there.
 *
 * Levels that look ahead, and those that machines share (shared_levels.c), cannot: their hierarchy ignores hints.
 */
#include <stdlib.h>
#include <string.h>

#include "general.h"
#include "hierarchy_priv.h"

static int can_take(const struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < h->count; i++)
		if (h->same[i] != i)
			return 0;
	for (unsigned u = 0; u < unit_count(h); u++)
		if (nm_level_looks_ahead(&h->units[u].spec))
			return 0;
	return 1;
}

/* Marks the ways of a set that hold no line as free, and shows the policy the others in the order of their
 * touches. */
static void order_ways(const struct nm_cache *c, uint64_t set)
{
	struct nm_general *g = c->general;
	const uint64_t *tags = c->tags + set * c->ways, *timestamps = c->timestamps + set * c->ways;
	uint32_t order[NM_HIGHLY_ASSOCIATIVE], count = 0;

	g->free_ways[set] = g->free_count[set] = 0;
	for (uint32_t way = 0, at; way < c->spec.ways; way++) {
		if (tags[way] == NM_NO_LINE) {
			g->free_ways[set] |= 1ull << way;
			g->free_count[set]++;
			continue;
		}
		for (at = count++; at && timestamps[order[at - 1]] > timestamps[way]; at--)
			order[at] = order[at - 1];
		order[at] = way;
	}
	for (uint32_t i = 0; i < count; i++)
		g->replacement.policy->load(&g->replacement, set, order[i]);
}

static int become_general(struct nm_hierarchy *h, struct nm_cache *c)
{
	const struct nm_level_context context = {.queue = &h->queue};

	nm_cache_lay_out(c);
	if (nm_general_new(c, &context))
		return NM_ENOMEM;
	for (uint64_t set = 0; set < c->spec.sets; set++)
		order_ways(c, set);
	if (c->coherent)
		nm_coherence_clear_none(c);
	free(c->predicted);
	c->predicted = NULL;
	c->lookup = &nm_lookup_general;
	return 0;
}

/* Levels that left it to others to know which lines are cold get to know it. */
static int learn_colds(struct nm_hierarchy *h)
{
	int status = 0;

	for (unsigned u = 0; u < unit_count(h) && !status; u++) {
		struct nm_cache *c = &h->units[u];

		if (c->next_knows_cold)
			status = nm_shadow_learn_seen(&c->shadow, &c->cold_from->shadow);
	}
	return status;
}

static int prepare_level(struct nm_hierarchy *h, struct nm_cache *c)
{
	int status = 0;

	if (c->spec.pages || c->spec.side == NM_SIDE_INSTRUCTION)
		return 0;
	if (!c->general)
		status = become_general(h, c);
	else if (!c->general->prefetched)
		status = nm_prefetch_tracker_new(&c->general->prefetched, c, &h->queue);
	return status ? status : nm_counters_count_extras(&c->counters);
}

int hierarchy_take_hints(struct nm_hierarchy *h)
{
	int status;

	if (h->hints || !can_take(h))
		return 0;
	for (unsigned i = 0; i < h->coherent_count; i++)
		nm_coherence_uncover(h->coherent[i].coherence);
	status = learn_colds(h);
	for (unsigned u = 0; u < unit_count(h) && !status; u++)
		status = prepare_level(h, &h->units[u]);
	find_short_cuts(h);
	h->hints = 1;
	h->one_by_one = h->coalesced != NULL;
	return status;
}
