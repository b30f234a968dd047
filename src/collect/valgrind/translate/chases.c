/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * chases.c - finds the accesses of a superblock that follow a chain of pointers.
 *
 * A *chase* reloads a register through itself: `rax = [rax + 8]`. Each iteration has to wait for the load of
 * the one before, no matter how many loads the processor can overlap. An access whose address depends on such
 * a register waits too.
 *
 * For each temporary we keep sets of registers, as they are on entry to the superblock: those that its value is
 * computed from, those that went into the address of a load on the way, those that went into one whose result
 * went into another, and those that some load on the way did without. A register is chased if its second set
 * contains it and its last does not (in `rax = [[rbx] + rax * 8]` an array is looked up, and rax is likely one of
 * many indices), and it goes round: it holds this value where the superblock jumps back, or a branch depends on
 * the value, as the end of a list does. Without that it is a mere `a->b->c`, which begins anew each time. A chase
 * through memory (-O0), or over several superblocks without such a branch, is not found. Where a superblock
 * begins behind a call and jumps back to before it, the call sets anew what callees may overwrite: that does not
 * go round.
 */
#include "tool.h"

#include "libvex_guest_amd64.h"

enum { REGISTERS = 64 };

struct origin {
	ULong computed, loaded, twice, missing; /* bits of registers */
};

static struct origin *origins; /* by temporary */
static Int room;
static struct origin held[REGISTERS]; /* the registers' current values */
static ULong chased;
static Addr begin;     /* of the superblock */
static ULong set_anew; /* registers that a call just before it may have set */

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
	return e->tag == Iex_RdTmp ? origins[e->Iex.RdTmp.tmp] : (struct origin){0};
}

static struct origin either_origin(struct origin a, struct origin b)
{
	return (struct origin){a.computed | b.computed, a.loaded | b.loaded, a.twice | b.twice,
			       a.missing | b.missing};
}

static struct origin loaded_from(const IRExpr *address)
{
	const struct origin o = origin_of(address);

	return (struct origin){0, o.computed | o.loaded, o.loaded | o.twice,
			       ~(o.computed | o.loaded) | o.missing};
}

/* Of arguments: temporaries and constants. */
static struct origin of_all(IRExpr *const *arguments)
{
	struct origin o = {0};

	for (; *arguments; arguments++)
		o = either_origin(o, origin_of(*arguments));
	return o;
}

static struct origin computed_by(const IRExpr *data)
{
	Int at;

	switch (data->tag) {
	case Iex_RdTmp: return origin_of(data);
	case Iex_Get: at = register_at(data->Iex.Get.offset); return at < 0 ? (struct origin){0} : held[at];
	case Iex_Unop: return origin_of(data->Iex.Unop.arg);
	case Iex_Binop:
		return either_origin(origin_of(data->Iex.Binop.arg1), origin_of(data->Iex.Binop.arg2));
	case Iex_ITE: return either_origin(origin_of(data->Iex.ITE.iftrue), origin_of(data->Iex.ITE.iffalse));
	case Iex_CCall: return of_all(data->Iex.CCall.args);
	case Iex_Load: return loaded_from(data->Iex.Load.addr);
	default: return (struct origin){0};
	}
}

static Bool is_reloaded(Int at)
{
	const ULong bit = 1ull << at;

	return (held[at].loaded & bit) && !(held[at].missing & bit);
}

static ULong bit_of(Int offset) { return 1ull << register_at(offset); }

/* The registers that a call may set which ends at pc: 0 if there is none. A call to a constant is E8 and 4 bytes; one
 * that starts on another page is not looked for. */
static ULong set_by_call_before(Addr pc)
{
	enum { CALL = 0xe8, CALL_BYTES = 5 };

	if ((pc & (VKI_PAGE_SIZE - 1)) < CALL_BYTES || *(const UChar *)(pc - CALL_BYTES) != CALL)
		return 0;
	return bit_of(offsetof(VexGuestAMD64State, guest_RAX)) |
	       bit_of(offsetof(VexGuestAMD64State, guest_RCX)) |
	       bit_of(offsetof(VexGuestAMD64State, guest_RDX)) |
	       bit_of(offsetof(VexGuestAMD64State, guest_RSI)) |
	       bit_of(offsetof(VexGuestAMD64State, guest_RDI)) |
	       bit_of(offsetof(VexGuestAMD64State, guest_R8)) |
	       bit_of(offsetof(VexGuestAMD64State, guest_R9)) |
	       bit_of(offsetof(VexGuestAMD64State, guest_R10)) |
	       bit_of(offsetof(VexGuestAMD64State, guest_R11));
}

/* A jump from the instruction at `here`, and what it depends on. */
static void note_jump(struct origin guard, const IRConst *target, IRJumpKind kind, Addr here)
{
	const Bool back = kind == Ijk_Boring && target->tag == Ico_U64 && target->Ico.U64 <= here;
	const ULong kept = back && target->Ico.U64 < begin ? ~set_anew : ~0ull;
	Int at;

	for (at = 0; at < REGISTERS; at++)
		if (is_reloaded(at) &&
		    ((back && kept >> at & 1) || (guard.loaded >> at & 1 && guard.twice == held[at].twice)))
			chased |= 1ull << at;
}

static void follow_statement(const IRStmt *st, Addr *here)
{
	Int at;

	switch (st->tag) {
	case Ist_IMark: *here = st->Ist.IMark.addr; break;
	case Ist_Exit:
		note_jump(origin_of(st->Ist.Exit.guard), st->Ist.Exit.dst, st->Ist.Exit.jk, *here);
		break;
	case Ist_WrTmp: origins[st->Ist.WrTmp.tmp] = computed_by(st->Ist.WrTmp.data); break;
	case Ist_LoadG:
		origins[st->Ist.LoadG.details->dst] = either_origin(loaded_from(st->Ist.LoadG.details->addr),
								    origin_of(st->Ist.LoadG.details->alt));
		break;
	case Ist_Put:
		at = register_at(st->Ist.Put.offset);
		if (at >= 0)
			held[at] = origin_of(st->Ist.Put.data);
		break;
	default: break;
	}
}

void nm_chases_begin(const IRSB *in)
{
	Addr here = 0;
	Int i = 0;

	while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
		i++;
	begin = i < in->stmts_used ? in->stmts[i]->Ist.IMark.addr : 0;
	set_anew = begin ? set_by_call_before(begin) : 0;
	chased = 0;
	if (in->tyenv->types_used > room) {
		room = in->tyenv->types_used * 2;
		origins = VG_(realloc)("nm.chases", origins, (SizeT)room * sizeof *origins);
	}
	VG_(memset)(origins, 0, (SizeT)in->tyenv->types_used * sizeof *origins);
	for (i = 0; i < REGISTERS; i++)
		held[i] = (struct origin){.computed = 1ull << i};
	for (i = 0; i < in->stmts_used; i++)
		follow_statement(in->stmts[i], &here);
	if (in->next->tag == Iex_Const)
		note_jump((struct origin){0}, in->next->Iex.Const.con, in->jumpkind, here);
}

Bool nm_chases(const IRExpr *address)
{
	const struct origin o = chased ? origin_of(address) : (struct origin){0};

	return ((o.computed | o.loaded) & chased) != 0;
}
