/* SPDX-License-Identifier: MIT
 *
 * recency.h - the fully associative LRU cache that misses are classed against.
 */
#ifndef NM_RECENCY_H
#define NM_RECENCY_H

#include <stddef.h>
#include <stdint.h>

enum nm_miss_class { NM_MISS_COLD, NM_MISS_CAPACITY, NM_MISS_CONFLICT };

/* In the log, in place of a place. */
#define NM_LOG_GHOST 0x80000000u /* the line has left: the lower bits are the ghost's slot */
#define NM_LOG_DEAD 0xffffffffu  /* the line had left, and is back */

/* A line that left its place, while the fully associative cache still holds it. */
struct nm_ghost {
	uint64_t line, stamp; /* stamp 0: free */
};

struct nm_seen {
	uint64_t group, lines; /* 64 neighbouring lines; lines 0: free */
};

struct nm_recency {
	uint64_t now;       /* time of the next touch */
	uint64_t head;      /* a line is in the fully associative cache if its last touch is not before it */
	uint64_t capacity;  /* lines */
	uint64_t live;      /* lines that it holds */
	uint32_t *log;      /* by time: the place touched; its memory begins at `base` */
	uint64_t base, end; /* end: time for which the log has no room */
	uint64_t *stamps;   /* of the cache: time of last touch by place */
	uint64_t places;
	uint64_t *last; /* a bit for each time in the log, of nm_recency_renumber; else 0 */
	struct nm_ghost *ghosts;
	size_t ghost_count, ghost_mask;
	unsigned ghost_shift; /* 64 - log2 of the slots */
	unsigned seen_shift;
	struct nm_seen *seen;
	size_t seen_count, seen_mask;
};

/* stamps, one for each place, are borrowed.  0 or NM_ENOMEM. */
int nm_recency_init(struct nm_recency *r, uint64_t capacity, uint64_t *stamps, uint64_t places);
void nm_recency_done(struct nm_recency *r);

/* Whether an entry of the log, of a time from head on, is the last touch of a line. */
static inline int nm_recency_is_last(const struct nm_recency *r, uint32_t entry, uint64_t time)
{
	return __builtin_expect(entry & NM_LOG_GHOST, 0) ? entry != NM_LOG_DEAD : r->stamps[entry] == time;
}

/* Enters the touch of now in the log, which has room.  Returns its time, the new stamp of the place. */
static inline uint64_t nm_recency_touch(struct nm_recency *r, uint32_t place)
{
	r->log[r->now] = place;
	return r->now++;
}

/* Renumbers the last touches, in their order, from now on, and begins the log with them. */
void nm_recency_renumber(struct nm_recency *r);

/* A ghost is none any more. */
void nm_recency_remove(struct nm_recency *r, size_t slot);

/* A line that had left comes back. */
void nm_recency_return(struct nm_recency *r, struct nm_ghost *ghost);

/* Doubles the room for ghosts.  0 or NM_ENOMEM. */
int nm_recency_grow(struct nm_recency *r);

/* NM_MISS_CAPACITY, or NM_MISS_COLD if the line was never seen before, or NM_ENOMEM. */
int nm_recency_seen(struct nm_recency *r, uint64_t line);

/* Spreads keys over a table by the high bits of a product: enough for line numbers, and cheap. */
static inline size_t nm_spread(uint64_t key, unsigned shift) { return key * 0x9e3779b97f4a7c15ull >> shift; }

/* The ghost of a line, or a free slot for it. */
static inline struct nm_ghost *nm_recency_ghost(const struct nm_recency *r, uint64_t line)
{
	size_t i = nm_spread(line, r->ghost_shift);

	while (r->ghosts[i].stamp && r->ghosts[i].line != line)
		i = (i + 1) & r->ghost_mask;
	return &r->ghosts[i];
}

/* A line last touched at `stamp`, not before `head`, leaves its place.  0 or NM_ENOMEM. */
static inline int nm_recency_leave(struct nm_recency *r, uint64_t line, uint64_t stamp)
{
	struct nm_ghost *g = nm_recency_ghost(r, line);

	*g = (struct nm_ghost){line, stamp};
	r->log[stamp] = NM_LOG_GHOST | (uint32_t)(g - r->ghosts);
	return ++r->ghost_count * 4 > r->ghost_mask ? nm_recency_grow(r) : 0;
}

/* The fully associative cache loses the line touched last at `time`, which was the first of all. */
static inline void nm_recency_forget(struct nm_recency *r, uint64_t time)
{
	uint32_t e = r->log[time];

	r->head = time + 1;
	if (e & NM_LOG_GHOST)
		nm_recency_remove(r, e & ~NM_LOG_GHOST);
}

#endif
