/* SPDX-License-Identifier: MIT
 *
 * shadow.c - the class of each miss: cold, capacity or conflict, exactly, at next to no cost per hit.
 *
 * Counting rule: a load is cold if the run never referenced the line before; capacity if it is not cold
 * and a fully associative LRU cache of as many lines, fed the same references, would miss too;
 * conflict otherwise.
 *
 * The idea.  A fully associative LRU cache of C lines holds the C lines with the latest last touches, so one
 * time, `head`, tells which: those touched last at `head` or later.  Every resident line knows the time of
 * its last touch, its timestamp; lines that left their slot while the fully associative cache still holds
 * them are *entries*, a hash from line to timestamp that only misses look at.  So a touch of a resident line
 * costs one compare.  If its old timestamp is before `head` the fully associative cache would have missed:
 * then the line enters, and if there are C already, the one with the earliest last touch leaves, which moves
 * `head` on.
 *
 * To find that one there is a log of the slots touched, by time: a touch enters its slot.  An entry is a
 * last touch as long as the timestamp of its slot tells that time, so the earliest is the next such entry
 * from `head` on: entries are passed over once.  When the log is full the last touches are numbered anew, in
 * their order, from now on: all other timestamps residency below them.  Their order is that of bits, one for
 * each time in the log, which timestamps set; so this takes as long as there are slots, and not touches.
 *
 * Dropped: a bit per last touch, in blocks of intervals found by a hash, and an event for the first touch of
 * each line in an interval: as exact, but the events took as long as the search of the cache itself.  Ghosts
 * that residency in their table when they no longer matter until a purge: longer searches, on every miss. 
 * Entries that the next touch of the line strikes out, which are then passed over sixteen at a time: where
 * to store depends on what was just loaded, the old timestamp, and the host lets few loads past such a
 * store: 4.7 ns a hit in bench/model_bench instead of 3.4 where arrays are walked, 4.5 instead of 3.8 where
 * references jump about.  No log at all: when a line has to leave, those with the oldest timestamps are
 * gathered from all slots and entries, some tens at a time, in a table by time.  Beside this one in
 * bench/turns mawk took 2 % less and bzip2 1 % more, troff, sqlite3 and solver as long.
 *
 * The search for the line that leaves, which is in the hot path, is in shadow_log.h.
 */
#include "shadow.h"

#include <stdlib.h>

#include "errors.h"
#include "lazy_array.h"

enum { FIRST_TIME = 1 };

/* Where the log begins in memory. */
static uint32_t *first_entry(const struct nm_shadow *r)
{
	return (uint32_t *)((uintptr_t)r->log + r->base * sizeof *r->log);
}

static void lay_log(struct nm_shadow *r, uint32_t *begin, uint64_t base)
{
	r->base = base;
	r->log = (uint32_t *)((uintptr_t)begin - base * sizeof *begin);
}

/* Closes the gap that an entry leaves: no later one may be cut off from the bucket where its search begins.
 * */
void nm_shadow_remove(struct nm_shadow *r, size_t hole)
{
	struct nm_shadow_entry *g = r->entries;

	for (size_t i = (hole + 1) & r->entry_mask; g[i].timestamp; i = (i + 1) & r->entry_mask) {
		size_t home = nm_spread(g[i].line, r->entry_shift);

		if (((i - home) & r->entry_mask) >= ((i - hole) & r->entry_mask)) {
			g[hole] = g[i];
			r->log[g[hole].timestamp] = NM_LOG_ENTRY | (uint32_t)hole;
			hole = i;
		}
	}
	g[hole].timestamp = 0;
	r->entry_count--;
}

void nm_shadow_return(struct nm_shadow *r, struct nm_shadow_entry *entry)
{
	r->log[entry->timestamp] = NM_LOG_VACANT;
	nm_shadow_remove(r, (size_t)(entry - r->entries));
}

int nm_shadow_grow(struct nm_shadow *r)
{
	size_t had = r->entry_mask + 1;
	struct nm_shadow_entry *old = r->entries, *entries = calloc(had * 2, sizeof *entries);

	if (!entries)
		return NM_ENOMEM;
	r->entries = entries;
	r->entry_mask = had * 2 - 1;
	r->entry_shift--;
	r->entry_count = 0;
	for (size_t i = 0; i < had; i++)
		if (old[i].timestamp)
			nm_shadow_leave(r, old[i].line, old[i].timestamp);
	free(old);
	return 0;
}

/* Marks the time of a last touch, if it is one.  It may be that of a line which left a slot that is empty
 * since. */
static inline void mark(struct nm_shadow *r, uint64_t timestamp, uint64_t first)
{
	const uint64_t at = timestamp - r->base;

	if (timestamp - r->head < first - r->head)
		r->last[at / 64] |= 1ull << at % 64;
}

/* Moves the last touches of the times that are marked to the beginning of the log.  Returns how many there
 * are. */
static size_t gather(struct nm_shadow *r, uint64_t first)
{
	uint32_t *const begin = first_entry(r), *to = begin;

	for (uint64_t t = 0; t < first - r->base; t += 64) {
		uint64_t last = r->last[t / 64];

		r->last[t / 64] = 0;
		for (; last; last &= last - 1) {
			const uint64_t at = t + (unsigned)__builtin_ctzll(last);

			*to = begin[at];
			to += nm_shadow_is_last(r, *to, r->base + at);
		}
	}
	return (size_t)(to - begin);
}

void nm_shadow_renumber(struct nm_shadow *r)
{
	const uint64_t first = r->now;
	uint32_t *const begin = first_entry(r);
	size_t count;

	for (uint64_t i = 0; i < r->slots; i++)
		mark(r, r->timestamps[i], first);
	for (size_t i = 0; i <= r->entry_mask; i++)
		mark(r, r->entries[i].timestamp, first);
	count = gather(r, first);
	for (size_t i = 0; i < count; i++) {
		const uint32_t e = begin[i];

		*(e & NM_LOG_ENTRY ? &r->entries[e & ~NM_LOG_ENTRY].timestamp : &r->timestamps[e]) = r->now++;
	}
	r->head = first;
	r->end += first - r->base;
	lay_log(r, begin, first);
}

static struct nm_seen *seen_bucket(struct nm_seen *seen, unsigned shift, uint64_t group)
{
	size_t i = nm_spread(group, shift), mask = ~0ull >> shift;
	while (seen[i].lines && seen[i].group != group)
		i = (i + 1) & mask;
	return &seen[i];
}

static int grow_seen(struct nm_shadow *r)
{
	size_t room = (r->seen_mask + 1) * 2;
	struct nm_seen *seen = calloc(room, sizeof *seen);
	if (!seen)
		return NM_ENOMEM;
	for (size_t i = 0; i <= r->seen_mask; i++)
		if (r->seen[i].lines)
			*seen_bucket(seen, r->seen_shift - 1, r->seen[i].group) = r->seen[i];
	free(r->seen);
	r->seen = seen;
	r->seen_mask = room - 1;
	r->seen_shift--;
	return 0;
}

int nm_shadow_seen(struct nm_shadow *r, uint64_t line)
{
	struct nm_seen *s = seen_bucket(r->seen, r->seen_shift, line >> 6);
	uint64_t bit = 1ull << (line & 63);

	if (s->lines & bit)
		return NM_MISS_CAPACITY;
	r->seen_count += !s->lines;
	*s = (struct nm_seen){line >> 6, s->lines | bit};
	return r->seen_count * 4 > r->seen_mask && grow_seen(r) ? NM_ENOMEM : NM_MISS_COLD;
}

int nm_shadow_init(struct nm_shadow *r, uint64_t capacity, uint64_t *timestamps, uint64_t slots)
{
	enum { ENTRIES = 64, SEEN = 64, LEAST_LOG = 32768 };
	uint64_t room = 4 * capacity < LEAST_LOG ? LEAST_LOG : 4 * capacity;
	uint32_t *log;

	*r = (struct nm_shadow){
	    .capacity = capacity, .timestamps = timestamps, .slots = slots, .now = FIRST_TIME};
	r->head = r->now;
	r->end = r->now + room;
	log = nm_lazy_array(room, sizeof *log);
	lay_log(r, log, r->now);
	r->last = nm_lazy_array(room / 64 + 1, sizeof *r->last);
	r->entries = calloc(ENTRIES, sizeof *r->entries);
	r->entry_mask = ENTRIES - 1;
	r->entry_shift = r->seen_shift = 64 - 6;
	r->seen = calloc(SEEN, sizeof *r->seen);
	r->seen_mask = SEEN - 1;
	if (!log || !r->last || !r->entries || !r->seen) {
		nm_shadow_done(r);
		return NM_ENOMEM;
	}
	return 0;
}

void nm_shadow_done(struct nm_shadow *r)
{
	nm_lazy_array_free(first_entry(r), r->end - r->base, sizeof *r->log);
	nm_lazy_array_free(r->last, (r->end - r->base) / 64 + 1, sizeof *r->last);
	free(r->entries);
	free(r->seen);
	*r = (struct nm_shadow){0};
}
