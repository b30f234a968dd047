/* SPDX-License-Identifier: MIT
 *
 * shared_pieces.c - pieces of shared memory that the functions of --alloc-fn and --pool-fn hand out.
 *
 * The process that gets a piece names its object, once and for all: others may have other programs. All that have the
 * memory then, or map it later, have the piece as a heap block at their own addresses.
 */
#include <assert.h>
#include <stdlib.h>

#include "call_names.h"
#include "engine_priv.h"
#include "one_machine_priv.h"

static int name_object(struct nm_engine *e, uint32_t object)
{
	struct nm_object *o = &e->space.objects.at[object];
	struct nm_call_name name;

	assert(object < e->space.objects.count);
	if (o->name)
		return 0;
	if (nm_namer_object(&e->namer, o, &name))
		return NM_ENOMEM;
	o->type = nm_namer_allocated_text(&e->namer, o);
	o->structure = nm_namer_allocated_type(&e->namer, o, o->largest);
	o->name = name.name;
	o->at = name.at;
	return 0;
}

static int adopt(struct nm_engine *e, uint64_t address, const struct nm_shared_piece *piece)
{
	const struct nm_mapping *m = nm_space_mapping(&e->space, address);

	e->has_pieces = 1;
	if (m && !m->allocator)
		nm_resolver_forget_mappings(&e->replay.resolver);
	if (nm_space_adopt_piece(&e->space, address, piece))
		return NM_ENOMEM;
	nm_resolver_forget_released_blocks(&e->replay.resolver);
	return 0;
}

/* Gives a piece to a member wherever it has the memory in [low, end), but at one address, where it has it. */
static int give(struct nm_machine_member *member, const struct machine_piece *piece, uint64_t low,
		uint64_t end, uint64_t but)
{
	for (size_t i = 0; i < member->pages.parts.count; i++) {
		const struct nm_shared_part *part = &member->pages.parts.at[i];
		const uint64_t address = piece->address - part->distance;

		if (address < part->address || address >= part->end || address < low || address >= end ||
		    address == but)
			continue;
		if (adopt(member->program, address, &piece->is))
			return NM_ENOMEM;
	}
	return 0;
}

static int keep_piece(struct nm_one_machine *m, struct machine_piece piece)
{
	const uint64_t known = nm_map_get(&m->piece_at, piece.address, 0);

	if (known) {
		m->pieces.at[known - 1] = piece;
		return 0;
	}
	return nm_vec_push(&m->pieces, piece) || nm_map_put(&m->piece_at, piece.address, m->pieces.count)
		   ? NM_ENOMEM
		   : 0;
}

int nm_member_share_piece(struct nm_machine_member *member, uint64_t address)
{
	struct nm_one_machine *m = member->machine;
	struct machine_piece piece = {.number = ++m->pieces_handed_out};
	const struct nm_object *o;
	struct nm_block block;
	uint64_t distance;
	int status = 0;

	if (!nm_blocks_find(&member->program->space.heap, address, &block))
		return 0;
	if (name_object(member->program, block.object) ||
	    nm_machine_distance(&member->pages, address, 0, &distance))
		return NM_ENOMEM;
	o = &member->program->space.objects.at[block.object];
	piece.address = address + distance;
	piece.is = (struct nm_shared_piece){block.size, o->name, o->type, o->at, o->structure};
	for (size_t i = 0; i < m->members.count && !status; i++)
		if (m->members.at[i]->program)
			status = give(m->members.at[i], &piece, 0, UINT64_MAX,
				      m->members.at[i] == member ? address : 0);
	return status ? status : keep_piece(m, piece);
}

static int by_number(const void *a, const void *b)
{
	const struct machine_piece *const *x = a, *const *y = b;

	return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

int nm_member_adopt_pieces(struct nm_machine_member *member, uint64_t address, uint64_t bytes)
{
	const struct nm_one_machine *m = member->machine;
	const struct machine_piece **pieces = malloc((m->pieces.count + 1) * sizeof *pieces);
	int status = pieces ? 0 : NM_ENOMEM;

	for (size_t i = 0; i < m->pieces.count && !status; i++)
		pieces[i] = &m->pieces.at[i];
	if (!status)
		qsort(pieces, m->pieces.count, sizeof *pieces, by_number);
	for (size_t i = 0; i < m->pieces.count && !status; i++)
		status = give(member, pieces[i], address, address + bytes, 0);
	free(pieces);
	return status;
}
