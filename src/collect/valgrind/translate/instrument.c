/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * instrument.c - makes a superblock write its wire blocks as it runs (wire_block.c).
 *
 * An execution costs one limit check, one store per block, one per group of accesses and one per exit. A
 * superblock is split into several wire blocks
 * - at a call that VEX has followed, so that the reader sees the frame;
 * - after a side exit when the number of accesses alone would not tell whether it was taken: the reader has
 *   no other sign, and instruction counts must be exact;
 * - when it is too long for the margin of one limit check.
 *
 * A block that a fault interrupts is lost, since the cursor has not been stored.
 */
#include "access.h"
#include "libvex_guest_amd64.h"
#include "prefetch.h"
#include "wire_block.h"

Bool nm_all_blocks;

/* ---- Statements ---- */

/* Whether a wire block has an access for the statement. */
static Bool is_sent(const IRStmt *st)
{
	return nm_has_access(st) || (st->tag == Ist_IMark && nm_is_prefetch(st->Ist.IMark.addr));
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
		if (is_sent(st))
			return False;
		instruction |= st->tag == Ist_IMark;
	}
	return instruction;
}

/* Whether the block may end with a jump to another function: the analysis must see from where. */
static Bool may_tail_call(const IRSB *in)
{
	const HChar *ignored;
	Addr target;

	if (in->jumpkind != Ijk_Boring || in->next->tag != Iex_Const)
		return in->jumpkind == Ijk_Boring;
	target = (Addr)in->next->Iex.Const.con->Ico.U64;
	return VG_(DebugInfo_sect_kind)(&ignored, target) == Vg_SectPLT ||
	       VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), target, &ignored);
}

/* Whether nothing after the statement needs to be sent. The system call by which a signal handler returns
 * does. */
static Bool rest_is_counted(Int statement)
{
	Int i;

	if (nm_all_blocks || nm_translation.in->jumpkind != Ijk_Boring || nm_translation.may_tail_call)
		return False;
	for (i = statement + 1; i < nm_translation.in->stmts_used; i++)
		if (is_sent(nm_translation.in->stmts[i]))
			return False;
	return True;
}

/* The C library chooses hints by the caches that Valgrind's processor says it has, which are not the machine's: from
 * 2 MB on its copies would go past the caches. */
static Bool is_of_libc(Addr pc)
{
	const DebugInfo *module = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), pc);
	const HChar *name = module == NULL ? NULL : VG_(DebugInfo_get_soname)(module);

	return name != NULL && VG_(strcmp)(name, "libc.so.6") == 0;
}

/* Takes what the current instruction tells the caches. */
static void add_hint(Addr pc)
{
	struct nm_hint hint = nm_hint_decode((const UChar *)pc, pc);

	if (hint.kind != NM_HINT_NONE && is_of_libc(pc))
		hint.kind = NM_HINT_NONE;
	nm_translation.store_flags = hint.kind == NM_HINT_STORE ? hint.flags : 0;
	if (hint.kind == NM_HINT_PREFETCH)
		nm_prefetch_add(&hint);
}

/* Decides whether a new wire block begins with the instruction at pc. */
static void add_instruction(Addr pc, UInt length, Bool ambiguous)
{
	struct block *block = &nm_translation.block;

	if (nm_translation.open) {
		ULong last = block->instruction[block->instructions - 1];
		Bool call = nm_is_direct_call(last & 0xffffffffffffull, (UInt)(last >> 48), pc);

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
	/* What VEX cannot decode has no length. It is one instruction, as for Cachegrind, and then a
	 * SIGILL. */
	if (length == 0)
		length = VG_MIN_INSTR_SZB;
	block->instruction[block->instructions++] = (pc & 0xffffffffffffull) | (ULong)length << 48;
}

/* Whether the same instruction has read the address by a plain load. */
static Bool is_read_already(const struct nm_traced_access *access)
{
	return nm_block_last_access_is(
		   nm_access_word(access->bytes, nm_translation.block.instructions - 1, NM_WIRE_READ)) &&
	       nm_translation.last_load != NULL && eqIRAtom(nm_translation.last_load, access->address);
}

/* Lists the exit when an access follows; without one it looks the same as the end. */
static void add_exit(Bool counted)
{
	nm_translation.block.left = nm_translation.block.instructions;
	if (!counted)
		nm_block_send();
	else if (!nm_translation.block.sent)
		nm_block_count();
	nm_block_commit();
}

/* The flag of a load that follows a pointer from the one before it. */
static UInt chase_flag(const struct nm_traced_access *access)
{
	return access->is_plain_load && nm_chases(access->address) ? NM_WIRE_CHASES : 0;
}

/* The flags of the current instruction, which is atomic. */
static Bool last_instruction_commutes(void)
{
	const struct block *block = &nm_translation.block;

	return nm_commutes((Addr)(block->instruction[block->instructions - 1] & 0xffffffffffffull));
}

/* Adds the accesses of the statement, before the statement itself. */
static void add_accesses(const IRStmt *st)
{
	struct nm_traced_access accesses[MAX_STATEMENT_ACCESSES];
	UInt n = nm_list_accesses(nm_out->tyenv, st, accesses), i;
	UInt more = st->tag == Ist_CAS && last_instruction_commutes() ? NM_WIRE_COMMUTES : 0;

	for (i = 0; i < n; i++) {
		struct nm_traced_access *access = &accesses[i];

		access->flags |= more | (access->flags & NM_WIRE_WRITE ? nm_translation.store_flags : 0);
		if (access->is_plain_load)
			nm_translation.last_load = access->address;
		if (access->may_be_done && is_read_already(access))
			nm_translation.block.access[nm_translation.block.accesses - 1] |=
			    (ULong)(access->flags & ~NM_WIRE_READ) << 32;
		else if (access->guard == NULL)
			nm_block_add_access(access->address, access->bytes,
					    access->flags | chase_flag(access));
		else
			nm_block_add_guarded(access->address, access->guard, access->bytes, access->flags);
	}
}

static void start_code(Addr pc)
{
	UInt function = nm_allocator_at(pc), lock = function == 0 ? nm_locks_at(pc) : 0;
	UInt pool = function == 0 && lock == 0 ? nm_pools_at(pc) : 0;

	if (function != 0)
		nm_emit_allocator_entry(function, pc);
	if (lock != 0)
		nm_emit_lock_entry(lock);
	if (pool != 0)
		nm_emit_pool_entry(pool, pc);
	if (!rest_is_counted(-1))
		nm_emit_limit_check();
}

/* Adds a side exit. Returns whether a new wire block begins with the next instruction. */
static Bool add_side_exit(Int statement)
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
	nm_translation.in = in;
	nm_translation.may_tail_call = may_tail_call(in);
	nm_translation.open = False;
	nm_translation.last_load = NULL;
	nm_translation.group.accesses = 0;
	nm_translation.words = nm_translation.committed = nm_translation.ran = 0;
	i = nm_emit_start(in);
	if (i == in->stmts_used)
		return nm_out;

	nm_offsets_begin(in->tyenv);
	nm_chases_begin(in);
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
			add_hint(st->Ist.IMark.addr);
			ambiguous = False;
		} else if (st->tag == Ist_Exit) {
			ambiguous = add_side_exit(i);
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
			nm_emit_return(nm_translation.last_load);
	} else {
		nm_block_end(in->jumpkind == Ijk_Call ? NM_WIRE_CALL : NM_WIRE_JUMP);
	}
	return nm_out;
}
