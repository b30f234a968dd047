/* SPDX-License-Identifier: MIT
 *
 * recent.h - the lines touched last, in the order of their touches: 16 in the *front*, and behind them a
 * *ring* of the last 64 that left it, less those that were touched since.
 *
 * A line in the front keeps its slot. Their order is a word of 16 nibbles, each the number of a slot, the one
 * touched last lowest: moving a line to the first place takes some twenty instructions and no loop. Free
 * slots are last.
 *
 * A line that is touched leaves a hole in the ring. So the ring is in the order of last touches, and a word
 * with a bit for each slot that has a line tells how many were touched later.
 */
#ifndef NM_RECENT_H
#define NM_RECENT_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { NM_RECENT_FRONT = 16, NM_RECENT_RING = 64, NM_RECENT = NM_RECENT_FRONT + NM_RECENT_RING };

#define NM_NO_LINE UINT64_MAX

struct nm_recent_line {
	uint64_t line, last; /* the reference that touched it last, */
	uint32_t key;        /* and who made it */
};

struct nm_recent {
	_Alignas(16) uint32_t tags[NM_RECENT]; /* the low halves of the lines, front first */
	struct nm_recent_line lines[NM_RECENT];
	uint64_t order; /* of the front */
	uint64_t live;  /* ring slots with lines */
	unsigned head;  /* of the ring: the slot that is filled next, the oldest one */
};

static inline void recent_init(struct nm_recent *r)
{
	r->order = 0xfedcba9876543210;
	r->live = r->head = 0;
	for (unsigned i = 0; i < NM_RECENT; i++) {
		r->tags[i] = (uint32_t)NM_NO_LINE;
		r->lines[i] = (struct nm_recent_line){.line = NM_NO_LINE};
	}
}

/* How many bits are set; not every processor has an instruction for it. */
static inline unsigned locality_ones(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555;
	x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
	return (unsigned)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

/* Which of 16 tags are this one, as bits. */
static inline unsigned recent_same(const uint32_t *tags, uint32_t tag)
{
#ifdef __SSE2__
	const __m128i key = _mm_set1_epi32((int)tag), *at = (const __m128i *)tags;
	const __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(at[0], key), _mm_cmpeq_epi32(at[1], key));
	const __m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(at[2], key), _mm_cmpeq_epi32(at[3], key));

	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(low, high));
#else
	unsigned same = 0;

	for (unsigned i = 0; i < NM_RECENT_FRONT; i++)
		same |= (unsigned)(tags[i] == tag) << i;
	return same;
#endif
}

/* Which of these slots, from `first` on, has the line; NM_RECENT: none. */
static inline unsigned recent_pick(const struct nm_recent *r, unsigned first, uint64_t slots, uint64_t line)
{
	for (; slots; slots &= slots - 1)
		if (r->lines[first + (unsigned)__builtin_ctzll(slots)].line == line)
			return first + (unsigned)__builtin_ctzll(slots);
	return NM_RECENT;
}

/* The slot of a line, in front if below NM_RECENT_FRONT; NM_RECENT: it is not here. */
static inline unsigned recent_find(const struct nm_recent *r, uint64_t line)
{
	const unsigned slot = recent_pick(r, 0, recent_same(r->tags, (uint32_t)line), line);
	uint64_t same = 0;

	if (slot < NM_RECENT)
		return slot;
	for (unsigned i = 0; i < NM_RECENT_RING; i += 16)
		same |= (uint64_t)recent_same(&r->tags[NM_RECENT_FRONT + i], (uint32_t)line) << i;
	return recent_pick(r, NM_RECENT_FRONT, same & r->live, line);
}

static inline struct nm_recent_line *recent_first(struct nm_recent *r)
{
	return &r->lines[r->order & (NM_RECENT_FRONT - 1)];
}

/* How many lines are here; only free slots of the front are none before the ring is used. */
static inline unsigned recent_count(const struct nm_recent *r)
{
	return NM_RECENT_FRONT + locality_ones(r->live);
}

/* Makes a line of the front the first. Returns how many stood before it. */
static inline unsigned recent_move(struct nm_recent *r, unsigned slot)
{
	/* The nibble that is the slot becomes 0; the borrow finds the lowest that is. */
	const uint64_t ones = 0x1111111111111111, others = r->order ^ slot * ones;
	const unsigned shift = (unsigned)__builtin_ctzll((others - ones) & ~others & ones << 3) & ~3u;
	const uint64_t behind = ~UINT64_C(0) << shift << 4, before = ~(~UINT64_C(0) << shift);

	r->order = (r->order & behind) | (r->order & before) << 4 | slot;
	return shift / 4;
}

/* Takes a line out of the ring. Returns how many lines were touched since it. */
static inline unsigned recent_take(struct nm_recent *r, unsigned slot)
{
	const unsigned at = slot - NM_RECENT_FRONT, age = (at - r->head) % NM_RECENT_RING;
	const uint64_t by_age = r->live >> r->head | r->live << 1 << (NM_RECENT_RING - 1 - r->head);

	r->live &= ~(UINT64_C(1) << at);
	return NM_RECENT_FRONT + locality_ones(by_age >> age >> 1);
}

/* Makes a line that is not here the first, in a slot of the front that the caller fills. The last one of the
 * front goes into the ring. 1: *ret_left left the ring for that. */
static inline int recent_enter(struct nm_recent *r, uint64_t line, struct nm_recent_line *ret_left)
{
	const unsigned slot = (unsigned)(r->order >> 60), ring = NM_RECENT_FRONT + r->head;
	const uint64_t bit = UINT64_C(1) << r->head;
	const int is_full = (r->live & bit) != 0;

	r->order = r->order << 4 | slot;
	if (r->lines[slot].line != NM_NO_LINE) {
		*ret_left = r->lines[ring];
		r->lines[ring] = r->lines[slot];
		r->tags[ring] = r->tags[slot];
		r->live |= bit;
		r->head = (r->head + 1) % NM_RECENT_RING;
	}
	r->lines[slot].line = line;
	r->tags[slot] = (uint32_t)line;
	return is_full;
}

#endif
