/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * wire_block.c - writes a superblock's wire blocks: headers, addresses, definitions.
 *
 * Translated code loads the write cursor once, stores headers and addresses at constant offsets from it, and
 * stores the advanced cursor before each side exit and at the end. Everything known at translation time is
 * sent once, in NM_WIRE_BLOCK_DEF, before the first execution. A block without accesses is not sent: its
 * instructions are added to the ring's count (NM_WIRE_RAN).
 *
 * Accesses whose addresses differ by a constant (offsets.c), follow each other and leave no gap make a group
 * and send one address, the lowest. The lowest address is known when the group ends, so it is stored there. A
 * group covers few bytes, so it seldom spans two cache lines.
 *
 * Dropped: groups with gaps, which would need a mask (0 to 6 % fewer address words); header and first address
 * in one word (no faster).
 */
#include "wire_block.h"

static UInt next_block;

struct translation nm_translation;

static IRExpr *cursor_plus(UInt words)
{
	IRExpr *cursor = IRExpr_RdTmp(nm_translation.cursor);

	return words == 0 ? cursor : nm_emit_sum(cursor, nm_constant((ULong)words * 8));
}

static void store_word(IRExpr *word) { nm_emit_store(cursor_plus(nm_translation.words++), word); }

static void load_cursor(void)
{
	nm_translation.cursor = nm_emit_load(nm_ring_cursor_address())->Iex.RdTmp.tmp;
	nm_translation.words = nm_translation.committed = 0;
}

static void store_cursor(void)
{
	if (nm_translation.words == nm_translation.committed)
		return;
	nm_emit_store(nm_constant(nm_ring_cursor_address()), cursor_plus(nm_translation.words));
	nm_translation.committed = nm_translation.words;
}

static void emit_instruction_count(void)
{
	if (nm_translation.ran == 0)
		return;
	nm_emit_store(nm_constant(nm_ring_ran_address()),
		      nm_emit_sum(nm_emit_load(nm_ring_ran_address()), nm_constant(nm_translation.ran)));
	nm_translation.ran = 0;
}

void nm_emit_limit_check(void)
{
	IRExpr *cursor = nm_emit_load(nm_ring_cursor_address());
	IRExpr *limit = nm_emit_load(nm_ring_limit_address());
	IRDirty *full =
	    unsafeIRDirty_0_N(0, "nm_ring_full", VG_(fnptr_to_fnentry)(&nm_ring_full), mkIRExprVec_0());

	full->guard = nm_emit_value(Ity_I1, IRExpr_Binop(Iop_CmpLT64U, limit, cursor));
	nm_emit(IRStmt_Dirty(full));
	load_cursor();
}

/* ---- Wire blocks ---- */

void nm_block_begin(Addr pc, Bool continues)
{
	struct block *block = &nm_translation.block;

	block->pc = pc;
	block->instructions = block->accesses = block->exits = 0;
	block->continues = continues;
	block->left = 0;
	block->sent = False;
	block->ran = 0;
	nm_translation.open = True;
}

/* Marks the block as sent. */
void nm_block_send(void)
{
	struct block *block = &nm_translation.block;

	if (block->sent)
		return;
	tl_assert(block->ran == 0);
	block->sent = True;
	block->id = next_block++;
	store_word(nm_constant(nm_wire_header(NM_WIRE_BLOCK, block->id, 0)));
}

/* Counts the part that has run of a block that is not sent. */
void nm_block_count(void)
{
	struct block *block = &nm_translation.block;

	nm_translation.ran += block->instructions - block->ran;
	block->ran = block->instructions;
}

static void send_definition(enum nm_wire_exit_kind end)
{
	const struct block *block = &nm_translation.block;
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

/* What distinguishes an access, apart from its address. */
ULong nm_access_word(UInt bytes, UInt instruction, UInt flags)
{
	return bytes | (ULong)instruction << 16 | (ULong)flags << 32;
}

Bool nm_block_last_access_is(ULong word)
{
	const struct block *block = &nm_translation.block;
	const ULong address = (ULong)(NM_WIRE_FOLLOWS | NM_WIRE_CHASES) << 32 | 0xffffull << 48;

	return block->accesses > 0 && (block->access[block->accesses - 1] & ~address) == word;
}

/* Stores the address word that is due. */
static void close_group(void)
{
	struct group *group = &nm_translation.group;
	ULong *access = nm_translation.block.access + nm_translation.block.accesses - group->accesses;
	UInt i;

	if (group->accesses == 0)
		return;
	for (i = 0; i < group->accesses; i++)
		access[i] |= (group->distance[i] - group->low) << 48;
	store_word(group->lowest);
	group->accesses = 0;
}

/* Publishes what has been stored. */
void nm_block_commit(void)
{
	close_group();
	emit_instruction_count();
	store_cursor();
}

/* A guarded access or prefetch is not grouped: its address is computed here and has no root. Nor is a non-temporal
 * one. */
static void begin_group(IRExpr *address, UInt bytes, Bool alone)
{
	struct nm_root_offset at = {IRTemp_INVALID, 0};

	if (!alone)
		at = nm_offset_of(address);
	close_group();
	nm_translation.group = (struct group){.accesses = 1,
					      .whole = alone,
					      .root = at.root,
					      .low = at.distance,
					      .end = at.distance + bytes,
					      .lowest = address,
					      .distance = {at.distance}};
}

/* Whether the access touches or overlaps the group and is now one of it. */
static Bool join_group(IRExpr *address, UInt bytes)
{
	struct group *group = &nm_translation.group;
	struct nm_root_offset at = nm_offset_of(address);
	/* Distances may be negative, so compare them relative to the group only. */
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

void nm_block_add_access(IRExpr *address, UInt bytes, UInt flags)
{
	struct block *block = &nm_translation.block;

	const Bool alone = (flags & (NM_WIRE_GUARDED | NM_WIRE_PREFETCH | NM_WIRE_NON_TEMPORAL)) != 0;

	tl_assert(nm_translation.open && block->accesses < MAX_ACCESSES);
	nm_block_send();
	if (block->left) {
		tl_assert(block->exits < MAX_EXITS && nm_translation.group.accesses == 0);
		block->exit[block->exits++] = (ULong)block->accesses | (ULong)block->left << 16;
		block->left = 0;
	}
	if (!alone && join_group(address, bytes))
		flags |= NM_WIRE_FOLLOWS;
	else
		begin_group(address, bytes, alone);
	block->access[block->accesses++] = nm_access_word(bytes, block->instructions - 1, flags);
}

void nm_block_add_guarded(IRExpr *address, IRExpr *guard, UInt bytes, UInt flags)
{
	nm_block_add_access(nm_emit_value(Ity_I64, IRExpr_ITE(guard, address, nm_constant(0))), bytes,
			    flags | NM_WIRE_GUARDED);
}

/* ---- Ends of wire blocks ---- */

/* A call ends with the push of its return address, a return begins with its pop. */
static Bool mark_frame(UInt direction)
{
	struct block *block = &nm_translation.block;

	if (!nm_block_last_access_is(nm_access_word(8, block->instructions - 1, direction)))
		return False;
	block->access[block->accesses - 1] |= (ULong)NM_WIRE_FRAME << 32;
	return True;
}

enum nm_wire_exit_kind nm_block_end(enum nm_wire_exit_kind end)
{
	close_group();
	if ((end == NM_WIRE_CALL && !mark_frame(NM_WIRE_WRITE)) ||
	    (end == NM_WIRE_RETURN && !mark_frame(NM_WIRE_READ)))
		end = NM_WIRE_JUMP;
	if (nm_translation.block.sent)
		send_definition(end);
	else
		nm_block_count();
	nm_translation.open = False;
	return end;
}
