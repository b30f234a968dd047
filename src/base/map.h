/* SPDX-License-Identifier: MIT
 *
 * map.h - hash map from a 64-bit key to a 64-bit value: open addressing, linear probing, at most half
 * full, deletion by shifting back (no tombstones). Every key is allowed, 0 too; elements
 * that are found by the hash of a longer key are a hash index (hash_index.h).
 */
#ifndef NM_MAP_H
#define NM_MAP_H

#include <stddef.h>
#include <stdint.h>

struct nm_map_slot {
	uint64_t key, value;
};

struct nm_map {
	struct nm_map_slot *slots; /* value + 1 is stored: 0 marks a free slot */
	size_t count, mask;        /* mask + 1 slots, a power of two; 0 slots if slots is NULL */
};

/* A bijection on 64 bits with good avalanche (the finaliser of splitmix64). */
static inline uint64_t nm_mix64(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* The value of key, or `absent`.  {0} is an empty map. Values must be below UINT64_MAX. */
uint64_t nm_map_get(const struct nm_map *map, uint64_t key, uint64_t absent);

/* Sets or replaces. 0 or NM_ENOMEM. */
int nm_map_put(struct nm_map *map, uint64_t key, uint64_t value);

/* 1 if it was there. */
int nm_map_remove(struct nm_map *map, uint64_t key);
void nm_map_done(struct nm_map *map);

/* Makes *ret_map, which is overwritten, an independent copy. 0 or NM_ENOMEM. */
int nm_map_copy(struct nm_map *ret_map, const struct nm_map *map);

/* Walks all entries: for (i = 0; nm_map_next(map, &i, &key, &value); ) in no useful order. */
int nm_map_next(const struct nm_map *map, size_t *i, uint64_t *ret_key, uint64_t *ret_value);

#endif
