/* SPDX-License-Identifier: MIT
 *
 * doubts.c - true and false sharing: a coherence miss is in doubt until its core touches a byte that
 * another core wrote, and counts as false if that does not happen (coherence.h has the rules).
 *
 * The masks of a copy: FOREIGN has the bytes that others wrote since it was loaded, BROUGHT those that the
 * last load brought in, FRESH those that make its misses true. Reloading a lost copy adds BROUGHT to FRESH;
 * any other load clears FRESH. A touch of a fresh byte decides all doubts as true sharing and clears FRESH.
 */
#include <string.h>

#include "cache.h"
#include "coherence.h"
#include "general.h"

/* The bits of the current reference's bytes in word `w` of a mask, widened to aligned units of `unit`
 * bytes. */
static uint64_t bits_in(const struct nm_coherence *c, unsigned w, unsigned unit)
{
	const uint64_t in_block = c->address & ((1ull << c->block_shift) - 1);
	uint64_t first = in_block & ~(uint64_t)(unit - 1),
		 end = (in_block + c->bytes + unit - 1) & ~(uint64_t)(unit - 1);

	if (!c->bytes)
		return 0;
	first = first > w * 64u ? first - w * 64u : 0;
	end = end > w * 64u ? end - w * 64u : 0;
	if (end > 64)
		end = 64;
	return first >= end ? 0 : (~0ull >> (64 - (end - first))) << first;
}

void nm_coherence_mark(const struct nm_coherence *c, uint64_t *mask)
{
	for (unsigned w = 0; w < c->words; w++)
		mask[w] |= bits_in(c, w, 1);
}

/* Whether the current reference, widened likewise, touches a byte of the mask. */
static int touches_mask(const struct nm_coherence *c, const uint64_t *mask, unsigned unit)
{
	for (unsigned w = 0; w < c->words; w++)
		if (mask[w] & bits_in(c, w, unit))
			return 1;
	return 0;
}

void nm_doubts_begin(struct nm_coherence *c, struct nm_copy *copy, int lost)
{
	uint64_t *foreign = nm_copy_mask(c, copy, NM_MASK_FOREIGN),
		 *brought = nm_copy_mask(c, copy, NM_MASK_BROUGHT),
		 *fresh = nm_copy_mask(c, copy, NM_MASK_FRESH);

	copy->is_true = copy->fresh = 0;
	for (unsigned w = 0; w < c->words; w++) {
		brought[w] = lost ? foreign[w] : 0;
		fresh[w] = lost ? fresh[w] | foreign[w] : 0;
		foreign[w] = 0;
		copy->fresh |= fresh[w] != 0;
	}
}

void nm_doubts_add(struct nm_coherence *c, struct nm_cache *cache, struct nm_copy *copy, uint32_t attr)
{
	const uint64_t *brought = nm_copy_mask(c, copy, NM_MASK_BROUGHT);
	struct nm_extras *extras = &cache->counters.extras[attr];
	struct nm_doubt *doubt = c->free_doubts;

	extras->coherence++;
	if (!copy->is_true && !copy->fresh) {
		extras->unneeded++;
		return;
	}
	extras->false_first += !touches_mask(c, brought, 1);
	extras->false_words += !touches_mask(c, brought, 4);
	if (c->touch && cache->first)
		c->contention->touches.at[c->touch - 1].misses++;
	if (copy->is_true)
		return;
	if (doubt)
		c->free_doubts = doubt->next;
	else if (!(doubt = nm_arena_alloc(&c->arena, sizeof *doubt))) {
		c->failed = 1;
		return;
	}
	*doubt = (struct nm_doubt){copy->doubts, cache, attr, cache->first ? c->touch : 0};
	copy->doubts = doubt;
}

/* Frees the doubts of a copy. */
static void clear_doubts(struct nm_coherence *c, struct nm_copy *copy)
{
	struct nm_doubt *last = copy->doubts;

	if (!last)
		return;
	while (last->next)
		last = last->next;
	last->next = c->free_doubts;
	c->free_doubts = copy->doubts;
	copy->doubts = NULL;
}

void nm_doubts_touch(struct nm_coherence *c, struct nm_copy *copy)
{
	uint64_t *fresh = nm_copy_mask(c, copy, NM_MASK_FRESH);

	if (!touches_mask(c, fresh, 1))
		return;
	copy->is_true = 1;
	copy->fresh = 0;
	memset(fresh, 0, c->words * sizeof *fresh);
	clear_doubts(c, copy);
}

void nm_doubts_end(struct nm_coherence *c, struct nm_copy *copy)
{
	for (const struct nm_doubt *d = copy->doubts; d; d = d->next) {
		d->cache->counters.extras[d->attr].false_sharing++;
		if (d->touch)
			c->contention->touches.at[d->touch - 1].false_misses++;
	}
	clear_doubts(c, copy);
}
