/* SPDX-License-Identifier: MIT
 *
 * fast_any.h - any reference, of any size, in any geometry: the general case of the hot loops.
 */
#ifndef NM_FAST_ANY_H
#define NM_FAST_ANY_H

#include "fast_chain.h"

/* The lowest n <= 64 bits. */
ALWAYS uint64_t low_bits(unsigned n)
{
#ifdef __BMI2__
	return _bzhi_u64(~0ull, n);
#else
	return n < 64 ? (1ull << n) - 1 : ~0ull;
#endif
}

/* Not inlined: the loop needs all registers. */
static __attribute__((noinline, cold)) uint64_t enter_late(struct nm_shadow *s)
{
	enter(s);
	return s->head;
}

/* The next reference to the line will probably find it at this slot. */
ALWAYS void predict(const struct nm_cache *c, uint64_t line, uint32_t slot)
{
	if (c->predicted)
		c->predicted[nm_cache_guess(line)] = slot;
}

/* The bytes [address, address + bytes) of a line are referenced. 1 if it is not here; `earlier`: nor was
 * another line of the reference. */
ALWAYS unsigned take_line(struct nm_cache *c, const struct nm_ref *r, uint64_t address, unsigned bytes,
			  int earlier)
{
	const uint64_t line = address >> c->line_shift;
	const unsigned write = r->kind == NM_REF_WRITE;
	const int coherent = nm_cache_asks_coherence(c, r);

	if (__builtin_expect(c->sink != NULL, 0))
		nm_event_sink_begin(c->sink, r, address, bytes);
	if (coherent)
		nm_coherence_acquire(c, r, address, bytes);

	uint32_t slot = find(c, line, any_shape);
	const int missed = slot == NM_NO_SLOT;

	reserve(&c->shadow, 1);
	if (missed) {
		if (!earlier)
			emit(c, NM_EVENT_MISS, line, 1, 0);
		slot = load(c, address, r->attr, write);
		if (r->weight > 1)
			emit(c, NM_EVENT_HIT, line, r->weight - 1u, 0);
	} else {
		emit(c, NM_EVENT_HIT, line, r->weight, 0);
		touch(c, slot);
	}
	nm_residency_serve(&c->residencies[slot], write, r->weight);
	nm_cache_mark(c, slot, (unsigned)(address & (c->spec.line - 1)), bytes);
	predict(c, line, slot);
	if (coherent)
		nm_coherence_touch(c, slot, (int)write);
	return (unsigned)missed;
}

/* Takes any reference, of any size, in any geometry. */
static __attribute__((noinline)) void take_any(struct nm_cache *c, const struct nm_ref *r)
{
	const uint64_t line = c->spec.line;
	const unsigned write = r->kind == NM_REF_WRITE;
	uint64_t address = r->address, missed = 0;

	if (!c->first) {
		c->counters.own[r->attr][write] += r->weight;
		c->counters.own_total[write] += r->weight;
	}
	for (uint32_t left = r->size; left;) {
		const uint64_t rest = line - (address & (line - 1));
		const unsigned n = left < rest ? left : (unsigned)rest;

		missed += take_line(c, r, address, n, missed > 0);
		address += n;
		left -= n;
	}
	c->counters.loads[r->attr].extra[write] += missed - (missed > 0);
	if (missed > 1 && c->slice)
		nm_run_slice_note_span(c, missed);
}

#endif
