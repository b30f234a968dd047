/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * offsets.c - finds addresses of a superblock that differ by a constant.
 *
 * Every temporary of the superblock is resolved, when its statement is seen, to a root and a distance from
 * it. A copy, a sum or a difference with a constant has the root of its operand; any other temporary is its
 * own root. Two addresses with the same root differ by the difference of their distances in every execution,
 * since VEX writes a temporary once. A constant has the root IRTemp_INVALID.
 *
 * Registers need no resolving: before a tool sees the code, VEX merges all reads of an unchanged register
 * into one temporary. Dropped: recognising equal sums of temporaries that are computed twice, as for an array
 * element that is read and then written; it saved about 1 % of the address words.
 */
#include "tool.h"

static struct nm_root_offset *positions; /* by temporary */
static Int room;

void nm_offsets_begin(const IRTypeEnv *types)
{
	Int i;

	if (types->types_used > room) {
		room = types->types_used * 2;
		positions = VG_(realloc)("nm.distance", positions, (SizeT)room * sizeof *positions);
	}
	for (i = 0; i < types->types_used; i++)
		positions[i] = (struct nm_root_offset){(IRTemp)i, 0};
}

struct nm_root_offset nm_offset_of(const IRExpr *atom)
{
	if (atom->tag == Iex_RdTmp)
		return positions[atom->Iex.RdTmp.tmp];
	tl_assert(atom->tag == Iex_Const && atom->Iex.Const.con->tag == Ico_U64);
	return (struct nm_root_offset){IRTemp_INVALID, atom->Iex.Const.con->Ico.U64};
}

void nm_offsets_note(IRTemp temporary, const IRExpr *data)
{
	struct nm_root_offset *to = &positions[temporary], a, b;
	Bool sum, difference;

	if (data->tag == Iex_RdTmp)
		*to = positions[data->Iex.RdTmp.tmp];
	if (data->tag != Iex_Binop)
		return;
	sum = data->Iex.Binop.op == Iop_Add64;
	difference = data->Iex.Binop.op == Iop_Sub64;
	if (!sum && !difference)
		return;
	a = nm_offset_of(data->Iex.Binop.arg1);
	b = nm_offset_of(data->Iex.Binop.arg2);
	if (b.root == IRTemp_INVALID)
		*to =
		    (struct nm_root_offset){a.root, sum ? a.distance + b.distance : a.distance - b.distance};
	else if (sum && a.root == IRTemp_INVALID)
		*to = (struct nm_root_offset){b.root, a.distance + b.distance};
}
