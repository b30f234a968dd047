/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * chases.c - finds the accesses of a superblock that follow a chain of pointers.
 *
 * A *chase* reloads a register through itself: `rax = [rax + 8]`. Each iteration has to wait for the load of
 * the one before, no matter how many loads the processor can overlap. An access whose address depends on such
 * a register waits too.
 *
 * For each temporary we keep two sets of registers, as they are on entry to the superblock: those that its
 * value is computed from, and those that went into the address of a load on the way. A register is chased if
 * it is ever assigned a value whose second set contains it. A chase over several superblocks, or through
 * memory (-O0), is not found. Superblocks that return are left out: `leave` looks like a chase.
 */
#include "tool.h"

#include "libvex_guest_amd64.h"

enum { REGISTERS = 64 };

struct origin {
	ULong computed, loaded; /* bits of registers */
};

static struct origin *origins; /* by temporary */
static Int room;
static struct origin held[REGISTERS]; /* the registers' current values */
static ULong chased;

/* The bit number of an integer register of the guest, or -1. */
static Int register_at(Int offset)
{
	const Int first = offsetof(VexGuestAMD64State, guest_RAX),
		  last = offsetof(VexGuestAMD64State, guest_R15);

	if (offset == offsetof(VexGuestAMD64State, guest_RSP) || offset < first || offset > last)
		return -1;
	return (offset - first) / 8;
}

static struct origin origin_of(const IRExpr *e)
{
	return e->tag == Iex_RdTmp ? origins[e->Iex.RdTmp.tmp] : (struct origin){0, 0};
}

static struct origin either(struct origin a, struct origin b)
{
	return (struct origin){a.computed | b.computed, a.loaded | b.loaded};
}

static struct origin loaded_from(const IRExpr *address)
{
	const struct origin o = origin_of(address);

	return (struct origin){0, o.computed | o.loaded};
}

static struct origin computed_by(const IRExpr *data)
{
	Int at;

	switch (data->tag) {
	case Iex_RdTmp: return origin_of(data);
	case Iex_Get:
		at = register_at(data->Iex.Get.offset);
		return at < 0 ? (struct origin){0, 0} : held[at];
	case Iex_Unop: return origin_of(data->Iex.Unop.arg);
	case Iex_Binop: return either(origin_of(data->Iex.Binop.arg1), origin_of(data->Iex.Binop.arg2));
	case Iex_ITE: return either(origin_of(data->Iex.ITE.iftrue), origin_of(data->Iex.ITE.iffalse));
	case Iex_Load: return loaded_from(data->Iex.Load.addr);
	default: return (struct origin){0, 0};
	}
}

static void follow(const IRStmt *st)
{
	Int at;

	switch (st->tag) {
	case Ist_WrTmp: origins[st->Ist.WrTmp.tmp] = computed_by(st->Ist.WrTmp.data); break;
	case Ist_LoadG:
		origins[st->Ist.LoadG.details->dst] =
		    either(loaded_from(st->Ist.LoadG.details->addr), origin_of(st->Ist.LoadG.details->alt));
		break;
	case Ist_Put:
		at = register_at(st->Ist.Put.offset);
		if (at < 0)
			break;
		held[at] = origin_of(st->Ist.Put.data);
		chased |= held[at].loaded & 1ull << at;
		break;
	default: break;
	}
}

void nm_chases_begin(const IRSB *in)
{
	Int i;

	chased = 0;
	if (in->jumpkind == Ijk_Ret)
		return;
	if (in->tyenv->types_used > room) {
		room = in->tyenv->types_used * 2;
		origins = VG_(realloc)("nm.chases", origins, (SizeT)room * sizeof *origins);
	}
	VG_(memset)(origins, 0, (SizeT)in->tyenv->types_used * sizeof *origins);
	for (i = 0; i < REGISTERS; i++)
		held[i] = (struct origin){1ull << i, 0};
	for (i = 0; i < in->stmts_used; i++)
		follow(in->stmts[i]);
}

Bool nm_chases(const IRExpr *address)
{
	const struct origin o = chased ? origin_of(address) : (struct origin){0, 0};

	return ((o.computed | o.loaded) & chased) != 0;
}
