/* SPDX-License-Identifier: MIT
 *
 * validate.c - checks cached results against fresh look-ups: for tests, and in builds with checks.
 */
#include "replay.h"

/* What the running thread's frames have at an address; 0: nothing. */
static uint32_t in_frame(const struct nm_executor *x, uint64_t address)
{
	return nm_space_object_in_frame(x->space, nm_frames_owner(&x->running.thread->frames, address),
					address);
}

/* A look-up at both ends of a kept range finds its object. Variables of a module may overlap: then the one
 * that was found first is kept. */
static int range_is_valid(struct nm_executor *x, uint64_t low, uint64_t length, uint32_t object)
{
	const enum nm_object_kind kind = x->space->objects.at[object].kind;
	struct nm_location first, last;

	if (length && (kind == NM_OBJECT_STACK || kind == NM_OBJECT_LOCAL))
		return in_frame(x, low) == object && in_frame(x, low + length - 1) == object;
	if (!length || kind == NM_OBJECT_GLOBAL || kind == NM_OBJECT_STATIC ||
	    kind == NM_OBJECT_THREAD_LOCAL || kind == NM_OBJECT_LIBRARY_DATA)
		return 1;
	return !nm_space_find(x->space, low, &first) && first.object == object &&
	       !nm_space_find(x->space, low + length - 1, &last) && last.object == object;
}

/* An entry serves the frame of its block's function, or a range of one object. */
static int entry_is_valid(struct nm_executor *x, uint32_t access_site)
{
	const struct nm_access_site *o = &x->decoder.access_sites.at[access_site];
	const uint64_t word = nm_entry_of(o, word), low = nm_entry_of(o, low),
		       length = nm_entry_of(o, length);
	const struct nm_attribution *a;
	uint32_t attr = (uint32_t)word;

	if (!attr || length == NM_NO_LENGTH)
		return 1;
	if (nm_word_is_coalesced(word)) {
		if (attr >= x->resolver.coalesced->count)
			return 0;
		attr = nm_coalesced_at(x->resolver.coalesced, attr)->member[0].attr;
	}
	if (attr >= x->attrs->list.count)
		return 0;
	a = &x->attrs->list.at[attr];
	if (!nm_low_is_of_frame(low))
		return range_is_valid(x, low - NM_BIAS, length - NM_BIAS, a->object);
	return a->object == o->decoded->stack_object ||
	       x->space->objects.at[a->object].frame == o->decoded->stack_object;
}

/* Range holders in a block's list are the block's, and no holder is in two lists. */
static int holders_are_valid(const struct nm_executor *x)
{
	size_t held = 0, free = 0;

	for (size_t i = 1; i < x->space->heap.large.count; i++)
		for (uint32_t h = x->space->heap.large.at[i].range_holders; h;
		     h = x->resolver.range_holders.at[h].next)
			if (x->resolver.range_holders.at[h].block != i ||
			    ++held >= x->resolver.range_holders.count)
				return 0;
	for (uint32_t h = x->resolver.free_holder; h; h = x->resolver.range_holders.at[h].next)
		if (++free >= x->resolver.range_holders.count)
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

int nm_executor_is_valid(struct nm_executor *x)
{
	for (uint32_t i = 0; i < x->decoder.access_sites.count; i++)
		if (!entry_is_valid(x, i))
			return 0;
	return holders_are_valid(x) && contexts_are_valid(x->calls) && nm_space_is_valid(x->space) &&
	       nm_blocks_are_valid(&x->space->heap) && nm_blocks_are_valid(&x->space->chunks) &&
	       nm_blocks_are_valid(&x->space->named);
}
