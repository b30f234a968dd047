/* SPDX-License-Identifier: MIT
 *
 * recency.h - the fully associative LRU cache that misses are classed against.
 */
#ifndef NM_RECENCY_H
#define NM_RECENCY_H

#include <stddef.h>
#include <stdint.h>

enum {
	NM_INTERVAL_MAX = 256,
	NM_INTERVAL_WORDS = NM_INTERVAL_MAX / 64,
	NM_RECENT = 1024, /* intervals whose blocks are found without a hash */
};

/* A touch that concerns more than its own set.  With NM_EVENT_LOAD it is a load and the rest of `old` the index
 * of its record; else the first hit of a line in the interval, and `old` is the time of its last touch. */
#define NM_EVENT_LOAD (1ull << 63)

struct nm_event {
	uint64_t old;
	uint64_t place; /* first levels: time; else index of the operation + (fills before it << 32) */
};

enum nm_miss_class { NM_MISS_COLD, NM_MISS_CAPACITY, NM_MISS_CONFLICT };

/* The lines whose last touch lies in one interval: bit t % interval is set for each such touch. */
struct nm_recency_block {
	uint64_t bits[NM_INTERVAL_WORDS];
	uint64_t id;         /* first time / interval */
	uint32_t next, prev; /* by time; block 0 heads the ring */
	uint32_t count;      /* of bits */
	uint32_t unused;
};

struct nm_ghost {
	uint64_t line, stamp; /* stamp 0: free */
};

struct nm_seen {
	uint64_t group, lines; /* 64 neighbouring lines; lines 0: free */
};

struct nm_recency {
	uint64_t capacity;                 /* lines */
	uint64_t start;                    /* of the interval */
	uint64_t live;                     /* bits in all blocks */
	uint64_t fresh;                    /* distinct lines touched in the interval */
	unsigned shift;                    /* log2 of the interval */
	uint64_t again[NM_INTERVAL_WORDS]; /* touches of the interval that a later load outdated */

	struct nm_recency_block *blocks;
	uint32_t block_room, block_used, block_free; /* block_free heads a list through `next` */
	uint32_t recent[NM_RECENT];                  /* block by id % NM_RECENT; 0: none */
	uint32_t *index;                             /* block id to block, open addressing; 0: free */
	unsigned index_shift;                        /* 64 - log2 of its size */

	struct nm_ghost *ghosts;
	size_t ghost_count, ghost_mask;
	unsigned ghost_shift; /* 64 - log2 of the slots */
	struct nm_seen *seen;
	size_t seen_count, seen_mask;
	unsigned seen_shift;
};

/* Spreads keys over a table by the high bits of a product: enough for line numbers, and cheap. */
static inline size_t nm_spread(uint64_t key, unsigned shift) { return key * 0x9e3779b97f4a7c15ull >> shift; }

/* Has the host fetch what nm_recency_load() of one line and nm_recency_leave() of another will look at. */
static inline void nm_recency_prefetch(const struct nm_recency *r, uint64_t line, uint64_t victim)
{
	__builtin_prefetch(&r->ghosts[nm_spread(line, r->ghost_shift)]);
	__builtin_prefetch(&r->ghosts[nm_spread(victim, r->ghost_shift)], 1);
	__builtin_prefetch(&r->seen[nm_spread(line >> 6, r->seen_shift)]);
}

int nm_recency_init(struct nm_recency *r, uint64_t capacity);
void nm_recency_done(struct nm_recency *r);

static inline uint64_t nm_recency_end(const struct nm_recency *r) { return r->start + (1ull << r->shift); }

/* The first touch in this interval of a line that is resident in the cache and was touched at `old`. */
void nm_recency_touch(struct nm_recency *r, uint64_t old);

/* The same for events up to the first load, or the first that is past the interval.  Returns how many.  The time
 * of an event is base + (place >> shift). */
size_t nm_recency_touches(struct nm_recency *r, const struct nm_event *events, size_t count, uint64_t base,
			  unsigned shift);

/* The load of a line that was not resident.  Its class, or NM_ENOMEM. */
int nm_recency_load(struct nm_recency *r, uint64_t line);

/* A line last touched at `stamp` leaves the cache.  0 or NM_ENOMEM. */
int nm_recency_leave(struct nm_recency *r, uint64_t line, uint64_t stamp);

/* Ends the interval; `again` marks the touches that a later hit outdated.  0 or NM_ENOMEM. */
int nm_recency_close(struct nm_recency *r, const uint64_t again[NM_INTERVAL_WORDS]);

#endif
