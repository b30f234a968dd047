/* SPDX-License-Identifier: MIT */
#include "hash_index.h"

#include <assert.h>
#include <stdlib.h>

#include "errors.h"

enum { FIRST_ROOM = 64 };

static void insert_slot(struct nm_hash_index *index, struct nm_hash_slot slot)
{
	size_t at = slot.tag & index->mask;

	assert(index->count <= index->mask); /* or the search might not end */
	while (index->slots[at].number)
		at = (at + 1) & index->mask;
	index->slots[at] = slot;
	index->count++;
}

static int grow_index(struct nm_hash_index *index)
{
	const size_t old = index->slots ? index->mask + 1 : 0, room = old ? 2 * old : FIRST_ROOM;
	struct nm_hash_index bigger = {calloc(room, sizeof *bigger.slots), 0, room - 1};

	if (!bigger.slots)
		return NM_ENOMEM;
	for (size_t i = 0; i < old; i++)
		if (index->slots[i].number)
			insert_slot(&bigger, index->slots[i]);
	free(index->slots);
	*index = bigger;
	return 0;
}

int nm_hash_index_add(struct nm_hash_index *index, uint64_t hash, uint32_t number)
{
	assert(number < UINT32_MAX);
	if ((!index->slots || 2 * index->count > index->mask) && grow_index(index))
		return NM_ENOMEM;
	insert_slot(index, (struct nm_hash_slot){(uint32_t)(hash >> 32), number + 1});
	return 0;
}

void nm_hash_index_done(struct nm_hash_index *index)
{
	free(index->slots);
	*index = (struct nm_hash_index){0};
}
