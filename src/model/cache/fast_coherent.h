/* SPDX-License-Identifier: MIT
 *
 * fast_coherent.h - references to fast levels that a protocol keeps coherent.
 *
 * Most of the time a line concerns one core. So a hit does not ask coherence if that has cleared the line for what
 * the core does (struct nm_coherent_level); everything else goes through take_any, line by line. Misses are passed
 * on at once, so that the levels and the directory agree on what is where.
 */
#ifndef NM_FAST_COHERENT_H
#define NM_FAST_COHERENT_H

#include "coalesced.h"
#include "fast_chain.h"

/* Bytes from its address on that a reference writes, a bit each. */
ALWAYS uint64_t bytes_written(const struct nm_cache *c, const struct nm_ref *r)
{
	return nm_ref_is_coalesced(r) ? nm_coalesced_at(c->coalesced, r->attr)->written : low_bits(r->size);
}

/* Serves a reference, or a coalesced one, within a line that is cleared for it: 1; else does nothing. */
ALWAYS int take_cleared(struct nm_cache *c, const struct nm_ref *r)
{
	const unsigned writes = r->kind == NM_REF_FETCH ? 0 : r->kind;
	const unsigned first = (unsigned)(r->address & (c->spec.line - 1));
	const uint64_t line = r->address >> c->line_shift;
	const uint64_t *const clear = c->coherent->clear[writes != 0];
	uint32_t slot;

	if (first + r->size > c->spec.line)
		return 0;
	slot = c->predicted ? c->predicted[nm_cache_guess(line)] : NM_NO_SLOT;
	if (slot == NM_NO_SLOT || clear[slot] != line) {
		slot = find(c, line, any_shape);
		if (slot == NM_NO_SLOT || clear[slot] != line)
			return 0;
		if (c->predicted)
			c->predicted[nm_cache_guess(line)] = slot;
	}
	reserve(&c->shadow, 1);
	touch(c, slot);
	c->residencies[slot].writes += writes;
	c->residencies[slot].served += r->weight;
	c->residencies[slot].mask |= low_bits(r->size) << first;
	if (writes)
		c->coherent->written[slot] |= bytes_written(c, r) << first;
	return 1;
}

/* The same of lines that are not cleared, one by one. */
static __attribute__((noinline)) void take_uncleared(struct nm_cache *c, const struct nm_ref *r)
{
	const struct nm_coalesced *g = nm_ref_is_coalesced(r) ? nm_coalesced_at(c->coalesced, r->attr) : NULL;

	if (!g)
		take_any(c, r);
	for (uint32_t i = 0; g && i < g->members; i++) {
		const struct nm_ref single = nm_coalesced_member_ref(r, &g->member[i]);

		if (!take_cleared(c, &single))
			take_any(c, &single);
	}
}

static void coherent_loop(struct nm_cache *c, const struct nm_ref *refs, uint32_t count)
{
	for (const struct nm_ref *r = refs, *const end = refs + count; r != end; r++) {
		nm_cache_count(c, r->weight, r->kind);
		if (__builtin_expect(!take_cleared(c, r), 0))
			take_uncleared(c, r);
	}
}

#endif
