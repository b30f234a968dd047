/* SPDX-License-Identifier: MIT
 *
 * decode_block.c - decodes definitions of blocks (decode.h), and checks them completely.
 */
#include "decode.h"

#include <assert.h>
#include <string.h>

_Static_assert(sizeof(struct nm_wire_block_def) == 16, "the head of a block definition is two words");

enum { HEAD_WORDS = sizeof(struct nm_wire_block_def) / sizeof(uint64_t), PC_BITS = 48 };

static const char *fault_of_instructions(const struct nm_wire_block_info *b)
{
	if (!b->def.instructions)
		return "no instruction";
	for (size_t i = 0; i < b->def.instructions; i++)
		if (b->instructions[i] >> 56 || !nm_wire_instruction_bytes(b->instructions[i]))
			return "malformed instruction word";
	if (b->def.pc >> PC_BITS || nm_wire_instruction_pc(b->instructions[0]) != b->def.pc)
		return "pc that is not that of the first instruction";
	return NULL;
}

static int follows_chain(const struct nm_wire_block_info *b, size_t access)
{
	return (nm_wire_access_flags(b->accesses[access]) & NM_WIRE_FOLLOWS) != 0;
}

static int is_in_group(const struct nm_wire_block_info *b, size_t access)
{
	return follows_chain(b, access) || (access + 1u < b->def.accesses && follows_chain(b, access + 1));
}

/* A group starts at its lowest address. */
static const char *fault_of_groups(const struct nm_wire_block_info *b)
{
	unsigned least = 0;

	for (size_t i = 0; i < b->def.accesses; i++) {
		unsigned distance = nm_wire_access_distance(b->accesses[i]);

		least = !follows_chain(b, i) || distance < least ? distance : least;
		if (least && (i + 1u == b->def.accesses || !follows_chain(b, i + 1)))
			return "group without an access at its address";
	}
	return NULL;
}

/* A read is not hinted, a write only NON_TEMPORAL, a prefetch at most once. */
static int is_hinted_wrongly(unsigned flags)
{
	const unsigned levels = NM_WIRE_TO_L2 | NM_WIRE_TO_L3, hint = flags & (NM_WIRE_NON_TEMPORAL | levels);

	return (hint & (hint - 1)) || (hint & levels && !(flags & NM_WIRE_PREFETCH)) ||
	       (hint && flags & (NM_WIRE_READ | NM_WIRE_ATOMIC));
}

static const char *fault_of_accesses(const struct nm_wire_block_info *b)
{
	const unsigned known = NM_WIRE_READ | NM_WIRE_WRITE | NM_WIRE_PREFETCH | NM_WIRE_ATOMIC |
			       NM_WIRE_GUARDED | NM_WIRE_FRAME | NM_WIRE_FOLLOWS | NM_WIRE_CHASES |
			       NM_WIRE_COMMUTES | NM_WIRE_NON_TEMPORAL | NM_WIRE_TO_L2 | NM_WIRE_TO_L3;
	unsigned at = 0;

	for (size_t i = 0; i < b->def.accesses; i++) {
		uint64_t w = b->accesses[i];
		unsigned flags = nm_wire_access_flags(w);
		unsigned sort = flags & (NM_WIRE_READ | NM_WIRE_WRITE | NM_WIRE_PREFETCH);

		if (flags & ~known || !nm_wire_access_size(w))
			return "malformed access word";
		if (!sort || (sort & (sort - 1)))
			return "access that is not one of read, write, prefetch";
		if (flags & NM_WIRE_COMMUTES && !(flags & NM_WIRE_ATOMIC))
			return "access that commutes and is not atomic";
		if (nm_wire_access_instruction(w) >= b->def.instructions ||
		    nm_wire_access_instruction(w) < at)
			return "access whose instruction is out of range or out of order";
		if (flags & NM_WIRE_CHASES && !(flags & NM_WIRE_READ))
			return "access that chases but does not read";
		if (flags & NM_WIRE_FOLLOWS && !i)
			return "first access that follows another";
		if (is_hinted_wrongly(flags))
			return "access with a hint that it cannot have";
		if (flags & (NM_WIRE_GUARDED | NM_WIRE_PREFETCH | NM_WIRE_NON_TEMPORAL) && is_in_group(b, i))
			return "guarded access, prefetch or non-temporal store in a group";
		if (flags & NM_WIRE_FRAME && (i + 1 != b->def.accesses || b->def.end == NM_WIRE_JUMP))
			return "frame access that does not end a call or return";
		at = nm_wire_access_instruction(w);
	}
	return NULL;
}

static const char *fault_of_end(const struct nm_wire_block_info *b)
{
	unsigned flags, want;

	if (b->def.end == NM_WIRE_JUMP)
		return NULL;
	if (!b->def.accesses)
		return "call or return without an access";
	flags = nm_wire_access_flags(b->accesses[b->def.accesses - 1]);
	want = NM_WIRE_FRAME | (b->def.end == NM_WIRE_CALL ? NM_WIRE_WRITE : NM_WIRE_READ);
	return (flags & ~NM_WIRE_FOLLOWS) == want
		   ? NULL
		   : "call or return whose last access is not that of its frame";
}

static const char *fault_of_exits(const struct nm_wire_block_info *b)
{
	unsigned instructions = 0;
	int accesses = -1;

	for (size_t i = 0; i < b->def.exits; i++) {
		uint64_t w = b->exits[i];

		if (w >> 32)
			return "malformed exit word";
		if (nm_wire_exit_accesses(w) >= b->def.accesses ||
		    nm_wire_exit_instructions(w) > b->def.instructions)
			return "exit beyond the block";
		if ((int)nm_wire_exit_accesses(w) <= accesses || nm_wire_exit_instructions(w) < instructions)
			return "exits that do not ascend";
		if (follows_chain(b, nm_wire_exit_accesses(w)))
			return "group that goes on behind an exit";
		accesses = (int)nm_wire_exit_accesses(w);
		instructions = nm_wire_exit_instructions(w);
	}
	return NULL;
}

/* How many address words `accesses` accesses have. */
static uint32_t groups_before(const struct nm_wire_block_info *b, size_t accesses)
{
	uint32_t groups = 0;

	for (size_t i = 0; i < accesses; i++)
		groups += !follows_chain(b, i);
	return groups;
}

int nm_wire_block_decode(const struct nm_wire_record *r, struct nm_wire_block_info *ret, struct nm_error *err)
{
	struct nm_wire_block_info b = {.id = r->arg};
	const char *fault;

	if (r->words < HEAD_WORDS)
		return nm_wire_fault(r, err, "wrong number of words");
	memcpy(&b.def, r->payload, sizeof b.def);
	if (r->words != HEAD_WORDS + (size_t)b.def.instructions + b.def.accesses + b.def.exits)
		return nm_wire_fault(r, err, "wrong number of words");
	if (b.def.end > NM_WIRE_RETURN || b.def.flags & ~NM_WIRE_BLOCK_CONTINUES)
		return nm_wire_fault(r, err, "unknown end or flag");
	b.instructions = r->payload + HEAD_WORDS;
	b.accesses = b.instructions + b.def.instructions;
	b.exits = b.accesses + b.def.accesses;
	if ((fault = fault_of_instructions(&b)) || (fault = fault_of_accesses(&b)) ||
	    (fault = fault_of_groups(&b)) || (fault = fault_of_end(&b)) || (fault = fault_of_exits(&b)))
		return nm_wire_fault(r, err, fault);
	b.groups = groups_before(&b, b.def.accesses);
	*ret = b;
	return 0;
}

int nm_wire_block_executed(const struct nm_wire_block_info *block, size_t words, unsigned *ret_accesses)
{
	assert(block->groups <= block->def.accesses);
	*ret_accesses = block->def.accesses;
	if (words == block->groups)
		return block->def.instructions;
	for (size_t i = 0; i < block->def.exits; i++) {
		*ret_accesses = nm_wire_exit_accesses(block->exits[i]);
		if (groups_before(block, *ret_accesses) == words)
			return (int)nm_wire_exit_instructions(block->exits[i]);
	}
	return -1;
}
