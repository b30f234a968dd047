/* SPDX-License-Identifier: MIT
 *
 * shadow.h - the shadow cache: a fully associative LRU cache of the same size, which tells capacity from
 * conflict misses.
 */
#ifndef NM_SHADOW_H
#define NM_SHADOW_H

#include <stddef.h>
#include <stdint.h>

#include "map.h"
#include "search.h"

enum nm_miss_class {
	NM_MISS_COLD,
	NM_MISS_CAPACITY,
	NM_MISS_CONFLICT,
	NM_MISS_COUNTED,                /* the classes above have a counter in struct nm_loads */
	NM_MISS_LOST = NM_MISS_COUNTED, /* an invalidation took the line (coherence.h) */
	NM_MISS_UNKNOWN,                /* cold or capacity */
	NM_MISS_NONE                    /* nothing is loaded */
};

/* Entries of the log that are not slots. */
#define NM_LOG_LEFT 0x80000000u   /* the line has left: the lower bits are its bucket and position there */
#define NM_LOG_VACANT 0xffffffffu /* the line had left and is back */

/* Lines that left their slots, with their last touches. An entry is live while the shadow cache holds the
 * line, that is, while its time is not before `head`. */
enum { NM_SHADOW_BUCKET = 4 };
struct nm_shadow_bucket {
	_Alignas(64) uint64_t lines[NM_SHADOW_BUCKET];
	uint64_t timestamps[NM_SHADOW_BUCKET];
};
_Static_assert(sizeof(struct nm_shadow_bucket) == 64, "one line of the host's cache");

struct nm_seen {
	uint64_t group, lines; /* 64 neighbouring lines; lines 0: free */
};

struct nm_shadow {
	uint64_t now;         /* time of the next touch */
	uint64_t head;        /* the shadow cache holds a line if its last touch is not before this */
	uint64_t capacity;    /* lines */
	uint64_t live;        /* lines that it holds */
	uint32_t *log;        /* by time: the slot touched, or NM_LOG_*; log[base] is its first entry */
	uint64_t base, end;   /* end: the first time beyond the log */
	uint64_t *timestamps; /* of the cache, by slot: time of the last touch */
	uint64_t slots;
	/* a bit for each time in the log, during nm_shadow_renumber; else 0 */
	uint64_t *last;
	struct nm_shadow_bucket *buckets; /* by hash of the line; if one is full, the next */
	uint64_t *passed;                 /* a bit for each bucket: it was full, and lines went to the next */
	size_t passed_count, bucket_mask;
	unsigned bucket_shift; /* 64 - log2 of the buckets */
	unsigned seen_shift;
	struct nm_seen *seen;
	size_t seen_count, seen_mask;
};

/* timestamps, one for each slot, are borrowed. 0 or NM_ENOMEM. */
int nm_shadow_init(struct nm_shadow *r, uint64_t capacity, uint64_t *timestamps, uint64_t slots);
void nm_shadow_done(struct nm_shadow *r);

/* Whether an entry of the log, at a time from `head` on, is the last touch of a line. */
static inline int nm_shadow_is_last(const struct nm_shadow *s, uint32_t entry, uint64_t time)
{
	return __builtin_expect(entry & NM_LOG_LEFT, 0) ? entry != NM_LOG_VACANT
							: s->timestamps[entry] == time;
}

/* Appends a touch to the log, which has room. Returns its time, the slot's new timestamp. */
static inline uint64_t nm_shadow_touch(struct nm_shadow *s, uint32_t slot)
{
	s->log[s->now] = slot;
	return s->now++;
}

/* Renumbers the last touches in their order, from the present time on, and moves them to the start of the
 * log. */
void nm_shadow_renumber(struct nm_shadow *r);

/* Whether buckets are often full. */
static inline int nm_shadow_is_crowded(const struct nm_shadow *s)
{
	return s->passed_count * 16 > s->bucket_mask;
}

/* Rebuilds the buckets with room for all live lines. 0, or NM_ENOMEM: then they are empty, so that the model
 * can finish its batch. */
int nm_shadow_rebuild(struct nm_shadow *r);

/* For tests and checks: whether log, timestamps and buckets agree on which lines the shadow cache holds. */
int nm_shadow_is_valid(const struct nm_shadow *r);

/* Sees the lines that another shadow cache has seen, instead of its own. 0 or NM_ENOMEM. */
int nm_shadow_learn_seen(struct nm_shadow *s, const struct nm_shadow *from);

/* The lines that it holds, from the earliest last touch on; tags: of the cache, by slot. Returns their number. */
size_t nm_shadow_order(const struct nm_shadow *s, const uint64_t *tags, uint64_t *ret_lines);

/* The index in `seen` of a line that was seen. */
size_t nm_shadow_seen_at(const struct nm_shadow *s, uint64_t line);

/* NM_MISS_CAPACITY, or NM_MISS_COLD if the line was never seen before, or NM_ENOMEM. */
int nm_shadow_seen(struct nm_shadow *r, uint64_t line);

/* Spreads keys over a table by the high bits of a product: enough for line numbers, and cheap. */
static inline size_t nm_spread(uint64_t key, unsigned shift) { return key * 0x9e3779b97f4a7c15ull >> shift; }

/* A bit for each entry of a bucket that is of a line and live. */
static inline unsigned nm_shadow_same(const struct nm_shadow_bucket *b, uint64_t line)
{
#if defined(__AVX2__)
	return same_of_4(b->lines, _mm256_set1_epi64x((long long)line));
#else
	unsigned same = 0;

	for (unsigned k = 0; k < NM_SHADOW_BUCKET; k++)
		same |= (unsigned)(b->lines[k] == line) << k;
	return same;
#endif
}

static inline unsigned nm_shadow_live(const struct nm_shadow_bucket *b, uint64_t head)
{
#if defined(__AVX2__)
	const __m256i before = _mm256_set1_epi64x((long long)(head - 1));
	const __m256i live = _mm256_cmpgt_epi64(_mm256_load_si256((const __m256i *)b->timestamps), before);

	return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(live));
#else
	unsigned live = 0;

	for (unsigned k = 0; k < NM_SHADOW_BUCKET; k++)
		live |= (unsigned)(b->timestamps[k] >= head) << k;
	return live;
#endif
}

/* The first bucket to search for a line. Strided lines must spread over the buckets. */
static inline size_t nm_shadow_bucket_of(const struct nm_shadow *s, uint64_t line)
{
	const uint64_t spread = line * 0x9e3779b97f4a7c15ull;

	return nm_spread(spread ^ spread >> 32, s->bucket_shift);
}

static inline const struct nm_shadow_bucket *nm_shadow_home(const struct nm_shadow *s, uint64_t line)
{
	return &s->buckets[nm_shadow_bucket_of(s, line)];
}

/* The first element to search for the lines seen around a line. */
static inline const struct nm_seen *nm_shadow_seen_home(const struct nm_shadow *s, uint64_t line)
{
	return &s->seen[nm_spread(line >> 6, s->seen_shift)];
}

/* The time of a line that left its slot but is still in the shadow cache; NULL: it is not. */
static inline uint64_t *nm_shadow_left(const struct nm_shadow *s, uint64_t line)
{
	size_t i = nm_shadow_bucket_of(s, line);

	for (;; i = (i + 1) & s->bucket_mask) {
		struct nm_shadow_bucket *b = &s->buckets[i];
		const unsigned found = nm_shadow_same(b, line) & nm_shadow_live(b, s->head);

		if (found)
			return &b->timestamps[__builtin_ctz(found)];
		if (__builtin_expect(!(s->passed[i / 64] >> i % 64 & 1), 1))
			return NULL;
	}
}

/* The line with this time is loaded again. */
static inline void nm_shadow_return(struct nm_shadow *s, uint64_t *timestamp)
{
	s->log[*timestamp] = NM_LOG_VACANT;
	*timestamp = 0;
}

/* The line with this time, which had left, is forgotten. */
static inline void nm_shadow_forget(struct nm_shadow *s, uint64_t *timestamp)
{
	nm_shadow_return(s, timestamp);
	s->live--;
}

/* Enters a line last touched at `timestamp`, not before `head`, into a bucket. */
static inline void nm_shadow_put(struct nm_shadow *s, uint64_t line, uint64_t timestamp)
{
	size_t i = nm_shadow_bucket_of(s, line);

	for (;; i = (i + 1) & s->bucket_mask) {
		struct nm_shadow_bucket *b = &s->buckets[i];
		const unsigned live = nm_shadow_live(b, s->head);

		if (__builtin_expect(live != (1u << NM_SHADOW_BUCKET) - 1, 1)) {
			const unsigned free = (unsigned)__builtin_ctz(~live);

			b->lines[free] = line;
			b->timestamps[free] = timestamp;
			s->log[timestamp] = NM_LOG_LEFT | ((uint32_t)i * NM_SHADOW_BUCKET + free);
			return;
		}
		s->passed_count += !(s->passed[i / 64] >> i % 64 & 1);
		s->passed[i / 64] |= 1ull << i % 64;
	}
}

/* Enters a line that leaves its slot, if it is live. 0 or NM_ENOMEM. */
static inline int nm_shadow_leave(struct nm_shadow *s, uint64_t line, uint64_t timestamp)
{
	nm_shadow_put(s, line, timestamp);
	return __builtin_expect(nm_shadow_is_crowded(s), 0) ? nm_shadow_rebuild(s) : 0;
}

#endif
