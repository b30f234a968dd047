/* SPDX-License-Identifier: MIT */
#include "map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"

static size_t home_slot(const struct nm_map *map, uint64_t key) { return (size_t)nm_mix64(key) & map->mask; }

uint64_t nm_map_get(const struct nm_map *map, uint64_t key, uint64_t absent)
{
	if (!map->slots)
		return absent;
	for (size_t i = home_slot(map, key); map->slots[i].value; i = (i + 1) & map->mask)
		if (map->slots[i].key == key)
			return map->slots[i].value - 1;
	return absent;
}

static void insert_fresh(struct nm_map *map, uint64_t key, uint64_t stored)
{
	size_t i;

	for (i = home_slot(map, key); map->slots[i].value; i = (i + 1) & map->mask)
		;
	map->slots[i] = (struct nm_map_slot){key, stored};
}

static int grow_table(struct nm_map *map)
{
	size_t old = map->slots ? map->mask + 1 : 0;
	size_t room = old ? old * 2 : 64;
	struct nm_map bigger = {calloc(room, sizeof *bigger.slots), map->count, room - 1};

	assert(map->count <= old);
	if (!bigger.slots)
		return NM_ENOMEM;
	for (size_t i = 0; i < old; i++)
		if (map->slots[i].value)
			insert_fresh(&bigger, map->slots[i].key, map->slots[i].value);
	free(map->slots);
	*map = bigger;
	return 0;
}

int nm_map_put(struct nm_map *map, uint64_t key, uint64_t value)
{
	assert(value != UINT64_MAX);
	if (map->slots)
		for (size_t i = home_slot(map, key); map->slots[i].value; i = (i + 1) & map->mask)
			if (map->slots[i].key == key) {
				map->slots[i].value = value + 1;
				return 0;
			}
	if ((!map->slots || map->count * 2 > map->mask) && grow_table(map))
		return NM_ENOMEM;
	insert_fresh(map, key, value + 1);
	map->count++;
	return 0;
}

int nm_map_remove(struct nm_map *map, uint64_t key)
{
	size_t i, next;

	if (!map->slots)
		return 0;
	for (i = home_slot(map, key); map->slots[i].key != key || !map->slots[i].value;
	     i = (i + 1) & map->mask)
		if (!map->slots[i].value)
			return 0;
	/* Close the gap: move back every later entry of the run that may sit at i. */
	for (next = (i + 1) & map->mask; map->slots[next].value; next = (next + 1) & map->mask)
		if (((next - home_slot(map, map->slots[next].key)) & map->mask) >= ((next - i) & map->mask)) {
			map->slots[i] = map->slots[next];
			i = next;
		}
	assert(map->count > 0);
	map->slots[i].value = 0;
	map->count--;
	return 1;
}

void nm_map_done(struct nm_map *map)
{
	free(map->slots);
	*map = (struct nm_map){0};
}

int nm_map_copy(struct nm_map *ret_map, const struct nm_map *map)
{
	size_t bytes = map->slots ? (map->mask + 1) * sizeof *map->slots : 0;
	struct nm_map copy = *map;

	if (bytes) {
		copy.slots = malloc(bytes);
		if (!copy.slots)
			return NM_ENOMEM;
		memcpy(copy.slots, map->slots, bytes);
	}
	*ret_map = copy;
	return 0;
}

int nm_map_next(const struct nm_map *map, size_t *i, uint64_t *ret_key, uint64_t *ret_value)
{
	if (!map->slots)
		return 0;
	for (; *i <= map->mask; ++*i)
		if (map->slots[*i].value) {
			*ret_key = map->slots[*i].key;
			*ret_value = map->slots[*i].value - 1;
			++*i;
			return 1;
		}
	return 0;
}
