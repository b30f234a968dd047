/* SPDX-License-Identifier: MIT
 *
 * prefetch_fill.c - fills by prefetches, into the level whose prefetcher named the lines, from the levels
 * behind it.
 *
 * A level that has the line passes it on, which is a touch for its policy; one that does not loads it too.
 * The shadow cache that classifies misses ignores prefetches (prefetch_tracker.h).
 */
#include "general_priv.h"

static uint32_t ask_ahead(struct nm_cache *next, uint64_t line, uint32_t attr);

/* Prefetches a line into a level, and into the next one if that lacks it. */
static uint32_t prefetch_line(struct nm_cache *c, uint64_t line, uint32_t attr)
{
	uint64_t lower = c->next ? nm_lower_line(c, c->next, line) : 0;
	uint32_t below = is_exclusive(c->next) ? ask_ahead(c->next, lower, attr) : 0, slot;

	c->general->prefetched->entered++;
	if (c->coherent)
		nm_coherence_filled(c, line, attr, 1);
	slot = nm_general_vacate(c, line, attr | NM_BY_PREFETCH);
	emit_event(c, NM_EVENT_PREFETCH, line, 1, 0);
	nm_general_place_line(c, line, slot);
	nm_general_begin_residency(c, slot, attr);
	nm_prefetch_tracker_prefetched(c, line, slot, attr);
	if (c->next && !is_exclusive(c->next))
		below = ask_ahead(c->next, lower, attr);
	c->residencies[slot].below = below;
	return slot;
}

/* The same for an exclusive level: from its own slot or through it. */
static uint32_t exclusive_prefetch(struct nm_cache *c, uint64_t line, uint32_t slot, uint32_t attr)
{
	uint32_t reserved = c->general->reserved_slots[--c->general->reserved_free];

	if (slot != NM_NO_SLOT) {
		nm_general_touch_slot(c, slot);
		if (c->timestamps[slot] >= c->shadow.head &&
		    nm_shadow_leave(&c->shadow, line, c->timestamps[slot]))
			c->failed = 1;
		nm_general_move_residency(c, slot, reserved);
		nm_general_free_slot(c, slot);
	} else {
		c->general->prefetched->entered++;
		if (c->coherent)
			nm_coherence_filled(c, line, attr, 1);
		emit_event(c, NM_EVENT_PREFETCH, line, 1, 0);
		nm_general_begin_residency(c, reserved, attr);
		nm_prefetch_tracker_prefetched(c, line, reserved, attr);
		if (c->next)
			c->residencies[reserved].below =
			    ask_ahead(c->next, nm_lower_line(c, c->next, line), attr);
	}
	c->tags[reserved] = line;
	return reserved;
}

/* Requests a line for a prefetch of the level above; returns its slot. */
static uint32_t ask_ahead(struct nm_cache *next, uint64_t line, uint32_t attr)
{
	uint32_t slot = nm_general_find(next, line);

	if (is_exclusive(next))
		return exclusive_prefetch(next, line, slot, attr);
	if (slot == NM_NO_SLOT)
		return prefetch_line(next, line, attr);
	nm_general_touch_slot(next, slot);
	return slot;
}

void nm_general_prefetch(struct nm_cache *c, uint64_t line, uint32_t attr)
{
	const struct nm_ref read = {.attr = attr, .kind = NM_REF_READ, .weight = 1};

	if (nm_general_find(c, line) != NM_NO_SLOT)
		return;
	if (c->coherent)
		nm_coherence_acquire(c, &read, line << c->line_shift, 0);
	prefetch_line(c, line, attr);
	if (c->coherent)
		nm_coherence_touch(c, NM_NO_SLOT, 0);
}

void nm_prefetch_issue(struct nm_prefetch_queue *queue)
{
	for (size_t i = 0; i < queue->list.count; i++)
		nm_general_prefetch(queue->list.at[i].level, queue->list.at[i].line, queue->list.at[i].attr);
	queue->list.count = 0;
}
