/* SPDX-License-Identifier: MIT
 *
 * way_index.c - finds lines in sets of many ways (mostly fully associative levels) in constant time: a hash
 * from line to slot. It stores slots only, and compares with the cache's own tags.
 */
#include <assert.h>
#include <stdlib.h>

#include "cache.h"
#include "checks.h"
#include "lazy_array.h"
#include "map.h"

struct nm_way_index {
	uint32_t *index; /* slot + 1; 0: free */
	uint64_t index_mask;
};

struct nm_way_index *nm_way_index_new(uint64_t sets, uint32_t ways)
{
	struct nm_way_index *way_index = calloc(1, sizeof *way_index);
	uint64_t room = 4;

	assert(sets && ways);
	if (!way_index)
		return NULL;
	while (room < 2 * sets * ways)
		room *= 2;
	way_index->index_mask = room - 1;
	way_index->index = nm_lazy_array(room, sizeof *way_index->index);
	if (!way_index->index) {
		nm_way_index_free(way_index);
		return NULL;
	}
	return way_index;
}

void nm_way_index_free(struct nm_way_index *way_index)
{
	if (!way_index)
		return;
	nm_lazy_array_free(way_index->index, way_index->index_mask + 1, sizeof *way_index->index);
	free(way_index);
}

static uint32_t *slot_of(const struct nm_way_index *way_index, const uint64_t *tags, uint64_t line)
{
	uint64_t i = nm_mix64(line) & way_index->index_mask;
	while (way_index->index[i] && tags[way_index->index[i] - 1] != line)
		i = (i + 1) & way_index->index_mask;
	return &way_index->index[i];
}

uint32_t nm_way_index_find(const struct nm_way_index *way_index, const uint64_t *tags, uint64_t line)
{
	return *slot_of(way_index, tags, line) - 1;
}

void nm_way_index_remove(struct nm_way_index *way_index, const uint64_t *tags, uint64_t line)
{
	assert(*slot_of(way_index, tags, line));
	uint64_t mask = way_index->index_mask,
		 hole = (uint64_t)(slot_of(way_index, tags, line) - way_index->index);
	for (uint64_t i = (hole + 1) & mask; way_index->index[i]; i = (i + 1) & mask) {
		uint64_t home = nm_mix64(tags[way_index->index[i] - 1]) & mask;
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			way_index->index[hole] = way_index->index[i];
			hole = i;
		}
	}
	way_index->index[hole] = 0;
}

void nm_way_index_add(struct nm_way_index *way_index, const uint64_t *tags, uint32_t slot)
{
	NM_CHECK(nm_way_index_find(way_index, tags, tags[slot]) == NM_NO_SLOT);
	*slot_of(way_index, tags, tags[slot]) = slot + 1;
}
