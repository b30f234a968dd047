/* SPDX-License-Identifier: MIT
 *
 * recency.c - the class of each miss: cold, capacity or conflict, exactly, at next to no cost per hit.
 *
 * Counting rule: a load is cold if the run never referenced the line before; capacity if it is not cold
 * and a fully associative LRU cache of as many lines, fed the same references, would miss too;
 * conflict otherwise.
 *
 * The idea.  A fully associative LRU cache of C lines holds the C lines with the latest last touches.
 * Which they are is a set of *times*: one bit per last touch.  A touch of a line last touched at time
 * `old` hits if the bit of `old` is still set; it then clears that bit and sets the one of now.  A miss
 * with C bits set clears the lowest bit.  No list, and no hash for lines that the simulated cache holds:
 * they know the time of their last touch, their stamp.  Lines that left it while still among the C are
 * *ghosts*, a hash from line to stamp that only misses look at.
 *
 * Intervals.  Time is cut into intervals of G <= C touches, a power of two.  Only a line's first touch in
 * an interval is told here (nm_recency_touch, or nm_recency_load); when the interval closes, all its times
 * become bits except those outdated by a later touch of the same line.  This is exact: let T be
 * the distinct lines touched so far in the interval, |T| <= G <= C.  The exact cache holds T and the
 * C - |T| latest of the others.  Here it holds `fresh` = |T| lines and the same others, since each first
 * touch either takes the line's own bit away (a hit) or the lowest bit (a miss on a full cache), as the
 * exact one would; which member of T is the latest never matters before the interval ends.  A
 * lowest bit to take exists, because |T| < C before the touch.  A line touched again in the
 * same interval is in T and so is a hit, which is why a load of a ghost of this interval is a conflict.
 *
 * Bits live in blocks, one per interval that still has any, so at most C blocks; they form a ring by
 * time and are found by the interval's number, the recent ones in an array, the others in a hash.  Ghosts whose bit is gone are dropped when
 * their table fills.
 *
 * Dropped (bench/model_bench, random hits): all blocks in the hash, one call per first touch, 99 M references/s;
 * recent blocks in an array and runs of first touches in one loop, 133 M.  Ghost tables that double when a
 * quarter full after a purge, not an eighth: 3 to 5 % slower from 19 % misses on.
 */
#include "recency.h"

#include <stdlib.h>
#include <string.h>

#include "errors.h"

static size_t index_slot(const struct nm_recency *r, uint64_t id) { return nm_spread(id, r->index_shift); }

static size_t index_mask(const struct nm_recency *r) { return (1ull << (64 - r->index_shift)) - 1; }

/* Whether a block of this id is listed in `recent`, not in the hash. */
static int is_recent(const struct nm_recency *r, uint64_t id)
{
	return (r->start >> r->shift) - id <= NM_RECENT;
}

static struct nm_recency_block *find_hashed(const struct nm_recency *r, uint64_t id)
{
	for (size_t i = index_slot(r, id);; i = (i + 1) & index_mask(r)) {
		uint32_t b = r->index[i];
		if (!b || r->blocks[b].id == id)
			return &r->blocks[b];
	}
}

/* The block of an interval; the head of the ring, which has no bits, if there is none. */
static inline struct nm_recency_block *find_block(const struct nm_recency *r, uint64_t id)
{
	if (__builtin_expect(is_recent(r, id), 1))
		return &r->blocks[r->recent[id % NM_RECENT]];
	return find_hashed(r, id);
}

static void index_add(struct nm_recency *r, uint32_t block)
{
	size_t i = index_slot(r, r->blocks[block].id);
	while (r->index[i])
		i = (i + 1) & index_mask(r);
	r->index[i] = block;
}

static void index_remove(struct nm_recency *r, uint32_t block)
{
	size_t mask = index_mask(r), hole = index_slot(r, r->blocks[block].id);
	while (r->index[hole] != block)
		hole = (hole + 1) & mask;
	for (size_t i = (hole + 1) & mask; r->index[i]; i = (i + 1) & mask) {
		size_t home = index_slot(r, r->blocks[r->index[i]].id);
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			r->index[hole] = r->index[i];
			hole = i;
		}
	}
	r->index[hole] = 0;
}

static void remove_block(struct nm_recency *r, uint32_t block)
{
	struct nm_recency_block *b = &r->blocks[block];
	if (is_recent(r, b->id))
		r->recent[b->id % NM_RECENT] = 0;
	else
		index_remove(r, block);
	r->blocks[b->prev].next = b->next;
	r->blocks[b->next].prev = b->prev;
	b->next = r->block_free;
	r->block_free = block;
}

/* Room for one more block. */
static int grow_blocks(struct nm_recency *r)
{
	if (r->block_free || r->block_used < r->block_room)
		return 0;
	uint32_t room = r->block_room * 2;
	struct nm_recency_block *blocks = realloc(r->blocks, room * sizeof *blocks);
	if (!blocks)
		return NM_ENOMEM;
	r->blocks = blocks;
	uint32_t *slots = calloc((size_t)room * 2, sizeof *slots);
	if (!slots)
		return NM_ENOMEM;
	free(r->index);
	r->index = slots;
	r->index_shift--;
	r->block_room = room;
	for (uint32_t b = blocks[0].next; b; b = blocks[b].next)
		if (!is_recent(r, blocks[b].id))
			index_add(r, b);
	return 0;
}

/* Forgets the line of the earliest last touch. */
static void drop_oldest(struct nm_recency *r)
{
	uint32_t block = r->blocks[0].next;
	struct nm_recency_block *b = &r->blocks[block];
	unsigned w = 0;
	while (!b->bits[w])
		w++;
	b->bits[w] &= b->bits[w] - 1;
	r->live--;
	if (--b->count == 0)
		remove_block(r, block);
}

static int holds(const struct nm_recency *r, uint64_t stamp)
{
	const struct nm_recency_block *b = find_block(r, stamp >> r->shift);
	uint64_t t = stamp & ((1ull << r->shift) - 1);
	return b->bits[t / 64] >> t % 64 & 1;
}

/* The fully associative cache is touched by a line last touched at `old` (0: never).  1 if it hits. */
static inline int touch(struct nm_recency *r, uint64_t old)
{
	struct nm_recency_block *b = find_block(r, old >> r->shift);
	uint64_t t = old & ((1ull << r->shift) - 1), bit = 1ull << t % 64;

	r->fresh++;
	if (__builtin_expect(!(b->bits[t / 64] & bit), 0)) {
		if (r->live + r->fresh > r->capacity)
			drop_oldest(r);
		return 0;
	}
	b->bits[t / 64] ^= bit;
	r->live--;
	if (--b->count == 0)
		remove_block(r, (uint32_t)(b - r->blocks));
	return 1;
}

void nm_recency_touch(struct nm_recency *r, uint64_t old) { touch(r, old); }

size_t nm_recency_touches(struct nm_recency *r, const struct nm_event *events, size_t count, uint64_t base,
			  unsigned shift)
{
	const uint64_t end = nm_recency_end(r) - base;
	size_t i = 0;

	while (i < count && !(events[i].old & NM_EVENT_LOAD) && events[i].place >> shift < end)
		touch(r, events[i++].old);
	return i;
}

static struct nm_ghost *ghost_slot(struct nm_ghost *ghosts, unsigned shift, uint64_t line)
{
	size_t i = nm_spread(line, shift), mask = ~0ull >> shift;
	while (ghosts[i].stamp && ghosts[i].line != line)
		i = (i + 1) & mask;
	return &ghosts[i];
}

/* Drops ghosts that no longer matter; doubles the table if it stays more than an eighth full. */
static int purge_ghosts(struct nm_recency *r)
{
	size_t kept = 0, room = r->ghost_mask + 1;
	for (size_t i = 0; i <= r->ghost_mask; i++) {
		struct nm_ghost *g = &r->ghosts[i];
		if (g->stamp && g->stamp < r->start && !holds(r, g->stamp))
			g->line = UINT64_MAX;
		else if (g->stamp)
			kept++;
	}
	unsigned shift = r->ghost_shift;
	for (; kept * 8 > room; shift--)
		room *= 2;
	struct nm_ghost *ghosts = calloc(room, sizeof *ghosts);
	if (!ghosts)
		return NM_ENOMEM;
	for (size_t i = 0; i <= r->ghost_mask; i++)
		if (r->ghosts[i].stamp && r->ghosts[i].line != UINT64_MAX)
			*ghost_slot(ghosts, shift, r->ghosts[i].line) = r->ghosts[i];
	free(r->ghosts);
	r->ghosts = ghosts;
	r->ghost_mask = room - 1;
	r->ghost_shift = shift;
	r->ghost_count = kept;
	return 0;
}

int nm_recency_leave(struct nm_recency *r, uint64_t line, uint64_t stamp)
{
	if (stamp < r->start && !holds(r, stamp))
		return 0;
	struct nm_ghost *g = ghost_slot(r->ghosts, r->ghost_shift, line);
	r->ghost_count += !g->stamp;
	*g = (struct nm_ghost){line, stamp};
	return r->ghost_count * 2 > r->ghost_mask ? purge_ghosts(r) : 0;
}

static struct nm_seen *seen_slot(struct nm_seen *seen, unsigned shift, uint64_t group)
{
	size_t i = nm_spread(group, shift), mask = ~0ull >> shift;
	while (seen[i].lines && seen[i].group != group)
		i = (i + 1) & mask;
	return &seen[i];
}

static int grow_seen(struct nm_recency *r)
{
	size_t room = (r->seen_mask + 1) * 2;
	struct nm_seen *seen = calloc(room, sizeof *seen);
	if (!seen)
		return NM_ENOMEM;
	for (size_t i = 0; i <= r->seen_mask; i++)
		if (r->seen[i].lines)
			*seen_slot(seen, r->seen_shift - 1, r->seen[i].group) = r->seen[i];
	free(r->seen);
	r->seen = seen;
	r->seen_mask = room - 1;
	r->seen_shift--;
	return 0;
}

int nm_recency_load(struct nm_recency *r, uint64_t line)
{
	uint64_t old = ghost_slot(r->ghosts, r->ghost_shift, line)->stamp;
	if (old >= r->start) {
		uint64_t t = old - r->start;
		r->again[t / 64] |= 1ull << t % 64;
		return NM_MISS_CONFLICT;
	}
	if (touch(r, old))
		return NM_MISS_CONFLICT;

	struct nm_seen *s = seen_slot(r->seen, r->seen_shift, line >> 6);
	uint64_t bit = 1ull << (line & 63);
	if (s->lines & bit)
		return NM_MISS_CAPACITY;
	r->seen_count += !s->lines;
	*s = (struct nm_seen){line >> 6, s->lines | bit};
	if (r->seen_count * 2 > r->seen_mask && grow_seen(r))
		return NM_ENOMEM;
	return NM_MISS_COLD;
}

int nm_recency_close(struct nm_recency *r, const uint64_t again[NM_INTERVAL_WORDS])
{
	if (grow_blocks(r))
		return NM_ENOMEM;
	uint32_t block = r->block_free;
	if (block)
		r->block_free = r->blocks[block].next;
	else
		block = r->block_used++;

	struct nm_recency_block *b = &r->blocks[block];
	unsigned words = r->shift < 6 ? 1 : 1u << (r->shift - 6);
	uint64_t all = r->shift < 6 ? (1ull << (1u << r->shift)) - 1 : ~0ull;
	*b = (struct nm_recency_block){.id = r->start >> r->shift, .prev = r->blocks[0].prev};
	for (unsigned w = 0; w < words; w++) {
		b->bits[w] = all & ~(again[w] | r->again[w]);
		b->count += (uint32_t)__builtin_popcountll(b->bits[w]);
		r->again[w] = 0;
	}
	r->blocks[b->prev].next = block;
	r->blocks[0].prev = block;
	uint32_t *recent = &r->recent[b->id % NM_RECENT];
	if (*recent)
		index_add(r, *recent);
	*recent = block;
	r->live += b->count;
	r->fresh = 0;
	r->start = nm_recency_end(r);
	return 0;
}

int nm_recency_init(struct nm_recency *r, uint64_t capacity)
{
	enum { BLOCKS = 64, GHOSTS = 64, SEEN = 64 };
	*r = (struct nm_recency){.capacity = capacity, .block_room = BLOCKS, .block_used = 1};
	while (2ull << r->shift <= capacity && 2u << r->shift <= NM_INTERVAL_MAX)
		r->shift++;
	r->start = 1ull << r->shift; /* so that no touch has stamp 0 */
	r->blocks = malloc(BLOCKS * sizeof *r->blocks);
	r->index_shift = 64 - 7;
	r->index = calloc(BLOCKS * 2, sizeof *r->index);
	r->ghosts = calloc(GHOSTS, sizeof *r->ghosts);
	r->ghost_mask = GHOSTS - 1;
	r->ghost_shift = r->seen_shift = 64 - 6;
	r->seen = calloc(SEEN, sizeof *r->seen);
	r->seen_mask = SEEN - 1;
	if (!r->blocks || !r->index || !r->ghosts || !r->seen) {
		nm_recency_done(r);
		return NM_ENOMEM;
	}
	r->blocks[0] = (struct nm_recency_block){0};
	return 0;
}

void nm_recency_done(struct nm_recency *r)
{
	free(r->blocks);
	free(r->index);
	free(r->ghosts);
	free(r->seen);
	*r = (struct nm_recency){0};
}
