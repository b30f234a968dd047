/* SPDX-License-Identifier: MIT
 *
 * way_index.c - finds ways and victims in sets of many ways (fully associative levels, mostly): a hash from line
 * to slot and, per set, a doubly linked list in shadow order.  Constant time at any number of ways.
 *
 * Ways of a set are handed out in order until it is full.  The hash stores slots only; the tags that it compares
 * with are the cache's own.
 */
#include <stdlib.h>

#include "cache.h"
#include "lazy_array.h"
#include "map.h"

struct link {
	uint32_t newer, older; /* ways; `ways` itself stands for the end */
};

struct nm_way_index {
	uint32_t *index; /* slot + 1; 0: free */
	uint64_t index_mask;
	struct link *links; /* ways + 1 a set; the last is the head: newer = oldest, older = newest */
	uint32_t *used;     /* ways handed out, per set */
	uint32_t ways;
	uint64_t sets;
};

static uint64_t link_count(const struct nm_way_index *way_index)
{
	return way_index->sets * (way_index->ways + 1ull);
}

struct nm_way_index *nm_way_index_new(uint64_t sets, uint32_t ways)
{
	struct nm_way_index *way_index = calloc(1, sizeof *way_index);
	uint64_t room = 4;

	if (!way_index)
		return NULL;
	while (room < 2 * sets * ways)
		room *= 2;
	way_index->sets = sets;
	way_index->ways = ways;
	way_index->index_mask = room - 1;
	way_index->index = nm_lazy_array(room, sizeof *way_index->index);
	way_index->links = nm_lazy_array(link_count(way_index), sizeof *way_index->links);
	way_index->used = calloc(sets, sizeof *way_index->used);
	if (!way_index->index || !way_index->links || !way_index->used) {
		nm_way_index_free(way_index);
		return NULL;
	}
	for (uint64_t set = 0; set < sets; set++)
		way_index->links[set * (ways + 1ull) + ways] = (struct link){ways, ways};
	return way_index;
}

void nm_way_index_free(struct nm_way_index *way_index)
{
	if (!way_index)
		return;
	nm_lazy_array_free(way_index->index, way_index->index_mask + 1, sizeof *way_index->index);
	nm_lazy_array_free(way_index->links, link_count(way_index), sizeof *way_index->links);
	free(way_index->used);
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

static void push_newest(struct link *links, uint32_t head, uint32_t way)
{
	links[way] = (struct link){.newer = head, .older = links[head].older};
	links[links[head].older].newer = way;
	links[head].older = way;
}

static void take_out(struct link *links, uint32_t way)
{
	links[links[way].newer].older = links[way].older;
	links[links[way].older].newer = links[way].newer;
}

void nm_way_index_touch(struct nm_way_index *way_index, uint32_t slot)
{
	uint32_t way = slot % way_index->ways;
	struct link *links = way_index->links + slot / way_index->ways * (way_index->ways + 1ull);

	if (links[way_index->ways].older == way)
		return;
	take_out(links, way);
	push_newest(links, way_index->ways, way);
}

void nm_way_index_take(struct nm_way_index *way_index, const uint64_t *tags, uint64_t line)
{
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

uint32_t nm_way_index_replace(struct nm_way_index *way_index, const uint64_t *tags, uint64_t set,
			      uint64_t line)
{
	struct link *links = way_index->links + set * (way_index->ways + 1ull);
	uint32_t way, first = (uint32_t)(set * way_index->ways);

	if (way_index->used[set] < way_index->ways) {
		way = way_index->used[set]++;
	} else {
		way = links[way_index->ways].newer;
		nm_way_index_take(way_index, tags, tags[first + way]);
		take_out(links, way);
	}
	push_newest(links, way_index->ways, way);
	*slot_of(way_index, tags, line) = first + way + 1;
	return first + way;
}

void nm_way_index_put(struct nm_way_index *way_index, const uint64_t *tags, uint32_t slot)
{
	*slot_of(way_index, tags, tags[slot]) = slot + 1;
}
