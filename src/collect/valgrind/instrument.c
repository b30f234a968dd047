/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * instrument.c - turns a superblock into one that also writes its wire blocks (wire_block.c).
 *
 * An execution costs one limit check, one store per block, one per group of accesses and one per exit.  A superblock
 * makes more than one wire block
 * - at a call that VEX has followed, so that the reader sees the frame;
 * - after a side exit when the number of accesses alone would not tell whether it was taken: the reader has no other
 *   sign, and instruction counts must be exact;
 * - when it is too long for the margin of one limit check.
 *
 * A block that a fault interrupts is lost, since the cursor has not been stored.
 */
#include "libvex_guest_amd64.h"
#include "wire_block.h"

Bool nm_all_blocks;

/* ---- Statements ---- */

/* Whether the instruction is a direct call that leads to `next`.  The opcode may stand behind prefixes, so
 * the byte alone proves nothing (a displacement looks the same): the target must be right too, and not
 * be the next instruction, where zeros would pass. */
static Bool is_direct_call(Addr pc, UInt length, Addr next)
{
	const UChar *end = (const UChar *)pc + length;
	Int offset;

	if (length < 5 || end[-5] != 0xe8)
		return False;
	VG_(memcpy)(&offset, end - 4, sizeof offset);
	return offset != 0 && pc + length + (Long)offset == next;
}

static Bool has_access(const IRStmt *st)
{
	switch (st->tag) {
	case Ist_WrTmp: return st->Ist.WrTmp.data->tag == Iex_Load;
	case Ist_Dirty: return st->Ist.Dirty.details->mFx != Ifx_None;
	case Ist_Store:
	case Ist_StoreG:
	case Ist_LoadG:
	case Ist_CAS:
	case Ist_LLSC: return True;
	default: return False;
	}
}

/* Whether, after the side exit at `statement`, instructions may run before the next access. */
static Bool exit_is_ambiguous(Int statement)
{
	Bool instruction = False;
	Int i;

	for (i = statement + 1; i < nm_translation.in->stmts_used; i++) {
		const IRStmt *st = nm_translation.in->stmts[i];

		if (st->tag == Ist_Exit)
			return instruction;
		if (has_access(st))
			return False;
		instruction |= st->tag == Ist_IMark;
	}
	return instruction;
}

/* Whether there is nothing to be sent of what comes behind the statement.  Of how a signal's handler returns, by a
 * system call, readers want to know. */
static Bool rest_is_counted(Int statement)
{
	Int i;

	if (nm_all_blocks || nm_translation.in->jumpkind != Ijk_Boring)
		return False;
	for (i = statement + 1; i < nm_translation.in->stmts_used; i++)
		if (has_access(nm_translation.in->stmts[i]))
			return False;
	return True;
}

/* Decides whether a new wire block begins with the instruction at pc. */
static void add_instruction(Addr pc, UInt length, Bool ambiguous)
{
	struct block *block = &nm_translation.block;

	if (nm_translation.open) {
		ULong last = block->instruction[block->instructions - 1];
		Bool call = is_direct_call(last & 0xffffffffffffull, (UInt)(last >> 48), pc);

		if (call) {
			if (nm_block_end(NM_WIRE_CALL) == NM_WIRE_CALL)
				nm_block_begin(pc, False);
			else
				nm_block_begin(pc, True);
		} else if (ambiguous || block->instructions == MAX_INSTRUCTIONS ||
			   block->accesses > MAX_ACCESSES - SLACK || block->exits > MAX_EXITS - SLACK) {
			nm_block_end(NM_WIRE_JUMP);
			nm_block_begin(pc, True);
		}
	} else {
		nm_block_begin(pc, False);
	}
	/* What VEX cannot decode has no length.  It is one instruction, as for Cachegrind, and then a SIGILL. */
	if (length == 0)
		length = VG_MIN_INSTR_SZB;
	block->instruction[block->instructions++] = (pc & 0xffffffffffffull) | (ULong)length << 48;
}

static UInt size_of(IRType type) { return (UInt)sizeofIRType(type); }

/* VEX makes a locked addition of a load and a compare-and-swap with what was loaded: the program reads
 * once.  (Cachegrind counts two reads there.) */
static Bool is_read_already(const IRExpr *address, UInt bytes)
{
	return nm_block_last_access_is(
		   nm_access_word(bytes, nm_translation.block.instructions - 1, NM_WIRE_READ)) &&
	       nm_translation.last_load != NULL && eqIRAtom(nm_translation.last_load, address);
}

static void add_compare_and_swap(const IRCAS *cas)
{
	UInt bytes =
	    size_of(typeOfIRExpr(nm_translation.out->tyenv, cas->dataLo)) * (cas->dataHi == NULL ? 1 : 2);

	if (is_read_already(cas->addr, bytes))
		nm_translation.block.access[nm_translation.block.accesses - 1] |= (ULong)NM_WIRE_ATOMIC << 32;
	else
		nm_block_add_access(cas->addr, bytes, NM_WIRE_READ | NM_WIRE_ATOMIC);
	nm_block_add_access(cas->addr, bytes, NM_WIRE_WRITE | NM_WIRE_ATOMIC);
}

static void add_dirty(const IRDirty *dirty)
{
	Bool always = dirty->guard->tag == Iex_Const;
	UInt flags[2] = {0, 0}, i;

	if (dirty->mFx == Ifx_Read || dirty->mFx == Ifx_Modify)
		flags[0] = NM_WIRE_READ;
	if (dirty->mFx == Ifx_Write || dirty->mFx == Ifx_Modify)
		flags[1] = NM_WIRE_WRITE;
	for (i = 0; i < 2; i++) {
		if (flags[i] == 0)
			continue;
		if (always)
			nm_block_add_access(dirty->mAddr, (UInt)dirty->mSize, flags[i]);
		else
			nm_block_add_guarded(dirty->mAddr, dirty->guard, (UInt)dirty->mSize, flags[i]);
	}
}

static void add_load_linked(const IRStmt *st)
{
	IRExpr *address = st->Ist.LLSC.addr;

	if (st->Ist.LLSC.storedata == NULL)
		nm_block_add_access(address,
				    size_of(typeOfIRTemp(nm_translation.out->tyenv, st->Ist.LLSC.result)),
				    NM_WIRE_READ | NM_WIRE_ATOMIC);
	else
		nm_block_add_access(address,
				    size_of(typeOfIRExpr(nm_translation.out->tyenv, st->Ist.LLSC.storedata)),
				    NM_WIRE_WRITE | NM_WIRE_ATOMIC);
}

/* The exit is listed when an access follows; without one it looks the same as the end. */
static void add_exit(Bool counted)
{
	nm_translation.block.left = nm_translation.block.instructions;
	if (!counted)
		nm_block_send();
	else if (!nm_translation.block.sent)
		nm_block_count();
	nm_block_commit();
}

/* Adds what the statement touches; the statement itself follows. */
static void add_accesses(const IRStmt *st)
{
	switch (st->tag) {
	case Ist_WrTmp: {
		const IRExpr *data = st->Ist.WrTmp.data;

		if (data->tag == Iex_Load) {
			nm_translation.last_load = data->Iex.Load.addr;
			nm_block_add_access(nm_translation.last_load, size_of(data->Iex.Load.ty),
					    NM_WIRE_READ);
		}
		break;
	}
	case Ist_Store:
		nm_block_add_access(st->Ist.Store.addr,
				    size_of(typeOfIRExpr(nm_translation.out->tyenv, st->Ist.Store.data)),
				    NM_WIRE_WRITE);
		break;
	case Ist_StoreG: {
		const IRStoreG *store = st->Ist.StoreG.details;

		nm_block_add_guarded(store->addr, store->guard,
				     size_of(typeOfIRExpr(nm_translation.out->tyenv, store->data)),
				     NM_WIRE_WRITE);
		break;
	}
	case Ist_LoadG: {
		const IRLoadG *loadg = st->Ist.LoadG.details;
		IRType result, loaded;

		typeOfIRLoadGOp(loadg->cvt, &result, &loaded);
		nm_block_add_guarded(loadg->addr, loadg->guard, size_of(loaded), NM_WIRE_READ);
		break;
	}
	case Ist_CAS: add_compare_and_swap(st->Ist.CAS.details); break;
	case Ist_LLSC: add_load_linked(st); break;
	case Ist_Dirty: add_dirty(st->Ist.Dirty.details); break;
	default: break;
	}
}

static void call_allocator_entry(UInt function, Addr pc)
{
	nm_emit(IRStmt_Dirty(unsafeIRDirty_0_N(2, "nm_allocator_entry",
					       VG_(fnptr_to_fnentry)(&nm_allocator_entry),
					       mkIRExprVec_2(nm_constant(function), nm_constant(pc)))));
}

/* At a return: `slot` holds the return address. */
static void call_allocator_return(IRExpr *slot)
{
	IRDirty *dirty = unsafeIRDirty_0_N(1, "nm_allocator_return",
					   VG_(fnptr_to_fnentry)(&nm_allocator_return), mkIRExprVec_1(slot));
	IRExpr *pending = nm_emit_load(nm_allocator_pending_address());

	dirty->guard = nm_emit_value(Ity_I1, IRExpr_Binop(Iop_CmpLE64U, pending, slot));
	nm_emit(IRStmt_Dirty(dirty));
}

static void start_code(Addr pc)
{
	UInt function = nm_allocator_at(pc);

	if (function != 0)
		call_allocator_entry(function, pc);
	if (!rest_is_counted(-1))
		nm_emit_limit_check();
}

/* Adds a side exit.  Returns whether a new wire block begins with the next instruction. */
static Bool leave(Int statement)
{
	Bool ambiguous = exit_is_ambiguous(statement);

	add_exit(ambiguous ? !nm_all_blocks : rest_is_counted(statement));
	return ambiguous;
}

IRSB *nm_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		    const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		    IRType host_word)
{
	Bool ambiguous = False;
	Int i;

	(void)closure, (void)layout, (void)extents, (void)host;
	tl_assert(guest_word == Ity_I64 && host_word == Ity_I64);
	nm_translation.out = deepCopyIRSBExceptStmts(in);
	nm_translation.in = in;
	nm_translation.open = False;
	nm_translation.last_load = NULL;
	nm_translation.group.accesses = 0;
	nm_translation.words = nm_translation.committed = nm_translation.ran = 0;
	for (i = 0; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		nm_emit(in->stmts[i]);
	if (i == in->stmts_used)
		return nm_translation.out;

	nm_offsets_begin(in->tyenv);
	start_code(in->stmts[i]->Ist.IMark.addr);
	for (; i < in->stmts_used; i++) {
		IRStmt *st = in->stmts[i];

		if (st->tag == Ist_NoOp)
			continue;
		if (st->tag == Ist_IMark) {
			if (nm_translation.words > NM_MARGIN_WORDS - 2 * SLACK) {
				nm_block_commit();
				nm_emit_limit_check();
			}
			add_instruction(st->Ist.IMark.addr, st->Ist.IMark.len, ambiguous);
			ambiguous = False;
		} else if (st->tag == Ist_Exit) {
			ambiguous = leave(i);
		} else {
			add_accesses(st);
		}
		if (st->tag == Ist_WrTmp)
			nm_offsets_note(st->Ist.WrTmp.tmp, st->Ist.WrTmp.data);
		nm_emit(st);
	}
	if (!rest_is_counted(i))
		nm_block_send();
	else if (!nm_translation.block.sent)
		nm_block_count();
	nm_block_commit();
	if (in->jumpkind == Ijk_Ret) {
		if (nm_block_end(NM_WIRE_RETURN) == NM_WIRE_RETURN)
			call_allocator_return(nm_translation.last_load);
	} else {
		nm_block_end(in->jumpkind == Ijk_Call ? NM_WIRE_CALL : NM_WIRE_JUMP);
	}
	return nm_translation.out;
}
