/* SPDX-License-Identifier: MIT
 *
 * bring.c - lines come by prefetches: to the level whose prefetcher named them, and from those behind it.
 *
 * A level that has the line hands it on, which is a touch for its policy; one that does not have it loads it too.  The
 * fully associative cache that misses are classed against knows nothing of it (prefetched.h).
 */
#include "custom_priv.h"

static uint32_t ask_ahead(struct nm_cache *next, uint64_t line, uint32_t cell);

/* Loads a line by a prefetch, and from the next level if that must. */
static uint32_t bring(struct nm_cache *c, uint64_t line, uint32_t cell)
{
	uint64_t lower = c->next ? nm_lower_line(c, c->next, line) : 0;
	uint32_t below = exclusive(c->next) ? ask_ahead(c->next, lower, cell) : 0, place;

	c->custom->prefetched->entered++;
	place = nm_custom_vacate(c, line, cell | NM_BY_PREFETCH);
	tell(c, NM_EVENT_PREFETCH, line, 1, 0);
	nm_custom_settle_in(c, line, place);
	nm_custom_clear_stay(c, place, cell);
	nm_prefetched_bring(c, line, place, cell);
	if (c->next && !exclusive(c->next))
		below = ask_ahead(c->next, lower, cell);
	c->stays[place].below = below;
	return place;
}

/* The same of an exclusive level: from its own place or past it. */
static uint32_t hand_over_ahead(struct nm_cache *x, uint64_t line, uint32_t place, uint32_t cell)
{
	uint32_t slot = x->custom->loans[--x->custom->loan_count];

	if (place != NM_NO_PLACE) {
		nm_custom_touch_place(x, place);
		if (x->stamps[place] >= x->recency.head &&
		    nm_recency_leave(&x->recency, line, x->stamps[place]))
			x->failed = 1;
		nm_custom_move_stay(x, place, slot);
		nm_custom_free_place(x, place);
	} else {
		x->custom->prefetched->entered++;
		tell(x, NM_EVENT_PREFETCH, line, 1, 0);
		nm_custom_clear_stay(x, slot, cell);
		nm_prefetched_bring(x, line, slot, cell);
		if (x->next)
			x->stays[slot].below = ask_ahead(x->next, nm_lower_line(x, x->next, line), cell);
	}
	x->tags[slot] = line;
	return slot;
}

/* A line is asked for by a prefetch of the level above; where it is then. */
static uint32_t ask_ahead(struct nm_cache *next, uint64_t line, uint32_t cell)
{
	uint32_t place = nm_custom_find(next, line);

	if (exclusive(next))
		return hand_over_ahead(next, line, place, cell);
	if (place == NM_NO_PLACE)
		return bring(next, line, cell);
	nm_custom_touch_place(next, place);
	return place;
}

void nm_custom_prefetch(struct nm_cache *c, uint64_t line, uint32_t cell)
{
	if (nm_custom_find(c, line) == NM_NO_PLACE)
		bring(c, line, cell);
}
