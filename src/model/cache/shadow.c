/* SPDX-License-Identifier: MIT
 *
 * shadow.c - the class of each miss: cold, capacity or conflict, exactly, at hardly any cost per hit.
 *
 * Counting rule: a load is cold if the run never referenced the line before; capacity if it is not cold and a
 * fully associative LRU cache of as many lines, fed the same references, would miss too; conflict otherwise.
 *
 * The idea. A fully associative LRU cache of C lines holds the C lines touched last: those whose last touch
 * is at time `head` or later. Every resident line has the time of its last touch, its timestamp; lines that
 * left their slots keep theirs in buckets, which only misses search. So a touch of a resident line costs one
 * compare. If its old timestamp is before `head`, the fully associative cache would have missed: the line
 * enters, and if C lines are there, the one with the earliest last touch leaves, which advances `head`. An
 * entry of a bucket with a timestamp before `head` is free.
 *
 * A log of the touched slots, by time, finds the earliest. An entry is a last touch if its slot still has
 * that timestamp, so the search goes on from `head` and passes over each entry once. When the log is full,
 * the last touches are renumbered in their order. The search is the hot half, in shadow_log.h.
 *
 * Dropped, no faster: a bit for each last touch; removing stale entries; a search for the oldest timestamps
 * instead of a log; a hash without gaps; times by groups of neighbouring lines, which cost more to rebuild than
 * buckets where lines are far apart.
 */
#include "shadow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "errors.h"
#include "lazy_array.h"

enum { FIRST_TIME = 1 };

/* The log's first entry in memory. */
static uint32_t *first_entry(const struct nm_shadow *s)
{
	return (uint32_t *)((uintptr_t)s->log + s->base * sizeof *s->log);
}

static void lay_log(struct nm_shadow *s, uint32_t *begin, uint64_t base)
{
	s->base = base;
	s->log = (uint32_t *)((uintptr_t)begin - base * sizeof *begin);
}

static int make_buckets(struct nm_shadow *s, size_t count)
{
	s->buckets = nm_lazy_array(count, sizeof *s->buckets);
	s->passed = calloc((count + 63) / 64, sizeof *s->passed);
	s->passed_count = 0;
	s->bucket_mask = count - 1;
	s->bucket_shift = 64 - (unsigned)__builtin_ctzll(count);
	return s->buckets && s->passed ? 0 : NM_ENOMEM;
}

static void free_buckets(struct nm_shadow *s)
{
	nm_lazy_array_free(s->buckets, s->bucket_mask + 1, sizeof *s->buckets);
	free(s->passed);
}

static size_t count_live(const struct nm_shadow *s)
{
	size_t count = 0;

	for (size_t i = 0; i <= s->bucket_mask; i++)
		count += (unsigned)__builtin_popcount(nm_shadow_live(&s->buckets[i], s->head));
	return count;
}

/* Moves live entries to `room` new buckets. */
static int move_to(struct nm_shadow *s, size_t room)
{
	struct nm_shadow old = *s;

	if (make_buckets(s, room)) {
		free_buckets(s);
		*s = old;
		return NM_ENOMEM;
	}
	for (size_t i = 0; i <= old.bucket_mask; i++)
		for (unsigned k = 0; k < NM_SHADOW_BUCKET; k++)
			if (old.buckets[i].timestamps[k] >= s->head)
				nm_shadow_put(s, old.buckets[i].lines[k], old.buckets[i].timestamps[k]);
	free_buckets(&old);
	return 0;
}

/* At most one line for two buckets, so that more than four rarely share one. */
int nm_shadow_rebuild(struct nm_shadow *s)
{
	const size_t count = count_live(s);
	size_t room = s->bucket_mask + 1;

	while (room < 2 * count)
		room *= 2;
	do {
		if (move_to(s, room)) {
			s->head = s->now;
			s->live = 0;
			return NM_ENOMEM;
		}
		room *= 2;
	} while (nm_shadow_is_crowded(s));
	return 0;
}

/* Marks the time of a last touch, if it is one: a slot may be empty since its line left. */
static inline void mark_time(struct nm_shadow *s, uint64_t timestamp, uint64_t first)
{
	const uint64_t at = timestamp - s->base;

	if (timestamp - s->head < first - s->head)
		s->last[at / 64] |= 1ull << at % 64;
}

/* Moves the entries of marked times to the start of the log. Returns their number. */
static size_t gather_marked(struct nm_shadow *s, uint64_t first)
{
	uint32_t *const begin = first_entry(s), *to = begin;

	for (uint64_t t = 0; t < first - s->base; t += 64) {
		uint64_t last = s->last[t / 64];

		s->last[t / 64] = 0;
		for (; last; last &= last - 1) {
			const uint64_t at = t + (unsigned)__builtin_ctzll(last);

			*to = begin[at];
			to += nm_shadow_is_last(s, *to, s->base + at);
		}
	}
	return (size_t)(to - begin);
}

/* The timestamp that belongs to an entry of the log. */
static uint64_t *timestamp_of(const struct nm_shadow *s, uint32_t entry)
{
	const uint32_t left = entry & ~NM_LOG_LEFT;

	return entry & NM_LOG_LEFT ? &s->buckets[left / NM_SHADOW_BUCKET].timestamps[left % NM_SHADOW_BUCKET]
				   : &s->timestamps[entry];
}

void nm_shadow_renumber(struct nm_shadow *s)
{
	const uint64_t first = s->now;
	uint32_t *const begin = first_entry(s);
	size_t count;

	assert(s->live <= s->capacity);
	for (uint64_t i = 0; i < s->slots; i++)
		mark_time(s, s->timestamps[i], first);
	for (size_t i = 0; i <= s->bucket_mask; i++)
		for (unsigned k = 0; k < NM_SHADOW_BUCKET; k++)
			mark_time(s, s->buckets[i].timestamps[k], first);
	count = gather_marked(s, first);
	for (size_t i = 0; i < count; i++)
		*timestamp_of(s, begin[i]) = s->now++;
	s->head = first;
	s->end += first - s->base;
	lay_log(s, begin, first);
	NM_CHECK(nm_shadow_is_valid(s));
}

static struct nm_seen *seen_bucket(struct nm_seen *seen, unsigned shift, uint64_t group)
{
	size_t i = nm_spread(group, shift), mask = ~0ull >> shift;
	while (seen[i].lines && seen[i].group != group)
		i = (i + 1) & mask;
	return &seen[i];
}

static int grow_seen(struct nm_shadow *s)
{
	size_t room = (s->seen_mask + 1) * 2;
	struct nm_seen *seen = calloc(room, sizeof *seen);
	if (!seen)
		return NM_ENOMEM;
	for (size_t i = 0; i <= s->seen_mask; i++)
		if (s->seen[i].lines)
			*seen_bucket(seen, s->seen_shift - 1, s->seen[i].group) = s->seen[i];
	free(s->seen);
	s->seen = seen;
	s->seen_mask = room - 1;
	s->seen_shift--;
	return 0;
}

int nm_shadow_learn_seen(struct nm_shadow *s, const struct nm_shadow *from)
{
	struct nm_seen *seen = malloc((from->seen_mask + 1) * sizeof *seen);

	if (!seen)
		return NM_ENOMEM;
	memcpy(seen, from->seen, (from->seen_mask + 1) * sizeof *seen);
	free(s->seen);
	s->seen = seen;
	s->seen_mask = from->seen_mask;
	s->seen_shift = from->seen_shift;
	s->seen_count = from->seen_count;
	return 0;
}

size_t nm_shadow_seen_at(const struct nm_shadow *s, uint64_t line)
{
	const struct nm_seen *seen = seen_bucket(s->seen, s->seen_shift, line >> 6);

	assert(seen->lines >> (line & 63) & 1);
	return (size_t)(seen - s->seen);
}

int nm_shadow_seen(struct nm_shadow *r, uint64_t line)
{
	struct nm_seen *s = seen_bucket(r->seen, r->seen_shift, line >> 6);
	uint64_t bit = 1ull << (line & 63);

	if (s->lines & bit)
		return NM_MISS_CAPACITY;
	if (!s->lines) {
		if (r->seen_count * 4 > r->seen_mask) {
			if (grow_seen(r))
				return NM_ENOMEM;
			s = seen_bucket(r->seen, r->seen_shift, line >> 6);
		}
		r->seen_count++;
	}
	*s = (struct nm_seen){line >> 6, s->lines | bit};
	return NM_MISS_COLD;
}

int nm_shadow_init(struct nm_shadow *s, uint64_t capacity, uint64_t *timestamps, uint64_t slots)
{
	enum { BUCKETS = 64, SEEN = 64, LEAST_LOG = 32768 };
	uint64_t room = 8 * capacity < LEAST_LOG ? LEAST_LOG : 8 * capacity;
	uint32_t *log;

	assert(capacity && slots);
	*s = (struct nm_shadow){
	    .capacity = capacity, .timestamps = timestamps, .slots = slots, .now = FIRST_TIME};
	s->head = s->now;
	s->end = s->now + room;
	log = nm_lazy_array(room, sizeof *log);
	lay_log(s, log, s->now);
	s->last = nm_lazy_array(room / 64 + 1, sizeof *s->last);
	s->seen_shift = 64 - 6;
	s->seen = calloc(SEEN, sizeof *s->seen);
	s->seen_mask = SEEN - 1;
	if (make_buckets(s, BUCKETS) || !log || !s->last || !s->seen) {
		nm_shadow_done(s);
		return NM_ENOMEM;
	}
	return 0;
}

void nm_shadow_done(struct nm_shadow *s)
{
	nm_lazy_array_free(first_entry(s), s->end - s->base, sizeof *s->log);
	nm_lazy_array_free(s->last, (s->end - s->base) / 64 + 1, sizeof *s->last);
	free_buckets(s);
	free(s->seen);
	*s = (struct nm_shadow){0};
}

size_t nm_shadow_order(const struct nm_shadow *s, const uint64_t *tags, uint64_t *ret_lines)
{
	size_t count = 0;

	for (uint64_t time = s->head; time < s->now; time++) {
		const uint32_t entry = s->log[time], left = entry & ~NM_LOG_LEFT;

		if (nm_shadow_is_last(s, entry, time))
			ret_lines[count++] =
			    entry & NM_LOG_LEFT
				? s->buckets[left / NM_SHADOW_BUCKET].lines[left % NM_SHADOW_BUCKET]
				: tags[entry];
	}
	assert(count == s->live);
	return count;
}

/* Each live entry of a bucket can be found by its line, and the log has it at the time of its last touch. */
static int bucket_is_valid(const struct nm_shadow *s, const struct nm_shadow_bucket *b)
{
	for (unsigned k = 0; k < NM_SHADOW_BUCKET; k++) {
		const uint64_t time = b->timestamps[k];

		if (time >= s->head &&
		    (time >= s->now || !(s->log[time] & NM_LOG_LEFT) || s->log[time] == NM_LOG_VACANT ||
		     timestamp_of(s, s->log[time]) != &b->timestamps[k] ||
		     nm_shadow_left(s, b->lines[k]) != &b->timestamps[k]))
			return 0;
	}
	return 1;
}

int nm_shadow_is_valid(const struct nm_shadow *s)
{
	uint64_t live = 0;

	for (uint64_t time = s->head; time < s->now; time++)
		live += (uint64_t)nm_shadow_is_last(s, s->log[time], time);
	for (size_t i = 0; i <= s->bucket_mask; i++)
		if (!bucket_is_valid(s, &s->buckets[i]))
			return 0;
	return live == s->live && live <= s->capacity && s->now <= s->end;
}
