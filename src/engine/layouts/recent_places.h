/* SPDX-License-Identifier: MIT
 *
 * recent_places.h - the places of heap blocks that were accessed lately, in all candidates: one look-up instead of one
 * of the block, and one in the table of places, for each candidate.
 *
 * Both tables are direct-mapped: granules of addresses lead to a block, and the low end of a block to its element. A
 * block that goes, or that has come, is to be forgotten; one that went unseen no longer owns its addresses, which the
 * caller sees.
 */
#ifndef NM_RECENT_PLACES_H
#define NM_RECENT_PLACES_H

#include <stdint.h>

#include "map.h"

enum {
	NM_RECENT_GRANULE = 5,        /* log2 of its bytes */
	NM_RECENT_GRANULES = 1 << 15, /* in the table */
	NM_RECENT_BLOCKS = 1 << 13    /* and blocks */
};

struct nm_layout_place;

struct nm_recent_block {
	uint64_t low, end; /* end 0: there is none */
	uint32_t object;
};

struct nm_recent_place {
	struct nm_layout_place *place; /* NULL: not known */
	uint64_t base;                 /* of its part 0; places are far apart in memory, these are not */
};

struct nm_recent_places {
	unsigned candidates;
	uint16_t of_granule[NM_RECENT_GRANULES];
	struct nm_recent_block blocks[NM_RECENT_BLOCKS];
	struct nm_recent_place places[]; /* [blocks][candidates] */
};

struct nm_recent_places *nm_recent_places_new(unsigned candidates); /* free() it; NULL: no memory */

/* The block of an object around an address, or NULL; */
static inline const struct nm_recent_block *nm_recent_block(const struct nm_recent_places *r, uint32_t object,
							    uint64_t address)
{
	const struct nm_recent_block *b =
	    &r->blocks[r->of_granule[address >> NM_RECENT_GRANULE & (NM_RECENT_GRANULES - 1)]];

	return b->object == object && address - b->low < b->end - b->low ? b : NULL;
}

/* and its place in a candidate. */
static inline const struct nm_recent_place *nm_recent_place(const struct nm_recent_places *r,
							    const struct nm_recent_block *block,
							    unsigned candidate)
{
	return &r->places[(size_t)(block - r->blocks) * r->candidates + candidate];
}

/* A candidate has a place for the block around an address. */
void nm_recent_places_put(struct nm_recent_places *recent, uint64_t address, struct nm_recent_block block,
			  unsigned candidate, struct nm_recent_place place);

/* What is known of addresses [address, address + bytes), or of a block that begins there. */
void nm_recent_places_forget(struct nm_recent_places *recent, uint64_t address, uint64_t bytes);

#endif
