/* SPDX-License-Identifier: MIT
 *
 * log.h - the hot half of recency.c: looks for last touches in the log, with the vectors that this copy of lookup.c
 * may use.
 *
 * An entry from before now is the last touch of its line unless it is NM_LOG_DEAD; those after it may be anything.
 */
#ifndef NM_LOG_H
#define NM_LOG_H

#include "recency.h"
#include "search.h"

/* The first time from `time` on whose entry is a last touch; there is one.  Reads a little past the log. */
ALWAYS uint64_t last_touch(const struct nm_recency *r, uint64_t time)
{
#if defined(__AVX512F__)
	for (;; time += 16) {
		__m512i entries = _mm512_loadu_si512(r->log + (time - r->base));
		unsigned last = _mm512_cmpneq_epi32_mask(entries, _mm512_set1_epi32((int)NM_LOG_DEAD));

		if (last)
			return time + (unsigned)__builtin_ctz(last);
	}
#elif defined(__AVX2__)
	for (;; time += 8) {
		__m256i entries = _mm256_loadu_si256((const __m256i *)(r->log + (time - r->base)));
		__m256i dead = _mm256_cmpeq_epi32(entries, _mm256_set1_epi32((int)NM_LOG_DEAD));
		unsigned last = 0xff & ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(dead));

		if (last)
			return time + (unsigned)__builtin_ctz(last);
	}
#else
	while (r->log[time - r->base] == NM_LOG_DEAD)
		time++;
	return time;
#endif
}

/* Renumbers the last touches, in their order, from now on, and begins the log with them. */
static __attribute__((noinline)) void compact(struct nm_recency *r)
{
	const uint64_t first = r->now;

	for (uint64_t t = r->head; t < first && (t = last_touch(r, t)) < first; t++) {
		uint32_t e = r->log[t - r->base];

		*(e & NM_LOG_GHOST ? &r->ghosts[e & ~NM_LOG_GHOST].stamp : &r->stamps[e]) = r->now;
		r->log[r->now++ - first] = e;
	}
	r->head = first;
	r->end += first - r->base;
	r->base = first;
}

/* Makes room in the log for some touches, of which there are far fewer than it has entries. */
ALWAYS void reserve(struct nm_recency *r, uint32_t touches)
{
	if (__builtin_expect(r->now + touches > r->end, 0))
		compact(r);
}

/* A line that the fully associative cache does not hold enters it; if that is full the one with the earliest last
 * touch leaves. */
ALWAYS void enter(struct nm_recency *r)
{
	if (r->live < r->capacity)
		r->live++;
	else
		nm_recency_forget(r, last_touch(r, r->head));
}

/* Whether the fully associative cache holds a line that is to be loaded, before its victim leaves.  It does now. */
ALWAYS int held(struct nm_recency *r, uint64_t line)
{
	struct nm_ghost *ghost = nm_recency_ghost(r, line);

	if (ghost->stamp) {
		nm_recency_return(r, ghost);
		return 1;
	}
	enter(r);
	return 0;
}

/* The class of the load of a line, before its victim leaves; or NM_ENOMEM. */
ALWAYS int class_of(struct nm_recency *r, uint64_t line)
{
	return held(r, line) ? NM_MISS_CONFLICT : nm_recency_seen(r, line);
}

#endif
