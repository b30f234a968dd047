/* SPDX-License-Identifier: MIT */
#include "recent_places.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "symbol.h"

struct nm_recent_places *nm_recent_places_new(unsigned candidates)
{
	struct nm_recent_places *r =
	    calloc(1, sizeof *r + (size_t)NM_RECENT_BLOCKS * candidates * sizeof *r->places);

	if (r)
		r->candidates = candidates;
	return r;
}

static unsigned number_of(uint64_t low) { return (unsigned)nm_mix64(low) & (NM_RECENT_BLOCKS - 1); }

void nm_recent_places_put(struct nm_recent_places *r, uint64_t address, struct nm_recent_block block,
			  unsigned candidate, struct nm_recent_place place)
{
	const unsigned i = number_of(block.low);
	struct nm_recent_block *b = &r->blocks[i];
	struct nm_recent_place *places = r->places + (size_t)i * r->candidates;

	assert(candidate < r->candidates && address - block.low < block.end - block.low);
	if (b->low != block.low || b->end != block.end || b->object != block.object)
		memset(places, 0, r->candidates * sizeof *places);
	*b = block;
	places[candidate] = place;
	r->of_granule[address >> NM_RECENT_GRANULE & (NM_RECENT_GRANULES - 1)] = (uint16_t)i;
}

/* The block that begins at an address. */
static void forget_block(struct nm_recent_places *r, uint64_t low)
{
	struct nm_recent_block *b = &r->blocks[number_of(low)];

	if (b->low == low)
		*b = (struct nm_recent_block){.end = 0};
}

void nm_recent_places_forget(struct nm_recent_places *r, uint64_t address, uint64_t bytes)
{
	const uint64_t first = address >> NM_RECENT_GRANULE,
		       count = ((address + bytes) >> NM_RECENT_GRANULE) - first + 1;

	forget_block(r, address);
	forget_block(r, address + NM_COUNT_BYTES); /* elements of new[] */
	for (uint64_t i = 0; i < count && i < NM_RECENT_GRANULES; i++) {
		struct nm_recent_block *b = &r->blocks[r->of_granule[(first + i) & (NM_RECENT_GRANULES - 1)]];

		if (b->low < address + bytes && b->end > address)
			*b = (struct nm_recent_block){.end = 0};
	}
}
