/* SPDX-License-Identifier: MIT
 *
 * validate.c - checks cached results against fresh look-ups: for tests, and in builds with checks.
 */
#include "engine_priv.h"

/* The object of a kept range is found at both its ends. Variables of a module may overlap: then the one that
 * was found first is kept. */
static int range_is_valid(struct nm_engine *e, uint64_t low, uint64_t length, uint32_t object)
{
	const enum nm_object_kind kind = e->space.objects.at[object].kind;
	struct nm_location first, last;

	if (!length || kind == NM_OBJECT_GLOBAL || kind == NM_OBJECT_STATIC ||
	    kind == NM_OBJECT_THREAD_LOCAL || kind == NM_OBJECT_LIBRARY_DATA)
		return 1;
	return !nm_space_find(&e->space, low, &first) && first.object == object &&
	       !nm_space_find(&e->space, low + length - 1, &last) && last.object == object;
}

/* What an entry serves is the frame of its block's function, or a range of one object. */
static int entry_is_valid(struct nm_engine *e, uint32_t access_site)
{
	const struct nm_access_site *o = &e->decoder.access_sites.at[access_site];
	const uint64_t word = nm_entry_of(o, word), low = nm_entry_of(o, low),
		       length = nm_entry_of(o, length);
	const struct nm_attribution *a;
	uint32_t attr = (uint32_t)word;

	if (!attr || length == NM_NO_LENGTH)
		return 1;
	if (nm_word_is_coalesced(word)) {
		if (attr >= e->resolver.coalesced->count)
			return 0;
		attr = nm_coalesced_at(e->resolver.coalesced, attr)->member[0].attr;
	}
	if (attr >= e->attrs.list.count)
		return 0;
	a = &e->attrs.list.at[attr];
	return low == NM_LOW_OF_FRAME ? a->object == o->decoded->stack_object
				      : range_is_valid(e, low - NM_BIAS, length - NM_BIAS, a->object);
}

/* Range holders in a block's list are the block's, and no holder is in two lists. */
static int holders_are_valid(const struct nm_engine *e)
{
	size_t held = 0, free = 0;

	for (size_t i = 1; i < e->space.heap.large.count; i++)
		for (uint32_t h = e->space.heap.large.at[i].range_holders; h;
		     h = e->resolver.range_holders.at[h].next)
			if (e->resolver.range_holders.at[h].block != i ||
			    ++held >= e->resolver.range_holders.count)
				return 0;
	for (uint32_t h = e->resolver.free_holder; h; h = e->resolver.range_holders.at[h].next)
		if (++free >= e->resolver.range_holders.count)
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

int nm_engine_is_valid(struct nm_engine *e)
{
	for (uint32_t i = 0; i < e->decoder.access_sites.count; i++)
		if (!entry_is_valid(e, i))
			return 0;
	return holders_are_valid(e) && contexts_are_valid(e->calls) && nm_space_is_valid(&e->space) &&
	       nm_blocks_are_valid(&e->space.heap) && nm_blocks_are_valid(&e->space.named);
}
