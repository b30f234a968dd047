/* SPDX-License-Identifier: MIT
 *
 * prefetch_fill.c - fills by prefetches, into the level whose prefetcher or program named the lines, from the
 * levels behind it.
 *
 * A level that has the line passes it on, which is a touch for its policy; one that does not loads it too.
 * The shadow cache that classifies misses ignores prefetches (prefetch_tracker.h).
 */
#include "general_priv.h"

#include <assert.h>

static uint32_t ask_ahead(struct nm_cache *next, uint64_t line, uint32_t attr);

/* Prefetches a line into a level, and, unless it is to be alone there, into the next one if that lacks it. */
static uint32_t prefetch_line(struct nm_cache *c, uint64_t line, uint32_t attr, int alone)
{
	uint64_t lower = c->next ? nm_lower_line(c, c->next, line) : 0;
	uint32_t below = is_exclusive(c->next) ? ask_ahead(c->next, lower, attr) : 0, slot;

	c->general->prefetched->entered++;
	if (c->coherent)
		nm_coherence_filled(c, line, attr, 1);
	slot = general_vacate(c, line, attr | NM_BY_PREFETCH);
	emit_event(c, NM_EVENT_PREFETCH, line, 1, 0);
	general_place_line(c, line, slot);
	general_begin_residency(c, slot, attr);
	nm_prefetch_tracker_prefetched(c, line, slot, attr);
	if (c->next && !is_exclusive(c->next) && !alone)
		below = ask_ahead(c->next, lower, attr);
	c->residencies[slot].below = below;
	return slot;
}

/* The same for an exclusive level: from its own slot or through it. */
static uint32_t exclusive_prefetch(struct nm_cache *c, uint64_t line, uint32_t slot, uint32_t attr)
{
	uint32_t reserved = c->general->reserved_slots[--c->general->reserved_free];

	if (slot != NM_NO_SLOT) {
		general_touch_slot(c, slot);
		if (c->timestamps[slot] >= c->shadow.head &&
		    nm_shadow_leave(&c->shadow, line, c->timestamps[slot]))
			c->failed = 1;
		general_move_residency(c, slot, reserved);
		general_free_slot(c, slot);
	} else {
		c->general->prefetched->entered++;
		if (c->coherent)
			nm_coherence_filled(c, line, attr, 1);
		emit_event(c, NM_EVENT_PREFETCH, line, 1, 0);
		general_begin_residency(c, reserved, attr);
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
		return prefetch_line(next, line, attr, 0);
	general_touch_slot(next, slot);
	return slot;
}

/* Loads a line that the level lacks; returns its slot. */
static uint32_t prefetch_absent(struct nm_cache *c, uint64_t line, uint32_t attr, int alone)
{
	const struct nm_ref read = {.attr = attr, .kind = NM_REF_READ, .weight = 1};
	uint32_t slot;

	if (c->coherent)
		nm_coherence_acquire(c, &read, line << c->line_shift, 0);
	slot = prefetch_line(c, line, attr, alone);
	if (c->coherent)
		nm_coherence_touch(c, NM_NO_SLOT, 0);
	return slot;
}

void nm_general_prefetch(struct nm_cache *c, uint64_t line, uint32_t attr)
{
	if (nm_general_find(c, line) == NM_NO_SLOT)
		prefetch_absent(c, line, attr, 0);
}

/* Whether a level can have a line that those behind it lack. */
static int may_be_alone(const struct nm_cache *c)
{
	for (c = c->next; c; c = c->next)
		if (c->spec.inclusion != NM_NON_INCLUSIVE)
			return 0;
	return 1;
}

/* The cycles that the levels behind take for a line, as their machine says. */
static uint32_t latency_behind(const struct nm_cache *c, uint64_t address)
{
	const uint32_t memory = c->general->prefetched->prefetch.queue->memory_latency;

	for (c = c->next; c; c = c->next)
		if (nm_general_find(c, address >> c->line_shift) != NM_NO_SLOT)
			return c->spec.latency;
	return memory;
}

void nm_general_take_prefetch(struct nm_cache *entry, const struct nm_software_prefetch *p)
{
	struct nm_cache *c = entry;
	uint32_t slot, latency;

	assert(c->general && c->general->prefetched);
	for (unsigned depth = p->depth; depth && c->next && !is_exclusive(c->next); depth--)
		c = c->next;
	for (struct nm_cache *at = entry; at != c->next; at = at->next)
		if ((slot = nm_general_find(at, p->address >> at->line_shift)) != NM_NO_SLOT) {
			c->counters.extras[p->attr].redundant++;
			general_touch_slot(at, slot);
			return;
		}
	latency = latency_behind(c, p->address);
	slot = prefetch_absent(c, p->address >> c->line_shift, p->attr, p->alone && may_be_alone(c));
	nm_prefetch_tracker_delay(c, slot, latency);
}

void nm_prefetch_issue(struct nm_prefetch_queue *queue)
{
	for (size_t i = 0; i < queue->list.count; i++)
		nm_general_prefetch(queue->list.at[i].level, queue->list.at[i].line, queue->list.at[i].attr);
	queue->list.count = 0;
}
