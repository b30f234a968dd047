/* SPDX-License-Identifier: MIT
 *
 * contention.h - the blocks that cores contend for: which keys touch which bytes, and which keys make other
 * cores lose them.
 *
 * A block is *contended* once a core loses it to another core's write, or loads what another core wrote.
 * From then on every *touch* (an attribution key, an address and a size) is counted. Memory grows with the
 * contended bytes of the program, not with its length; beyond NM_TOUCHES_MOST touches, new ones are dropped
 * and counted.
 */
#ifndef NM_CONTENTION_H
#define NM_CONTENTION_H

#include <stdint.h>

#include "errors.h"
#include "map.h"
#include "vector.h"

struct nm_contended_touch {
	uint64_t address;
	uint32_t attr, bytes;
	uint64_t reads, writes;
	uint64_t misses;        /* coherence misses of the first level */
	uint64_t false_misses;  /* of these, false sharing */
	uint64_t invalidations; /* copies of other cores that it invalidated */
};

/* Counts of the cases where `by` made a core lose or supply a copy of a block that `of` had loaded. */
struct nm_contention_pair {
	uint64_t block; /* address, or 0: all blocks that are not contended, together */
	uint32_t by, of;
	uint32_t touch,
	    loading; /* 1 + index of the touch of `by`, and of the touch that loaded the copy; or 0 */
	uint64_t invalidations, interventions, writebacks, upgrades;
};

/* A new touch of a batch: the caller can look up the object at its address before the program frees it. */
struct nm_touch_place {
	uint64_t address;
	uint32_t attr, touch; /* index of the touch */
};

enum { NM_TOUCHES_MOST = 1 << 20, NM_TOUCH_LISTS = 512, NM_RECENT_TOUCHES_BITS = 10 };

struct nm_contention {
	struct nm_vec(struct nm_contended_touch) touches;
	struct nm_vec(struct nm_contention_pair) pairs;
	struct nm_map touch_of, pair_of;
	uint32_t recent[1 << NM_RECENT_TOUCHES_BITS]; /* by hash: 1 + index of the latest touch, or 0 */
	struct nm_vec(struct nm_touch_place) fresh[NM_TOUCH_LISTS]; /* by batch, modulo NM_TOUCH_LISTS */
	uint64_t batches, left_out;
	int failed; /* memory ran out */
};

/* The next batch begins: its new touches get their own list. */
static inline void nm_contention_next(struct nm_contention *c)
{
	c->fresh[++c->batches % NM_TOUCH_LISTS].count = 0;
}

void nm_contention_done(struct nm_contention *contention);

/* 1 + the index of a touch, which is added if it is new; 0: it was dropped. */
uint32_t nm_contention_touch(struct nm_contention *contention, uint64_t address, uint32_t bytes,
			     uint32_t attr);

/* The pair with the same identity (all but the counts) as `like`, to add counts to; NULL: memory ran out. */
struct nm_contention_pair *nm_contention_pair(struct nm_contention *contention,
					      const struct nm_contention_pair *like);

#endif
