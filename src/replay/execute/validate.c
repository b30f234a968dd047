/* SPDX-License-Identifier: MIT
 *
 * validate.c - checks cached results against fresh look-ups: for tests, and in builds with checks.
 */
#include "replay.h"

/* What the running thread's frames have at an address; 0: nothing. */
static uint32_t in_frame(const struct nm_replay *r, uint64_t address)
{
	return nm_space_object_in_frame(r->space, nm_frames_owner(&r->running.thread->frames, address),
					address);
}

/* A look-up at both ends of a kept range finds its object. Variables of a module may overlap: then the one
 * that was found first is kept. */
static int range_is_valid(struct nm_replay *r, uint64_t low, uint64_t length, uint32_t object)
{
	const enum nm_object_kind kind = r->space->objects.at[object].kind;
	struct nm_location first, last;

	if (length && (kind == NM_OBJECT_STACK || kind == NM_OBJECT_LOCAL))
		return in_frame(r, low) == object && in_frame(r, low + length - 1) == object;
	if (!length || kind == NM_OBJECT_GLOBAL || kind == NM_OBJECT_STATIC ||
	    kind == NM_OBJECT_THREAD_LOCAL || kind == NM_OBJECT_LIBRARY_DATA)
		return 1;
	return !nm_space_find(r->space, low, &first) && first.object == object &&
	       !nm_space_find(r->space, low + length - 1, &last) && last.object == object;
}

/* An entry serves the frame of its block's function, or a range of one object. */
static int entry_is_valid(struct nm_replay *r, uint32_t access_site)
{
	const struct nm_access_site *s = &r->decoder.access_sites.at[access_site];
	const uint64_t word = nm_entry_of(s, word), low = nm_entry_of(s, low),
		       length = nm_entry_of(s, length);
	const struct nm_attribution *a;
	uint32_t attr = (uint32_t)word;

	if (!attr || length == NM_NO_LENGTH)
		return 1;
	if (nm_word_is_coalesced(word)) {
		if (attr >= r->resolver.coalesced->count)
			return 0;
		attr = nm_coalesced_at(r->resolver.coalesced, attr)->member[0].attr;
	}
	if (attr >= r->attrs->list.count)
		return 0;
	a = &r->attrs->list.at[attr];
	if (!nm_low_is_of_frame(low))
		return range_is_valid(r, low - NM_BIAS, length - NM_BIAS, a->object);
	return a->object == s->decoded->stack_object ||
	       r->space->objects.at[a->object].frame == s->decoded->stack_object;
}

/* Range holders in a block's list are the block's, and no holder is in two lists. */
static int holders_are_valid(const struct nm_replay *r)
{
	size_t held = 0, free = 0;

	for (size_t i = 1; i < r->space->heap.large.count; i++)
		for (uint32_t h = r->space->heap.large.at[i].range_holders; h;
		     h = r->resolver.range_holders.at[h].next)
			if (r->resolver.range_holders.at[h].block != i ||
			    ++held >= r->resolver.range_holders.count)
				return 0;
	for (uint32_t h = r->resolver.free_holder; h; h = r->resolver.range_holders.at[h].next)
		if (++free >= r->resolver.range_holders.count)
			return 0;
	return 1;
}

/* Callers come before those that they call. */
static int contexts_are_valid(const struct nm_calls *calls)
{
	for (size_t i = 1; calls && i < calls->list.count; i++)
		if (calls->list.at[i].parent >= i)
			return 0;
	return 1;
}

int nm_replay_is_valid(struct nm_replay *r)
{
	for (uint32_t i = 0; i < r->decoder.access_sites.count; i++)
		if (!entry_is_valid(r, i))
			return 0;
	return holders_are_valid(r) && contexts_are_valid(r->calls) && nm_space_is_valid(r->space) &&
	       nm_blocks_are_valid(&r->space->heap) && nm_blocks_are_valid(&r->space->chunks) &&
	       nm_blocks_are_valid(&r->space->named);
}
