/* SPDX-License-Identifier: MIT
 *
 * fast_coherent.h - references to fast levels that a protocol keeps coherent.
 *
 * Most of the time a line concerns one core. So a hit does not ask coherence if that has cleared the line for
 * what the core does (struct nm_coherent_level). The hot loop (fast.c) takes such hits at predicted slots;
 * this file takes everything else, line by line. Misses are passed on at once, so that the levels and the
 * directory agree on what is where.
 */
#ifndef NM_FAST_COHERENT_H
#define NM_FAST_COHERENT_H

#include "coalesced.h"
#include "fast_any.h"

/* Notes the bytes that a reference writes to a cleared line: those of `mask`, or some of them if it is
 * coalesced. `first` is its first byte. */
ALWAYS void note_written(const struct nm_cache *c, uint64_t *written, const struct nm_ref *r, uint64_t mask,
			 unsigned first)
{
	if (r->weight > 1)
		mask &= nm_coalesced_at(c->coalesced, r->attr)->written << first;
	*written |= mask;
}

/* Takes a reference if it lies within a line that is cleared for it; else returns 0. */
static __attribute__((noinline)) int take_cleared(struct nm_cache *c, const struct nm_ref *r)
{
	const uint64_t line = r->address >> c->line_shift;
	const unsigned first = (unsigned)(r->address & (c->spec.line - 1));
	const unsigned writes = r->kind == NM_REF_FETCH ? 0 : r->kind;
	const uint64_t mask = low_bits(r->size) << first;
	const uint32_t slot = find(c, line, any_shape);

	if (slot == NM_NO_SLOT || first + r->size > c->spec.line ||
	    c->coherent->cleared[slot][writes > 0] != line)
		return 0;
	reserve(&c->shadow, 1);
	touch(c, slot);
	c->residencies[slot].writes += writes;
	c->residencies[slot].served += r->weight;
	c->residencies[slot].mask |= mask;
	if (writes)
		note_written(c, &c->coherent->written[slot], r, mask, first);
	predict(c, line, slot);
	return 1;
}

/* Takes a reference. If its line is not cleared, members of a coalesced one are taken one by one. */
static __attribute__((noinline)) void take_coherent(struct nm_cache *c, const struct nm_ref *r)
{
	const struct nm_coalesced *g = nm_ref_is_coalesced(r) ? nm_coalesced_at(c->coalesced, r->attr) : NULL;

	if (take_cleared(c, r))
		return;
	if (!g)
		take_any(c, r);
	for (uint32_t i = 0; g && i < g->members; i++) {
		const struct nm_ref single = nm_coalesced_member_ref(r, &g->member[i]);

		if (!take_cleared(c, &single))
			take_any(c, &single);
	}
}

#endif
