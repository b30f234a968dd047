/* SPDX-License-Identifier: MIT
 *
 * hash_index.h - finds elements of an array by any key: a hash table of their numbers.
 *
 *     for (size_t at = 0; nm_hash_index_next(&index, hash, &at, &i);)
 *             if (is_same(&things[i], key))
 *                     return &things[i];
 *     nm_hash_index_add(&index, hash, count)...
 *
 * The keys stay in the array. Open addressing, linear probing, at most half full. A slot keeps the upper half of the
 * hash: it says where the slot belongs, so that a table grows without its keys, and tells most other keys apart.
 */
#ifndef NM_HASH_INDEX_H
#define NM_HASH_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct nm_hash_slot {
	uint32_t tag, number; /* number + 1 is stored: 0 marks a free slot */
};

/* {0} is an empty index. */
struct nm_hash_index {
	struct nm_hash_slot *slots;
	size_t count, mask; /* mask + 1 slots, a power of two; 0 slots if slots is NULL */
};

/* 1 and the next number that may have a hash, of which all bits are well mixed (nm_mix64); 0: there is none. *at is 0
 * at first. */
static inline int nm_hash_index_next(const struct nm_hash_index *index, uint64_t hash, size_t *at,
				     uint32_t *ret_number)
{
	const uint32_t tag = (uint32_t)(hash >> 32);
	const struct nm_hash_slot *slot;

	if (!index->slots)
		return 0;
	while ((slot = &index->slots[(tag + *at) & index->mask])->number) {
		++*at;
		if (slot->tag == tag) {
			*ret_number = slot->number - 1;
			return 1;
		}
	}
	return 0;
}

/* Adds a number below UINT32_MAX that is not there. 0 or NM_ENOMEM. */
int nm_hash_index_add(struct nm_hash_index *index, uint64_t hash, uint32_t number);
void nm_hash_index_done(struct nm_hash_index *index);

#endif
