/* SPDX-License-Identifier: MIT
 *
 * fast_coherent.h - references to fast levels that a protocol keeps coherent.
 *
 * Most of the time a line concerns one core. So a hit does not ask coherence if that has cleared the line for
 * what the core does (struct nm_coherent_level); everything else goes through take_any, line by line. Misses
 * are passed on at once, so that the levels and the directory agree on what is where.
 */
#ifndef NM_FAST_COHERENT_H
#define NM_FAST_COHERENT_H

#include "coalesced.h"
#include "fast_any.h"

/* Bytes from its address on that a reference writes, a bit each. */
ALWAYS uint64_t bytes_written(const struct nm_cache *c, const struct nm_ref *r)
{
	return nm_ref_is_coalesced(r) ? nm_coalesced_at(c->coalesced, r->attr)->written : low_bits(r->size);
}

/* Takes references, coalesced ones too, up to the first that does not lie within a line that is cleared for
 * it; the log has room for them. Returns how many it took. */
ALWAYS uint32_t take_cleared(struct nm_cache *c, const struct nm_ref *refs, uint32_t count,
			     struct shape shape)
{
	const unsigned shift = shape.line_shift ? shape.line_shift : c->line_shift, line = 1u << shift;
	const uint8_t *const clear = c->coherent->clear;
	uint64_t *const written = c->coherent->written, *const timestamps = c->timestamps;
	struct nm_residency *const residencies = c->residencies;
	uint64_t now = c->shadow.now, head = c->shadow.head;
	uint32_t *const log = c->shadow.log;
	const struct nm_ref *r = refs;

	for (; r != refs + count; r++, now++) {
		const unsigned writes = r->kind == NM_REF_FETCH ? 0 : r->kind;
		const unsigned first = (unsigned)r->address & (line - 1);
		const uint32_t slot = find(c, r->address >> shift, shape);

		if (slot == NM_NO_SLOT || first + r->size > line ||
		    !(clear[slot] & (writes ? NM_CLEAR_WRITE : NM_CLEAR_READ)))
			break;
		if (__builtin_expect(timestamps[slot] < head, 0))
			head = enter_late(&c->shadow);
		log[now] = slot;
		timestamps[slot] = now;
		residencies[slot].writes += writes;
		residencies[slot].served += r->weight;
		residencies[slot].mask |= low_bits(r->size) << first;
		if (writes)
			written[slot] |= bytes_written(c, r) << first;
	}
	c->shadow.now = now;
	return (uint32_t)(r - refs);
}

static __attribute__((noinline)) uint32_t take_cleared_8(struct nm_cache *c, const struct nm_ref *refs,
							 uint32_t count)
{
	return take_cleared(c, refs, count, (struct shape){8, 6});
}

static uint32_t take_cleared_any(struct nm_cache *c, const struct nm_ref *refs, uint32_t count)
{
	reserve(&c->shadow, count);
	return c->ways == 8 && c->line_shift == 6 ? take_cleared_8(c, refs, count)
						  : take_cleared(c, refs, count, any_shape);
}

/* A reference that is not, one by one if it is coalesced. */
static __attribute__((noinline)) void take_uncleared(struct nm_cache *c, const struct nm_ref *r)
{
	const struct nm_coalesced *g = nm_ref_is_coalesced(r) ? nm_coalesced_at(c->coalesced, r->attr) : NULL;

	if (!g)
		take_any(c, r);
	for (uint32_t i = 0; g && i < g->members; i++) {
		const struct nm_ref single = nm_coalesced_member_ref(r, &g->member[i]);

		if (!take_cleared_any(c, &single, 1))
			take_any(c, &single);
	}
}

static void take_coherent(struct nm_cache *c, const struct nm_ref *refs, uint32_t count)
{
	uint64_t references = 0, writes = 0;

	for (uint32_t i = 0; i < count; i++) {
		references += refs[i].weight;
		writes += refs[i].kind;
	}
	nm_cache_count(c, references, writes);
	for (uint32_t i = 0; i < count; i++) {
		i += take_cleared_any(c, refs + i, count - i);
		if (i < count)
			take_uncleared(c, &refs[i]);
	}
}

#endif
