/* SPDX-License-Identifier: MIT
 *
 * recency.c - the class of each miss: cold, capacity or conflict, exactly, at next to no cost per hit.
 *
 * Counting rule: a load is cold if the run never referenced the line before; capacity if it is not cold
 * and a fully associative LRU cache of as many lines, fed the same references, would miss too;
 * conflict otherwise.
 *
 * The idea.  A fully associative LRU cache of C lines holds the C lines with the latest last touches, so one time,
 * `head`, tells which: those touched last at `head` or later.  Every resident line knows the time of its last
 * touch, its stamp; lines that left their place while the fully associative cache still holds them are *ghosts*, a
 * hash from line to stamp that only misses look at.  So a touch of a resident line costs one compare.  If
 * its old stamp is before `head` the fully associative cache would have missed: then the line enters, and if there
 * are C already, the one with the earliest last touch leaves, which moves `head` on.
 *
 * To find that one there is a log of the places touched, by time: a touch enters its place.  An entry is a last touch as
 * long as the stamp of its place tells that time, so the earliest is the next such entry from `head` on: entries are
 * passed over once.  When the log is full the last touches are numbered anew, in their order, from now on: all other
 * stamps stay below them.  Their order is that of bits, one for each time in the log, which stamps set; so this takes
 * as long as there are places, and not touches.
 *
 * Dropped: a bit per last touch, in blocks of intervals found by a hash, and an event for the first touch of
 * each line in an interval: as exact, but the events took as long as the search of the cache itself.  Ghosts that stay
 * in their table when they no longer matter until a purge: longer searches, on every miss.  Entries that the next touch
 * of the line strikes out, which are then passed over sixteen at a time: where to store depends on what was just loaded,
 * the old stamp, and the host lets few loads past such a store: 4.7 ns a hit in bench/model_bench instead of 3.4 where
 * arrays are walked, 4.5 instead of 3.8 where references jump about.  No log at all: when a line has to leave, those with
 * the oldest stamps are gathered from all places and ghosts, some tens at a time, in a table by time.  Beside this one in
 * bench/turns mawk took 2 % less and bzip2 1 % more, troff, sqlite3 and solver as long.
 *
 * The search for the line that leaves, which is in the hot path, is in log.h.
 */
#include "recency.h"

#include <stdlib.h>

#include "errors.h"
#include "lazy_array.h"

enum { FIRST_TIME = 1 };

/* Where the log begins in memory. */
static uint32_t *first_entry(const struct nm_recency *r)
{
	return (uint32_t *)((uintptr_t)r->log + r->base * sizeof *r->log);
}

static void lay_log(struct nm_recency *r, uint32_t *begin, uint64_t base)
{
	r->base = base;
	r->log = (uint32_t *)((uintptr_t)begin - base * sizeof *begin);
}

/* Closes the gap that a ghost leaves: no later one may be cut off from the slot where its search begins. */
void nm_recency_remove(struct nm_recency *r, size_t hole)
{
	struct nm_ghost *g = r->ghosts;

	for (size_t i = (hole + 1) & r->ghost_mask; g[i].stamp; i = (i + 1) & r->ghost_mask) {
		size_t home = nm_spread(g[i].line, r->ghost_shift);

		if (((i - home) & r->ghost_mask) >= ((i - hole) & r->ghost_mask)) {
			g[hole] = g[i];
			r->log[g[hole].stamp] = NM_LOG_GHOST | (uint32_t)hole;
			hole = i;
		}
	}
	g[hole].stamp = 0;
	r->ghost_count--;
}

void nm_recency_return(struct nm_recency *r, struct nm_ghost *ghost)
{
	r->log[ghost->stamp] = NM_LOG_DEAD;
	nm_recency_remove(r, (size_t)(ghost - r->ghosts));
}

int nm_recency_grow(struct nm_recency *r)
{
	size_t had = r->ghost_mask + 1;
	struct nm_ghost *old = r->ghosts, *ghosts = calloc(had * 2, sizeof *ghosts);

	if (!ghosts)
		return NM_ENOMEM;
	r->ghosts = ghosts;
	r->ghost_mask = had * 2 - 1;
	r->ghost_shift--;
	r->ghost_count = 0;
	for (size_t i = 0; i < had; i++)
		if (old[i].stamp)
			nm_recency_leave(r, old[i].line, old[i].stamp);
	free(old);
	return 0;
}

/* Marks the time of a last touch, if it is one.  It may be that of a line which left a place that is empty since. */
static inline void mark(struct nm_recency *r, uint64_t stamp, uint64_t first)
{
	const uint64_t at = stamp - r->base;

	if (stamp - r->head < first - r->head)
		r->last[at / 64] |= 1ull << at % 64;
}

/* Moves the last touches of the times that are marked to the beginning of the log.  Returns how many there are. */
static size_t gather(struct nm_recency *r, uint64_t first)
{
	uint32_t *const begin = first_entry(r), *to = begin;

	for (uint64_t t = 0; t < first - r->base; t += 64) {
		uint64_t last = r->last[t / 64];

		r->last[t / 64] = 0;
		for (; last; last &= last - 1) {
			const uint64_t at = t + (unsigned)__builtin_ctzll(last);

			*to = begin[at];
			to += nm_recency_is_last(r, *to, r->base + at);
		}
	}
	return (size_t)(to - begin);
}

void nm_recency_renumber(struct nm_recency *r)
{
	const uint64_t first = r->now;
	uint32_t *const begin = first_entry(r);
	size_t count;

	for (uint64_t i = 0; i < r->places; i++)
		mark(r, r->stamps[i], first);
	for (size_t i = 0; i <= r->ghost_mask; i++)
		mark(r, r->ghosts[i].stamp, first);
	count = gather(r, first);
	for (size_t i = 0; i < count; i++) {
		const uint32_t e = begin[i];

		*(e & NM_LOG_GHOST ? &r->ghosts[e & ~NM_LOG_GHOST].stamp : &r->stamps[e]) = r->now++;
	}
	r->head = first;
	r->end += first - r->base;
	lay_log(r, begin, first);
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

int nm_recency_seen(struct nm_recency *r, uint64_t line)
{
	struct nm_seen *s = seen_slot(r->seen, r->seen_shift, line >> 6);
	uint64_t bit = 1ull << (line & 63);

	if (s->lines & bit)
		return NM_MISS_CAPACITY;
	r->seen_count += !s->lines;
	*s = (struct nm_seen){line >> 6, s->lines | bit};
	return r->seen_count * 4 > r->seen_mask && grow_seen(r) ? NM_ENOMEM : NM_MISS_COLD;
}

int nm_recency_init(struct nm_recency *r, uint64_t capacity, uint64_t *stamps, uint64_t places)
{
	enum { GHOSTS = 64, SEEN = 64, LEAST_LOG = 32768 };
	uint64_t room = 4 * capacity < LEAST_LOG ? LEAST_LOG : 4 * capacity;
	uint32_t *log;

	*r = (struct nm_recency){.capacity = capacity, .stamps = stamps, .places = places, .now = FIRST_TIME};
	r->head = r->now;
	r->end = r->now + room;
	log = nm_lazy_array(room, sizeof *log);
	lay_log(r, log, r->now);
	r->last = nm_lazy_array(room / 64 + 1, sizeof *r->last);
	r->ghosts = calloc(GHOSTS, sizeof *r->ghosts);
	r->ghost_mask = GHOSTS - 1;
	r->ghost_shift = r->seen_shift = 64 - 6;
	r->seen = calloc(SEEN, sizeof *r->seen);
	r->seen_mask = SEEN - 1;
	if (!log || !r->last || !r->ghosts || !r->seen) {
		nm_recency_done(r);
		return NM_ENOMEM;
	}
	return 0;
}

void nm_recency_done(struct nm_recency *r)
{
	nm_lazy_array_free(first_entry(r), r->end - r->base, sizeof *r->log);
	nm_lazy_array_free(r->last, (r->end - r->base) / 64 + 1, sizeof *r->last);
	free(r->ghosts);
	free(r->seen);
	*r = (struct nm_recency){0};
}
