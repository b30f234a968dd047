/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * instrument.c - turns a superblock into one that also writes its wire blocks.
 *
 * Translated code loads the write cursor once, stores a header word and the addresses of its accesses at
 * constant distances from it, and stores the advanced cursor before each side exit and at the end.  So
 * an execution costs one limit check, one store per block, one per group of accesses and one per exit;
 * everything that is known at translation time travels once, in NM_WIRE_BLOCK_DEF, which is sent from here,
 * that is, before the first execution.  CPU time of gzip -9 on 4 MB: --tool=none 1.28 s, this 1.37 s,
 * Cachegrind with --cache-sim=yes 6.4 s.
 *
 * Known at translation time are also the distances between accesses whose addresses are the same temporary and
 * constants (offsets.c): what a function pushes, the fields of a structure, what an instruction reads and writes
 * back.  Those that follow each other and leave no gap make a group and send one address, the lowest.  Which one that
 * is is known when the group has ended, so its store stands there and not before the accesses.  A group is small
 * (MAX_SPAN bytes, so that few lie in two cache lines, and MAX_GROUP accesses), so that a reader may take it as
 * little more than one access.  Dropped: groups with gaps, which would need a mask: 0 (solver), 1 (gzip, sort) to 6 %
 * (SQLite) fewer address words.  One word for the header and the first address (15 bits of id, 47 of address), two
 * fifths of the words less on mawk: CPU time of six programs 9 % more to 6 % less, four rounds in turn, median as before.
 *
 * Code without accesses makes no wire block: the number of its instructions is added up in the ring's head
 * (NM_WIRE_RAN), which costs this code no more and its reader nothing.  In programs that branch often that is a
 * quarter of all blocks.  Who needs the way that the program took asks for all blocks.
 *
 * A superblock makes more than one wire block
 * - at a call that VEX has followed, so that the reader sees the frame;
 * - after a side exit when the number of accesses alone would not tell whether it was taken: the reader
 *   gets no other sign, and instruction counts must be exact;
 * - when it is too long for the margin of one limit check.
 *
 * A block that a fault interrupts is lost, since the cursor has not been stored.
 */
#include "tool.h"

#include "libvex_guest_amd64.h"

#define MAX_INSTRUCTIONS 512u
#define MAX_ACCESSES 768u
#define MAX_EXITS 256u
/* More than any one instruction makes. */
#define SLACK 128u
/* Accesses of a group and bytes from its lowest to its end. */
#define MAX_GROUP 15u
#define MAX_SPAN 32u

/* The wire block being made. */
struct block {
	UInt id;
	Addr pc;
	UInt instructions, accesses, exits;
	Bool continues;
	UInt left; /* instructions run at the side exit that no access has followed yet; 0: no such exit */
	Bool sent; /* its header has been stored */
	UInt ran;  /* instructions counted, if not */
	ULong instruction[MAX_INSTRUCTIONS], access[MAX_ACCESSES], exit[MAX_EXITS];
};

/* The last accesses of the wire block, whose address word has not been stored yet. */
struct group {
	UInt accesses;             /* 0: there is none */
	Bool whole;                /* takes no more */
	IRTemp root;               /* of all addresses */
	ULong low, end;            /* their range, as distances from the root */
	IRExpr *lowest;            /* the address at low */
	ULong distance[MAX_GROUP]; /* of each from the root */
};

/* The translation being made.  Translations do not nest. */
static struct {
	IRSB *out;
	const IRSB *in;
	IRTemp cursor;
	UInt words;        /* stored since the cursor was loaded, */
	UInt committed;    /* and before it was stored last */
	UInt ran;          /* instructions that are still to be added up */
	Bool open;         /* a block has been begun */
	IRExpr *last_load; /* address of the last plain load; NULL: none yet */
	struct block block;
	struct group group;
} translation;

static UInt next_block;

Bool nm_all_blocks;

static void emit(IRStmt *statement) { addStmtToIRSB(translation.out, statement); }

static IRExpr *bind(IRType type, IRExpr *expression)
{
	IRTemp temporary = newIRTemp(translation.out->tyenv, type);

	emit(IRStmt_WrTmp(temporary, expression));
	return IRExpr_RdTmp(temporary);
}

static IRExpr *constant(ULong value) { return IRExpr_Const(IRConst_U64(value)); }

static IRExpr *load(Addr address) { return bind(Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, constant(address))); }

static IRExpr *cursor_plus(UInt words)
{
	IRExpr *cursor = IRExpr_RdTmp(translation.cursor);

	return words == 0 ? cursor
			  : bind(Ity_I64, IRExpr_Binop(Iop_Add64, cursor, constant((ULong)words * 8)));
}

static void store_word(IRExpr *word) { emit(IRStmt_Store(Iend_LE, cursor_plus(translation.words++), word)); }

static void load_cursor(void)
{
	translation.cursor = load(nm_ring_cursor_address())->Iex.RdTmp.tmp;
	translation.words = translation.committed = 0;
}

static void store_cursor(void)
{
	if (translation.words == translation.committed)
		return;
	emit(IRStmt_Store(Iend_LE, constant(nm_ring_cursor_address()), cursor_plus(translation.words)));
	translation.committed = translation.words;
}

static void emit_instruction_count(void)
{
	IRExpr *sum;

	if (translation.ran == 0)
		return;
	sum = IRExpr_Binop(Iop_Add64, load(nm_ring_ran_address()), constant(translation.ran));
	emit(IRStmt_Store(Iend_LE, constant(nm_ring_ran_address()), bind(Ity_I64, sum)));
	translation.ran = 0;
}

static void check_limit(void)
{
	IRExpr *cursor = load(nm_ring_cursor_address());
	IRExpr *limit = load(nm_ring_limit_address());
	IRDirty *full =
	    unsafeIRDirty_0_N(0, "nm_ring_full", VG_(fnptr_to_fnentry)(&nm_ring_full), mkIRExprVec_0());

	full->guard = bind(Ity_I1, IRExpr_Binop(Iop_CmpLT64U, limit, cursor));
	emit(IRStmt_Dirty(full));
	load_cursor();
}

/* ---- Wire blocks ---- */

static void begin_block(Addr pc, Bool continues)
{
	struct block *block = &translation.block;

	block->pc = pc;
	block->instructions = block->accesses = block->exits = 0;
	block->continues = continues;
	block->left = 0;
	block->sent = False;
	block->ran = 0;
	translation.open = True;
}

/* The block is one that is sent. */
static void begin_sending(void)
{
	struct block *block = &translation.block;

	if (block->sent)
		return;
	tl_assert(block->ran == 0);
	block->sent = True;
	block->id = next_block++;
	store_word(constant(nm_wire_header(NM_WIRE_BLOCK, block->id, 0)));
}

/* The block, which is not sent, has run up to here. */
static void count_block(void)
{
	struct block *block = &translation.block;

	translation.ran += block->instructions - block->ran;
	block->ran = block->instructions;
}

static void send_definition(enum nm_wire_exit_kind end)
{
	const struct block *block = &translation.block;
	UInt i;

	nm_record_begin(NM_WIRE_BLOCK_DEF, block->id);
	nm_record_word(block->pc);
	nm_record_word((ULong)block->instructions | (ULong)block->accesses << 16 | (ULong)block->exits << 32 |
		       (ULong)end << 48 | (ULong)(block->continues ? NM_WIRE_BLOCK_CONTINUES : 0) << 56);
	for (i = 0; i < block->instructions; i++)
		nm_record_word(block->instruction[i]);
	for (i = 0; i < block->accesses; i++)
		nm_record_word(block->access[i]);
	for (i = 0; i < block->exits; i++)
		nm_record_word(block->exit[i]);
	nm_record_end();
}

/* ---- Accesses ---- */

/* What tells an access from another one, wherever its address comes from. */
static ULong access_word(UInt bytes, UInt instruction, UInt flags)
{
	return bytes | (ULong)instruction << 16 | (ULong)flags << 32;
}

static Bool last_access_is(ULong word)
{
	const struct block *block = &translation.block;
	const ULong address = (ULong)NM_WIRE_FOLLOWS << 32 | 0xffffull << 48;

	return block->accesses > 0 && (block->access[block->accesses - 1] & ~address) == word;
}

/* Stores the address word that is due. */
static void close_group(void)
{
	struct group *group = &translation.group;
	ULong *access = translation.block.access + translation.block.accesses - group->accesses;
	UInt i;

	if (group->accesses == 0)
		return;
	for (i = 0; i < group->accesses; i++)
		access[i] |= (group->distance[i] - group->low) << 48;
	store_word(group->lowest);
	group->accesses = 0;
}

/* What has been stored may be read. */
static void commit(void)
{
	close_group();
	emit_instruction_count();
	store_cursor();
}

/* A guarded access stays alone: its address is made here and resolved to nothing. */
static void begin_group(IRExpr *address, UInt bytes, Bool guarded)
{
	struct nm_root_offset at = {IRTemp_INVALID, 0};

	if (!guarded)
		at = nm_offset_of(address);
	close_group();
	translation.group = (struct group){.accesses = 1,
					   .whole = guarded,
					   .root = at.root,
					   .low = at.distance,
					   .end = at.distance + bytes,
					   .lowest = address,
					   .distance = {at.distance}};
}

/* Whether the access touches or overlaps the group and is now one of it. */
static Bool join_group(IRExpr *address, UInt bytes)
{
	struct group *group = &translation.group;
	struct nm_root_offset at = nm_offset_of(address);
	/* Distances may be below 0, so none is compared but by how far it is from the group. */
	Long low = (Long)(at.distance - group->low), end = low + (Long)bytes,
	     size = (Long)(group->end - group->low);

	if (group->accesses == 0 || group->whole || group->accesses == MAX_GROUP || at.root != group->root ||
	    low > size || end < 0 || (end > size ? end : size) - (low < 0 ? low : 0) > (Long)MAX_SPAN)
		return False;
	group->distance[group->accesses++] = at.distance;
	if (end > size)
		group->end = at.distance + bytes;
	if (low < 0) {
		group->low = at.distance;
		group->lowest = address;
	}
	return True;
}

static void add_access(IRExpr *address, UInt bytes, UInt flags)
{
	struct block *block = &translation.block;

	tl_assert(translation.open && block->accesses < MAX_ACCESSES);
	begin_sending();
	if (block->left) {
		tl_assert(block->exits < MAX_EXITS && translation.group.accesses == 0);
		block->exit[block->exits++] = (ULong)block->accesses | (ULong)block->left << 16;
		block->left = 0;
	}
	if (!(flags & NM_WIRE_GUARDED) && join_group(address, bytes))
		flags |= NM_WIRE_FOLLOWS;
	else
		begin_group(address, bytes, (flags & NM_WIRE_GUARDED) != 0);
	block->access[block->accesses++] = access_word(bytes, block->instructions - 1, flags);
}

static void add_guarded(IRExpr *address, IRExpr *guard, UInt bytes, UInt flags)
{
	add_access(bind(Ity_I64, IRExpr_ITE(guard, address, constant(0))), bytes, flags | NM_WIRE_GUARDED);
}

/* ---- Ends of wire blocks ---- */

/* A call ends with the push of its return address, a return begins with its pop. */
static Bool mark_frame(UInt direction)
{
	struct block *block = &translation.block;

	if (!last_access_is(access_word(8, block->instructions - 1, direction)))
		return False;
	block->access[block->accesses - 1] |= (ULong)NM_WIRE_FRAME << 32;
	return True;
}

static enum nm_wire_exit_kind end_block(enum nm_wire_exit_kind end)
{
	close_group();
	if ((end == NM_WIRE_CALL && !mark_frame(NM_WIRE_WRITE)) ||
	    (end == NM_WIRE_RETURN && !mark_frame(NM_WIRE_READ)))
		end = NM_WIRE_JUMP;
	if (translation.block.sent)
		send_definition(end);
	else
		count_block();
	translation.open = False;
	return end;
}

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

	for (i = statement + 1; i < translation.in->stmts_used; i++) {
		const IRStmt *st = translation.in->stmts[i];

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

	if (nm_all_blocks || translation.in->jumpkind != Ijk_Boring)
		return False;
	for (i = statement + 1; i < translation.in->stmts_used; i++)
		if (has_access(translation.in->stmts[i]))
			return False;
	return True;
}

/* Decides whether a new wire block begins with the instruction at pc. */
static void add_instruction(Addr pc, UInt length, Bool ambiguous)
{
	struct block *block = &translation.block;

	if (translation.open) {
		ULong last = block->instruction[block->instructions - 1];
		Bool call = is_direct_call(last & 0xffffffffffffull, (UInt)(last >> 48), pc);

		if (call) {
			if (end_block(NM_WIRE_CALL) == NM_WIRE_CALL)
				begin_block(pc, False);
			else
				begin_block(pc, True);
		} else if (ambiguous || block->instructions == MAX_INSTRUCTIONS ||
			   block->accesses > MAX_ACCESSES - SLACK || block->exits > MAX_EXITS - SLACK) {
			end_block(NM_WIRE_JUMP);
			begin_block(pc, True);
		}
	} else {
		begin_block(pc, False);
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
	return last_access_is(access_word(bytes, translation.block.instructions - 1, NM_WIRE_READ)) &&
	       translation.last_load != NULL && eqIRAtom(translation.last_load, address);
}

static void add_compare_and_swap(const IRCAS *cas)
{
	UInt bytes =
	    size_of(typeOfIRExpr(translation.out->tyenv, cas->dataLo)) * (cas->dataHi == NULL ? 1 : 2);

	if (is_read_already(cas->addr, bytes))
		translation.block.access[translation.block.accesses - 1] |= (ULong)NM_WIRE_ATOMIC << 32;
	else
		add_access(cas->addr, bytes, NM_WIRE_READ | NM_WIRE_ATOMIC);
	add_access(cas->addr, bytes, NM_WIRE_WRITE | NM_WIRE_ATOMIC);
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
			add_access(dirty->mAddr, (UInt)dirty->mSize, flags[i]);
		else
			add_guarded(dirty->mAddr, dirty->guard, (UInt)dirty->mSize, flags[i]);
	}
}

static void add_load_linked(const IRStmt *st)
{
	IRExpr *address = st->Ist.LLSC.addr;

	if (st->Ist.LLSC.storedata == NULL)
		add_access(address, size_of(typeOfIRTemp(translation.out->tyenv, st->Ist.LLSC.result)),
			   NM_WIRE_READ | NM_WIRE_ATOMIC);
	else
		add_access(address, size_of(typeOfIRExpr(translation.out->tyenv, st->Ist.LLSC.storedata)),
			   NM_WIRE_WRITE | NM_WIRE_ATOMIC);
}

/* The exit is listed when an access follows; without one it looks the same as the end. */
static void add_exit(Bool counted)
{
	translation.block.left = translation.block.instructions;
	if (!counted)
		begin_sending();
	else if (!translation.block.sent)
		count_block();
	commit();
}

/* Adds what the statement touches; the statement itself follows. */
static void add_accesses(const IRStmt *st)
{
	switch (st->tag) {
	case Ist_WrTmp: {
		const IRExpr *data = st->Ist.WrTmp.data;

		if (data->tag == Iex_Load) {
			translation.last_load = data->Iex.Load.addr;
			add_access(translation.last_load, size_of(data->Iex.Load.ty), NM_WIRE_READ);
		}
		break;
	}
	case Ist_Store:
		add_access(st->Ist.Store.addr,
			   size_of(typeOfIRExpr(translation.out->tyenv, st->Ist.Store.data)), NM_WIRE_WRITE);
		break;
	case Ist_StoreG: {
		const IRStoreG *store = st->Ist.StoreG.details;

		add_guarded(store->addr, store->guard,
			    size_of(typeOfIRExpr(translation.out->tyenv, store->data)), NM_WIRE_WRITE);
		break;
	}
	case Ist_LoadG: {
		const IRLoadG *loadg = st->Ist.LoadG.details;
		IRType result, loaded;

		typeOfIRLoadGOp(loadg->cvt, &result, &loaded);
		add_guarded(loadg->addr, loadg->guard, size_of(loaded), NM_WIRE_READ);
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
	emit(IRStmt_Dirty(unsafeIRDirty_0_N(2, "nm_allocator_entry",
					    VG_(fnptr_to_fnentry)(&nm_allocator_entry),
					    mkIRExprVec_2(constant(function), constant(pc)))));
}

/* At a return: `slot` holds the return address. */
static void call_allocator_return(IRExpr *slot)
{
	IRDirty *dirty = unsafeIRDirty_0_N(1, "nm_allocator_return",
					   VG_(fnptr_to_fnentry)(&nm_allocator_return), mkIRExprVec_1(slot));
	IRExpr *pending = load(nm_allocator_pending_address());

	dirty->guard = bind(Ity_I1, IRExpr_Binop(Iop_CmpLE64U, pending, slot));
	emit(IRStmt_Dirty(dirty));
}

static void start_code(Addr pc)
{
	UInt function = nm_allocator_at(pc);

	if (function != 0)
		call_allocator_entry(function, pc);
	if (!rest_is_counted(-1))
		check_limit();
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
	translation.out = deepCopyIRSBExceptStmts(in);
	translation.in = in;
	translation.open = False;
	translation.last_load = NULL;
	translation.group.accesses = 0;
	translation.words = translation.committed = translation.ran = 0;
	for (i = 0; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		emit(in->stmts[i]);
	if (i == in->stmts_used)
		return translation.out;

	nm_offsets_begin(in->tyenv);
	start_code(in->stmts[i]->Ist.IMark.addr);
	for (; i < in->stmts_used; i++) {
		IRStmt *st = in->stmts[i];

		if (st->tag == Ist_NoOp)
			continue;
		if (st->tag == Ist_IMark) {
			if (translation.words > NM_MARGIN_WORDS - 2 * SLACK) {
				commit();
				check_limit();
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
		emit(st);
	}
	if (!rest_is_counted(i))
		begin_sending();
	else if (!translation.block.sent)
		count_block();
	commit();
	if (in->jumpkind == Ijk_Ret) {
		if (end_block(NM_WIRE_RETURN) == NM_WIRE_RETURN)
			call_allocator_return(translation.last_load);
	} else {
		end_block(in->jumpkind == Ijk_Call ? NM_WIRE_CALL : NM_WIRE_JUMP);
	}
	return translation.out;
}
