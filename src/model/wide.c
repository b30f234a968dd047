/* SPDX-License-Identifier: MIT
 *
 * wide.c - finds ways and victims in sets of many ways (fully associative levels, mostly): a hash from line
 * to place and, per set, a doubly linked list in recency order.  Constant time at any number of ways.
 *
 * Ways of a set are handed out in order until it is full.  The hash stores places only; the tags that it compares
 * with are the cache's own.
 */
#include <stdlib.h>

#include "cache.h"
#include "lazy_array.h"
#include "map.h"

struct link {
	uint32_t newer, older; /* ways; `ways` itself stands for the end */
};

struct nm_wide {
	uint32_t *index; /* place + 1; 0: free */
	uint64_t index_mask;
	struct link *links; /* ways + 1 a set; the last is the head: newer = oldest, older = newest */
	uint32_t *used;     /* ways handed out, per set */
	uint32_t ways;
	uint64_t sets;
};

static uint64_t link_count(const struct nm_wide *wide) { return wide->sets * (wide->ways + 1ull); }

struct nm_wide *nm_wide_new(uint64_t sets, uint32_t ways)
{
	struct nm_wide *wide = calloc(1, sizeof *wide);
	uint64_t room = 4;

	if (!wide)
		return NULL;
	while (room < 2 * sets * ways)
		room *= 2;
	wide->sets = sets;
	wide->ways = ways;
	wide->index_mask = room - 1;
	wide->index = nm_lazy_array(room, sizeof *wide->index);
	wide->links = nm_lazy_array(link_count(wide), sizeof *wide->links);
	wide->used = calloc(sets, sizeof *wide->used);
	if (!wide->index || !wide->links || !wide->used) {
		nm_wide_free(wide);
		return NULL;
	}
	for (uint64_t set = 0; set < sets; set++)
		wide->links[set * (ways + 1ull) + ways] = (struct link){ways, ways};
	return wide;
}

void nm_wide_free(struct nm_wide *wide)
{
	if (!wide)
		return;
	nm_lazy_array_free(wide->index, wide->index_mask + 1, sizeof *wide->index);
	nm_lazy_array_free(wide->links, link_count(wide), sizeof *wide->links);
	free(wide->used);
	free(wide);
}

static uint32_t *slot_of(const struct nm_wide *wide, const uint64_t *tags, uint64_t line)
{
	uint64_t i = nm_mix64(line) & wide->index_mask;
	while (wide->index[i] && tags[wide->index[i] - 1] != line)
		i = (i + 1) & wide->index_mask;
	return &wide->index[i];
}

uint32_t nm_wide_find(const struct nm_wide *wide, const uint64_t *tags, uint64_t line)
{
	return *slot_of(wide, tags, line) - 1;
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

void nm_wide_touch(struct nm_wide *wide, uint32_t place)
{
	uint32_t way = place % wide->ways;
	struct link *links = wide->links + place / wide->ways * (wide->ways + 1ull);

	if (links[wide->ways].older == way)
		return;
	take_out(links, way);
	push_newest(links, wide->ways, way);
}

void nm_wide_take(struct nm_wide *wide, const uint64_t *tags, uint64_t line)
{
	uint64_t mask = wide->index_mask, hole = (uint64_t)(slot_of(wide, tags, line) - wide->index);
	for (uint64_t i = (hole + 1) & mask; wide->index[i]; i = (i + 1) & mask) {
		uint64_t home = nm_mix64(tags[wide->index[i] - 1]) & mask;
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			wide->index[hole] = wide->index[i];
			hole = i;
		}
	}
	wide->index[hole] = 0;
}

uint32_t nm_wide_replace(struct nm_wide *wide, const uint64_t *tags, uint64_t set, uint64_t line)
{
	struct link *links = wide->links + set * (wide->ways + 1ull);
	uint32_t way, first = (uint32_t)(set * wide->ways);

	if (wide->used[set] < wide->ways) {
		way = wide->used[set]++;
	} else {
		way = links[wide->ways].newer;
		nm_wide_take(wide, tags, tags[first + way]);
		take_out(links, way);
	}
	push_newest(links, wide->ways, way);
	*slot_of(wide, tags, line) = first + way + 1;
	return first + way;
}

void nm_wide_put(struct nm_wide *wide, const uint64_t *tags, uint32_t place)
{
	*slot_of(wide, tags, tags[place]) = place + 1;
}
