/* SPDX-License-Identifier: MIT
 *
 * tally.h - the figures of one level: counts per cell, and who replaced whom.
 */
#ifndef NM_TALLY_H
#define NM_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "hierarchy.h"

struct nm_pair {
	uint64_t key;   /* evictor << 32 | victim */
	uint64_t count; /* 0: free */
};

struct nm_tally {
	struct nm_counts *cells;
	size_t cell_count, cell_room;
	uint64_t reads, writes; /* of a first level */
	struct nm_pair *pairs;
	size_t pair_count, pair_mask;
	unsigned pair_shift; /* 64 - log2 of the slots */
};

int nm_tally_init(struct nm_tally *tally);
void nm_tally_done(struct nm_tally *tally);

/* Makes cells [0, count) exist.  0 or NM_ENOMEM. */
int nm_tally_reach(struct nm_tally *tally, size_t count);

/* Notes an eviction.  0 or NM_ENOMEM. */
int nm_tally_evict(struct nm_tally *tally, uint32_t evictor, uint32_t victim);

static inline size_t nm_tally_slot(uint64_t key, unsigned shift)
{
	return (key ^ key >> 29) * 0x9e3779b97f4a7c15ull >> shift;
}

/* Has the host fetch what an eviction will change. */
static inline void nm_tally_prefetch(const struct nm_tally *t, uint32_t evictor, uint32_t victim)
{
	__builtin_prefetch(&t->pairs[nm_tally_slot((uint64_t)evictor << 32 | victim, t->pair_shift)], 1);
	__builtin_prefetch(&t->cells[evictor], 1);
	__builtin_prefetch(&t->cells[victim].reuse, 1);
}

#endif
