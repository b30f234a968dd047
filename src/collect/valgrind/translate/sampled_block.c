/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sampled_block.c - makes a superblock count its references and check whether one touches a watched line.
 *
 * Nothing is sent. Each exit takes the references before it from the countdown, and makes a call if the
 * countdown has run out or an address has met a mark in the filter.
 *
 * Accesses whose addresses differ by a constant (offsets.c) and that lie within a line's length of each other
 * share a *window*: one word for the address and one lookup in the filter, which covers the line of the
 * window's lowest address and the next one. Windows are made at exits, when the accesses before them are
 * known, and are valid for the rest of the superblock.
 */
#include "access.h"
#include "emit.h"
#include "sampling.h"

#define MAX_ACCESSES 768u
/* More than any one instruction makes. */
#define SLACK 64u
#define NO_WINDOW 255u

struct window {
	IRTemp root;
	ULong low; /* as a distance from the root */
};

/* The block being made: a superblock, or as much of it as the tables hold. */
static struct {
	const IRSB *in;
	Bool open;
	UInt number;
	UInt accesses, exits, windows;
	UInt placed;    /* accesses that have a window, */
	UInt committed; /* and that an exit has counted */
	UInt counted;   /* accesses without a guard up to here, that no exit has counted */
	IRExpr *hits;   /* negative if an address met a mark; NULL: none was looked for */
	struct nm_sampled_access access[MAX_ACCESSES];
	struct nm_root_offset at[MAX_ACCESSES];
	IRExpr *address[MAX_ACCESSES];
	struct nm_sampled_exit exit[MAX_SAMPLED_EXITS];
	struct window window[MAX_WINDOWS];
} block;

static IRExpr *emit_get(Int offset) { return nm_emit_value(Ity_I64, IRExpr_Get(offset, Ity_I64)); }

static IRExpr *emit_difference(IRExpr *a, IRExpr *b)
{
	return nm_emit_value(Ity_I64, IRExpr_Binop(Iop_Sub64, a, b));
}

/* ---- Windows ---- */

/* One look at the filter. */
static void emit_look(IRExpr *address)
{
	IRExpr *line = nm_emit_value(
	    Ity_I64, IRExpr_Binop(Iop_Shr64, address, IRExpr_Const(IRConst_U8((UChar)nm_sampling_shift()))));
	IRExpr *entry =
	    nm_emit_value(Ity_I64, IRExpr_Binop(Iop_And64, line, nm_constant(nm_sampling_mask())));
	IRExpr *word = nm_emit_value(
	    Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, nm_emit_sum(entry, nm_constant(nm_sampling_filter()))));

	block.hits =
	    block.hits == NULL ? word : nm_emit_value(Ity_I64, IRExpr_Binop(Iop_Or64, block.hits, word));
}

static Bool fits_window(const struct window *window, UInt access)
{
	const Long from = (Long)(block.at[access].distance - window->low);

	return block.at[access].root == window->root && from >= 0 &&
	       from + block.access[access].bytes <= nm_sampling_line;
}

/* The access with the lowest address of a window that holds this access and all later ones that lie near. */
static UInt lowest_near(UInt first)
{
	ULong low = block.at[first].distance, end = low + block.access[first].bytes;
	UInt lowest = first, i;

	for (i = first + 1; i < block.accesses; i++) {
		const ULong from = block.at[i].distance, to = from + block.access[i].bytes;
		const ULong new_low = (Long)(from - low) < 0 ? from : low,
			    new_end = (Long)(to - end) > 0 ? to : end;

		if (block.access[i].window != NO_WINDOW || block.at[i].root != block.at[first].root ||
		    new_end - new_low > (ULong)nm_sampling_line)
			continue;
		if (new_low != low)
			lowest = i;
		low = new_low;
		end = new_end;
	}
	return lowest;
}

static void open_window(UInt first)
{
	const UInt lowest = lowest_near(first), bytes = block.access[first].bytes;
	UInt i;

	tl_assert(block.windows < MAX_WINDOWS);
	block.window[block.windows++] = (struct window){block.at[lowest].root, block.at[lowest].distance};
	nm_emit(IRStmt_Put(NM_SAMPLED_OFFSET(window) + 8 * ((Int)block.windows - 1), block.address[lowest]));
	emit_look(block.address[lowest]);
	for (i = (UInt)nm_sampling_line; i < bytes; i += (UInt)nm_sampling_line)
		emit_look(nm_emit_sum(block.address[lowest], nm_constant(i)));
}

/* Gives each access its window. */
static void place_accesses(void)
{
	UInt i, k;

	for (i = block.placed; i < block.accesses; i++) {
		struct nm_sampled_access *access = &block.access[i];

		for (k = 0; k < block.windows && !fits_window(&block.window[k], i); k++)
			;
		if (k == block.windows)
			open_window(i);
		access->window = (UChar)k;
		access->distance = (Int)(block.at[i].distance - block.window[k].low);
	}
	block.placed = block.accesses;
}

/* ---- Blocks ---- */

static void begin_block(void)
{
	block.open = True;
	block.number = nm_sampled_block_new();
	block.accesses = block.exits = block.windows = block.placed = block.committed = block.counted = 0;
	block.hits = NULL;
}

static void add_effect(IRDirty *call, IREffect effect, Int offset, SizeT bytes)
{
	call->fxState[call->nFxState].fx = effect;
	call->fxState[call->nFxState].offset = (UShort)offset;
	call->fxState[call->nFxState].size = (UShort)bytes;
	call->nFxState++;
}

/* Calls nm_sampling_due if the word is negative. */
static void emit_due(IRExpr *word, ULong position)
{
	IRDirty *due = unsafeIRDirty_0_N(1, "nm_sampling_due", VG_(fnptr_to_fnentry)(&nm_sampling_due),
					 mkIRExprVec_1(nm_constant(position)));

	due->guard = nm_emit_value(Ity_I1, IRExpr_Binop(Iop_CmpLT64S, word, nm_constant(0)));
	VG_(memset)(due->fxState, 0, sizeof due->fxState);
	add_effect(due, Ifx_Modify, NM_SAMPLED_OFFSET(countdown), offsetof(struct nm_sampled_thread, window));
	add_effect(due, Ifx_Read, NM_SAMPLED_OFFSET(window), block.windows * sizeof(Addr));
	add_effect(due, Ifx_Read, offsetof(VexGuestAMD64State, guest_RSP), sizeof(Addr));
	nm_emit(IRStmt_Dirty(due));
}

/* Counts the references before an exit. */
static void count_references(Bool returned)
{
	const Int countdown = NM_SAMPLED_OFFSET(countdown);
	IRExpr *left;

	if (!block.open || block.committed == block.accesses)
		return;
	place_accesses();
	left = emit_difference(emit_get(countdown), nm_constant(block.counted));
	nm_emit(IRStmt_Put(countdown, left));
	emit_due(nm_emit_value(Ity_I64, IRExpr_Binop(Iop_Or64, left, block.hits)),
		 nm_sampled_position(block.number, block.exits));
	block.exit[block.exits++] = (struct nm_sampled_exit){(UShort)block.accesses, returned};
	block.committed = block.accesses;
	block.counted = 0;
}

static void end_block(Bool returned)
{
	count_references(returned);
	if (block.open)
		nm_sampled_block_define(block.number, block.accesses, block.access, block.exits, block.exit);
	block.open = False;
}

/* ---- Accesses ---- */

static void add_access(Addr pc, IRExpr *address, UInt bytes, UInt flags)
{
	struct nm_sampled_access *access = &block.access[block.accesses];

	tl_assert(block.accesses < MAX_ACCESSES);
	*access = (struct nm_sampled_access){
	    .pc = pc, .bytes = (UShort)bytes, .window = NO_WINDOW, .flags = (UChar)flags};
	block.at[block.accesses] = nm_offset_of(address);
	block.address[block.accesses++] = address;
}

/* A guarded access has a root of its own: its address is made here. */
static void add_guarded(Addr pc, const struct nm_traced_access *access)
{
	const Int countdown = NM_SAMPLED_OFFSET(countdown);
	IRExpr *address = nm_emit_value(Ity_I64, IRExpr_ITE(access->guard, access->address, nm_constant(0)));
	IRExpr *one = nm_emit_value(Ity_I64, IRExpr_Unop(Iop_1Uto64, access->guard));

	nm_emit(IRStmt_Put(countdown, emit_difference(emit_get(countdown), one)));
	block.address[block.accesses] = address;
	block.at[block.accesses] = (struct nm_root_offset){address->Iex.RdTmp.tmp, 0};
	block.access[block.accesses++] =
	    (struct nm_sampled_access){.pc = pc,
				       .bytes = (UShort)access->bytes,
				       .window = NO_WINDOW,
				       .flags = (UChar)(access->flags | NM_WIRE_GUARDED)};
}

/* Whether the last access is this one, of the instruction at pc. */
static Bool last_access_is(Addr pc, UInt bytes, UInt direction)
{
	const struct nm_sampled_access *last = &block.access[block.accesses - 1];

	return block.open && block.accesses > 0 && last->pc == pc && last->bytes == bytes &&
	       (last->flags & (NM_WIRE_READ | NM_WIRE_WRITE)) == direction;
}

static void add_accesses(Addr pc, const IRStmt *st)
{
	struct nm_traced_access accesses[MAX_STATEMENT_ACCESSES];
	UInt n = nm_list_accesses(nm_out->tyenv, st, accesses), i;

	for (i = 0; i < n; i++) {
		const struct nm_traced_access *access = &accesses[i];

		if (access->may_be_done && last_access_is(pc, access->bytes, NM_WIRE_READ) &&
		    eqIRAtom(block.address[block.accesses - 1], access->address))
			continue;
		if (access->guard == NULL) {
			add_access(pc, access->address, access->bytes, access->flags);
			block.counted++;
		} else {
			add_guarded(pc, access);
		}
	}
}

/* ---- Calls ---- */

/* Pushes a call if the instruction at pc has pushed its return address. */
static void emit_call(Addr pc)
{
	IRExpr *top;

	if (!last_access_is(pc, 8, NM_WIRE_WRITE))
		return;
	top = emit_get(NM_SAMPLED_OFFSET(calls));
	nm_emit_store(top, block.address[block.accesses - 1]);
	nm_emit_store(nm_emit_sum(top, nm_constant(8)), nm_constant(pc));
	nm_emit(IRStmt_Put(NM_SAMPLED_OFFSET(calls), nm_emit_sum(top, nm_constant(NM_CALL_BYTES))));
}

/* Drops a call if the instruction at pc has popped its return address. Returns whether it has. */
static Bool emit_return(Addr pc)
{
	if (!last_access_is(pc, 8, NM_WIRE_READ))
		return False;
	nm_emit_return(block.address[block.accesses - 1]);
	nm_emit(IRStmt_Put(NM_SAMPLED_OFFSET(calls),
			   emit_difference(emit_get(NM_SAMPLED_OFFSET(calls)), nm_constant(NM_CALL_BYTES))));
	return True;
}

/* ---- Superblocks ---- */

static Bool touches_memory(void)
{
	Int i;

	for (i = 0; i < block.in->stmts_used; i++)
		if (nm_has_access(block.in->stmts[i]))
			return True;
	return False;
}

static void start_code(Addr pc)
{
	UInt function = nm_allocator_at(pc), pool = function == 0 ? nm_pools_at(pc) : 0;

	block.open = False;
	if (function != 0 || pool != 0 || touches_memory())
		begin_block();
	if (function != 0)
		nm_emit_allocator_entry(function, pc);
	if (pool != 0)
		nm_emit_pool_entry(pool, pc);
}

static void begin_instruction(Addr last, UInt length, Addr pc)
{
	if (last != 0 && nm_is_direct_call(last, length, pc))
		emit_call(last);
	if (block.open && (block.accesses > MAX_ACCESSES - SLACK || block.exits > MAX_SAMPLED_EXITS - SLACK ||
			   block.windows + (block.accesses - block.placed) > MAX_WINDOWS - SLACK)) {
		end_block(False);
		begin_block();
	}
}

static void end_code(Addr pc)
{
	Bool returned = False;

	if (block.in->jumpkind == Ijk_Call)
		emit_call(pc);
	else if (block.in->jumpkind == Ijk_Ret)
		returned = emit_return(pc);
	end_block(returned);
}

IRSB *nm_instrument_sampled(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
			    const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
			    IRType host_word)
{
	Addr pc = 0;
	UInt length = 0;
	Int i;

	(void)closure, (void)extents, (void)host;
	tl_assert(guest_word == Ity_I64 && host_word == Ity_I64);
	tl_assert(layout->total_sizeB == sizeof(VexGuestAMD64State));
	block.in = in;
	i = nm_emit_start(in);
	if (i == in->stmts_used)
		return nm_out;
	nm_offsets_begin(in->tyenv);
	start_code(in->stmts[i]->Ist.IMark.addr);
	for (; i < in->stmts_used; i++) {
		IRStmt *st = in->stmts[i];

		if (st->tag == Ist_NoOp)
			continue;
		if (st->tag == Ist_IMark) {
			begin_instruction(pc, length, st->Ist.IMark.addr);
			pc = st->Ist.IMark.addr;
			length = st->Ist.IMark.len;
		} else if (st->tag == Ist_Exit) {
			if (st->Ist.Exit.jk != Ijk_SigSEGV) /* a test of the address of an aligned access */
				count_references(False);
		} else {
			add_accesses(pc, st);
		}
		if (st->tag == Ist_WrTmp)
			nm_offsets_note(st->Ist.WrTmp.tmp, st->Ist.WrTmp.data);
		nm_emit(st);
	}
	end_code(pc);
	return nm_out;
}
