/* SPDX-License-Identifier: MIT
 *
 * shadow.h - the fully associative LRU cache that misses are classed against.
 */
#ifndef NM_SHADOW_H
#define NM_SHADOW_H

#include <stddef.h>
#include <stdint.h>

enum nm_miss_class { NM_MISS_COLD, NM_MISS_CAPACITY, NM_MISS_CONFLICT };

/* In the log, in place of a place. */
#define NM_LOG_ENTRY 0x80000000u  /* the line has left: the lower bits are the entry's bucket */
#define NM_LOG_VACANT 0xffffffffu /* the line had left, and is back */

/* A line that left its slot, while the fully associative cache still holds it. */
struct nm_shadow_entry {
	uint64_t line, timestamp; /* timestamp 0: free */
};

struct nm_seen {
	uint64_t group, lines; /* 64 neighbouring lines; lines 0: free */
};

struct nm_shadow {
	uint64_t now;       /* time of the next touch */
	uint64_t head;      /* a line is in the fully associative cache if its last touch is not before it */
	uint64_t capacity;  /* lines */
	uint64_t live;      /* lines that it holds */
	uint32_t *log;      /* by time: the slot touched; its memory begins at `base` */
	uint64_t base, end; /* end: time for which the log has no room */
	uint64_t *timestamps; /* of the cache: time of last touch by slot */
	uint64_t slots;
	uint64_t *last; /* a bit for each time in the log, of nm_shadow_renumber; else 0 */
	struct nm_shadow_entry *entries;
	size_t entry_count, entry_mask;
	unsigned entry_shift; /* 64 - log2 of the buckets */
	unsigned seen_shift;
	struct nm_seen *seen;
	size_t seen_count, seen_mask;
};

/* timestamps, one for each slot, are borrowed.  0 or NM_ENOMEM. */
int nm_shadow_init(struct nm_shadow *r, uint64_t capacity, uint64_t *timestamps, uint64_t slots);
void nm_shadow_done(struct nm_shadow *r);

/* Whether an entry of the log, of a time from head on, is the last touch of a line. */
static inline int nm_shadow_is_last(const struct nm_shadow *r, uint32_t entry, uint64_t time)
{
	return __builtin_expect(entry & NM_LOG_ENTRY, 0) ? entry != NM_LOG_VACANT
							 : r->timestamps[entry] == time;
}

/* Enters the touch of now in the log, which has room.  Returns its time, the new timestamp of the slot. */
static inline uint64_t nm_shadow_touch(struct nm_shadow *r, uint32_t slot)
{
	r->log[r->now] = slot;
	return r->now++;
}

/* Renumbers the last touches, in their order, from now on, and begins the log with them. */
void nm_shadow_renumber(struct nm_shadow *r);

/* An entry is none any more. */
void nm_shadow_remove(struct nm_shadow *r, size_t bucket);

/* A line that had left comes back. */
void nm_shadow_return(struct nm_shadow *r, struct nm_shadow_entry *entry);

/* Doubles the room for entries.  0 or NM_ENOMEM. */
int nm_shadow_grow(struct nm_shadow *r);

/* NM_MISS_CAPACITY, or NM_MISS_COLD if the line was never seen before, or NM_ENOMEM. */
int nm_shadow_seen(struct nm_shadow *r, uint64_t line);

/* Spreads keys over a table by the high bits of a product: enough for line numbers, and cheap. */
static inline size_t nm_spread(uint64_t key, unsigned shift) { return key * 0x9e3779b97f4a7c15ull >> shift; }

/* The entry of a line, or a free bucket for it. */
static inline struct nm_shadow_entry *nm_shadow_entry_of(const struct nm_shadow *r, uint64_t line)
{
	size_t i = nm_spread(line, r->entry_shift);

	while (r->entries[i].timestamp && r->entries[i].line != line)
		i = (i + 1) & r->entry_mask;
	return &r->entries[i];
}

/* A line last touched at `timestamp`, not before `head`, leaves its slot.  0 or NM_ENOMEM. */
static inline int nm_shadow_leave(struct nm_shadow *r, uint64_t line, uint64_t timestamp)
{
	struct nm_shadow_entry *g = nm_shadow_entry_of(r, line);

	*g = (struct nm_shadow_entry){line, timestamp};
	r->log[timestamp] = NM_LOG_ENTRY | (uint32_t)(g - r->entries);
	return ++r->entry_count * 4 > r->entry_mask ? nm_shadow_grow(r) : 0;
}

/* The fully associative cache loses the line touched last at `time`, which was the first of all. */
static inline void nm_shadow_forget(struct nm_shadow *r, uint64_t time)
{
	uint32_t e = r->log[time];

	r->head = time + 1;
	if (e & NM_LOG_ENTRY)
		nm_shadow_remove(r, e & ~NM_LOG_ENTRY);
}

#endif
