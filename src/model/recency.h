/* SPDX-License-Identifier: MIT
 *
 * recency.h - the fully associative LRU cache that misses are classed against.
 */
#ifndef NM_RECENCY_H
#define NM_RECENCY_H

#include <stddef.h>
#include <stdint.h>

enum { NM_INTERVAL_MAX = 256, NM_INTERVAL_WORDS = NM_INTERVAL_MAX / 64 };

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
	uint32_t *index;                             /* block id to block, open addressing; 0: free */
	unsigned index_shift;                        /* 64 - log2 of its size */

	struct nm_ghost *ghosts;
	size_t ghost_count, ghost_mask;
	struct nm_seen *seen;
	size_t seen_count, seen_mask;
};

int nm_recency_init(struct nm_recency *r, uint64_t capacity);
void nm_recency_done(struct nm_recency *r);

static inline uint64_t nm_recency_end(const struct nm_recency *r) { return r->start + (1ull << r->shift); }

/* The first touch in this interval of a line that is resident in the cache and was touched at `old`. */
void nm_recency_touch(struct nm_recency *r, uint64_t old);

/* The load of a line that was not resident.  Its class, or NM_ENOMEM. */
int nm_recency_load(struct nm_recency *r, uint64_t line);

/* A line last touched at `stamp` leaves the cache.  0 or NM_ENOMEM. */
int nm_recency_leave(struct nm_recency *r, uint64_t line, uint64_t stamp);

/* Ends the interval; `again` marks the touches that a later hit outdated.  0 or NM_ENOMEM. */
int nm_recency_close(struct nm_recency *r, const uint64_t again[NM_INTERVAL_WORDS]);

#endif
