/* SPDX-License-Identifier: MIT
 *
 * counters.h - the counters of one level: counts per attribution key, and the eviction matrix.
 */
#ifndef NM_COUNTERS_H
#define NM_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "hierarchy.h"
#include "shadow.h"

/* What an attribution key loads. One cache line of the host, which is all that a miss needs of it. */
struct nm_loads {
	uint64_t fills[2]; /* lines loaded for reads and fetches, for writes */
	uint64_t extra[2]; /* of those, the second and later lines of one reference */
	uint64_t of_class[NM_MISS_COUNTED];
	uint64_t around; /* writes that missed and were not loaded */
};
_Static_assert(sizeof(struct nm_loads) == 64, "one cache line");

enum { NM_LOADS = sizeof(struct nm_loads) / sizeof(uint64_t), NM_TOUCHED_KEYS = 8 };

/* What came of the lines that an attribution key had loaded, when they left or at the end. */
struct nm_residency_sums {
	uint64_t reuse, used_bytes, evictions, writebacks, weighted_bytes;
};

/* Flag of an evictor: the line left for a prefetch that this attribution key caused. */
#define NM_BY_PREFETCH (1u << 31)

struct nm_pair {
	uint64_t key;   /* evictor << 32 | victim */
	uint64_t count; /* 0: free */
};

enum { NM_PAIRS_RECENT = 512, NM_PAIRS_WAITING = 32 };

struct nm_counters {
	struct nm_loads *loads;
	struct nm_residency_sums *residencies;
	uint64_t (*own)[2];       /* the program's own reads and writes, for a level that takes fills too */
	struct nm_extras *extras; /* for levels that count them, else NULL */
	uint64_t *covered;        /* of the loads (prefetch_coverage.h), or NULL */
	int has_extras, has_covered; /* set before the first attribution key */
	size_t attr_count, attr_room;
	uint64_t reads, writes; /* of a first level, over all attribution keys */
	uint64_t own_total[2];  /* of `own`, over all attribution keys */
	uint8_t
	    *touched; /* by key / NM_TOUCHED_KEYS: one of them has loaded since nm_hierarchy_take_changes */
	/* what `loads` were then, modulo 2^32; NULL: nobody asks for changes (count_changes.h) */
	uint32_t (*before)[NM_LOADS];
	uint64_t refs_before[2];
	struct nm_pair *pairs;
	size_t pair_count, pair_mask;
	unsigned pair_shift;    /* 64 - log2 of the slots */
	struct nm_pair *recent; /* [NM_PAIRS_RECENT], by hash: counts still to be added to `pairs` */
	/* evicted from `recent`, while the host prefetches their slots */
	struct nm_pair waiting[NM_PAIRS_WAITING];
	unsigned waiting_count;
};

int nm_counters_init(struct nm_counters *counters, int has_extras, int has_covered);
void nm_counters_done(struct nm_counters *counters);

/* Makes room for attribution keys below count. 0 or NM_ENOMEM. */
int nm_counters_reserve(struct nm_counters *counters, size_t count);

/* Adds what `recent` holds to the matrix. 0 or NM_ENOMEM. */
int nm_counters_flush(struct nm_counters *counters);
/* Adds a pair's count to `pairs`; adds all counts of flushed counters without extras. 0 or NM_ENOMEM. */
int nm_counters_add_pair(struct nm_counters *counters, const struct nm_pair *pair);
int nm_counters_add(struct nm_counters *to, const struct nm_counters *from);
int nm_counters_replace(struct nm_counters *counters, struct nm_pair *recent, uint64_t key);

/* From now on extras are counted. 0 or NM_ENOMEM. */
int nm_counters_count_extras(struct nm_counters *counters);

/* From now on `before` is kept. 0 or NM_ENOMEM. */
int nm_counters_track(struct nm_counters *counters);

/* Notes that a key has loaded a line, or let a write pass by. */
static inline void nm_counters_touch(struct nm_counters *c, uint32_t attr)
{
	c->touched[attr / NM_TOUCHED_KEYS] = 1;
}

static inline size_t nm_counters_slot(uint64_t key, unsigned shift)
{
	return (key ^ key >> 29) * 0x9e3779b97f4a7c15ull >> shift;
}

/* Counts an eviction. 0 or NM_ENOMEM. Loops repeat the same pairs, and the whole matrix is larger than the
 * host's caches: a small table in front of it takes most of them. */
static inline int nm_counters_evict(struct nm_counters *c, uint32_t evictor, uint32_t victim)
{
	uint64_t key = (uint64_t)evictor << 32 | victim;
	struct nm_pair *p = &c->recent[(evictor * 31 ^ victim) & (NM_PAIRS_RECENT - 1)];

	if (p->key != key || !p->count)
		return nm_counters_replace(c, p, key);
	p->count++;
	return 0;
}

#endif
