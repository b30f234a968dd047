/* SPDX-License-Identifier: MIT
 *
 * pools.c - pieces of memory that pools hand out (space.h).
 *
 * A piece is a heap block of its own, in memory that belonged to something else: a heap block or a variable.
 * That becomes a *chunk*: it leaves the heap's table for one of its own, and answers for the bytes in no
 * piece. So a look-up meets the innermost owner first, and no two blocks of a table overlap. Pieces end with
 * their chunk, or where a later piece covers them, since pools use their memory again. An anonymous mapping
 * needs no chunk: it is an allocator's, as if malloc had asked for it; nor does one that processes share, which
 * answers for the rest.
 */
#include "space.h"

/* A piece that fills a block is that block: the function allocates for each call. */
static int fills_block(const struct nm_block *block, uint64_t address, uint64_t size)
{
	return block->address == address && size >= block->size;
}

static int reaches_beyond(const struct nm_block *block, uint64_t address, uint64_t size)
{
	return size > block->address + block->size - address;
}

/* Makes the variable or mapping around a piece one that pieces may be in. *ret_fits: they may. */
static int open_memory(struct nm_space *space, uint64_t address, uint64_t size, int *ret_fits)
{
	struct nm_mapping *m = nm_space_mapping(space, address);
	struct nm_location location;
	struct nm_block whole;

	*ret_fits = 0;
	if (!m || address + size > m->end || (m->path[0] && !m->module && !m->shared))
		return 0;
	*ret_fits = 1;
	if (!m->module)
		return 0;
	if (nm_space_find(space, address, &location))
		return NM_ENOMEM;
	whole = (struct nm_block){location.low, location.end - location.low, location.object, 0};
	*ret_fits = !reaches_beyond(&whole, address, size);
	return *ret_fits ? nm_blocks_add(&space->chunks, whole.address, whole.size, whole.object) : 0;
}

int nm_space_open_chunk(struct nm_space *space, uint64_t address, uint64_t size, uint64_t pool, int *ret_fits)
{
	struct nm_block around;

	*ret_fits = 1;
	if (nm_blocks_find(&space->chunks, address, &around)) {
		*ret_fits = !reaches_beyond(&around, address, size);
		return 0;
	}
	if (!nm_blocks_find(&space->heap, address, &around) || space->objects.at[around.object].is_piece)
		return open_memory(space, address, size, ret_fits);
	if (fills_block(&around, address, size) || reaches_beyond(&around, address, size)) {
		*ret_fits = 0;
		return 0;
	}
	nm_blocks_remove(&space->heap, around.address, NULL);
	space->objects.at[around.object].pool = pool;
	return nm_blocks_add(&space->chunks, around.address, around.size, around.object);
}

void nm_space_mark_piece(struct nm_space *space, uint64_t address)
{
	struct nm_block piece;

	if (nm_blocks_find(&space->heap, address, &piece))
		space->objects.at[piece.object].is_piece = 1;
}

int nm_space_close_chunk(struct nm_space *space, uint64_t address, struct nm_block *ret_chunk)
{
	if (!nm_blocks_remove(&space->chunks, address, ret_chunk))
		return 0;
	nm_blocks_remove_range(&space->heap, ret_chunk->address, ret_chunk->size);
	return 1;
}

void nm_space_end_pieces(struct nm_space *space, uint64_t address, uint64_t bytes)
{
	nm_blocks_remove_range(&space->chunks, address, bytes);
	nm_blocks_remove_range(&space->heap, address, bytes);
}

int nm_space_adopt_piece(struct nm_space *space, uint64_t address, const struct nm_shared_piece *piece)
{
	const uint64_t key = (uintptr_t)piece->name ^ nm_mix64((uintptr_t)piece->type | 1);
	uint64_t object = nm_map_get(&space->by_name, key, 0);

	if (!object) {
		const struct nm_object fresh = {.kind = NM_OBJECT_HEAP,
						.name = piece->name,
						.type = piece->type,
						.at = piece->at,
						.structure = piece->structure,
						.is_piece = 1};

		object = space->objects.count;
		if (nm_vec_push(&space->objects, fresh) || nm_map_put(&space->by_name, key, object))
			return NM_ENOMEM;
	}
	return nm_space_give(space, address, piece->size, (uint32_t)object);
}
