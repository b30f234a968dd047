/* SPDX-License-Identifier: MIT
 *
 * decode_block.c - makes the running thread's decoded block (decoded_block.h) from the definition of a block.
 */
#include <string.h>

#include "coalesced.h"
#include "replay.h"
#include "user_calls.h"

/* Makes the next entry and its access site, for an access or a coalesced access that begins with it. */
static int decode_entry(struct nm_replay *r, struct nm_decoded_block *decoded,
			const struct nm_wire_block_info *info, uint32_t access, uint32_t word,
			const struct nm_mapping *m)
{
	struct nm_access_site o = {
	    .decoded = decoded,
	    .access = (uint16_t)(r->decoder.access_sites.count - decoded->first_access_site)};
	uint64_t w = info->accesses[access];
	uint32_t instruction;

	nm_entry_of(&o, low) = NM_BIAS;
	nm_entry_of(&o, length) = NM_NO_LENGTH;
	nm_entry_of(&o, word) = (uint64_t)word << 32;
	o.grouped = nm_word_is_coalesced((uint64_t)word << 32);
	if (nm_replay_instruction(r, decoded, info, nm_wire_access_instruction(w), m, &instruction))
		return NM_ENOMEM;
	return nm_vec_push(&r->decoder.access_instructions, instruction) ||
		       nm_vec_push(&r->decoder.access_chases,
				   (nm_wire_access_flags(w) & NM_WIRE_CHASES) != 0) ||
		       nm_vec_push(&r->decoder.access_sites, o)
		   ? NM_ENOMEM
		   : 0;
}

/* The second word of a reference, without the attribution key. */
static uint32_t ref_word(uint32_t size, uint32_t kind, uint32_t weight)
{
	return size | kind << 16 | weight << 24;
}

/* The word of a single access. */
static uint32_t access_word(struct nm_decoded_block *decoded, uint64_t w)
{
	unsigned flags = nm_wire_access_flags(w);
	unsigned kind = flags & NM_WIRE_WRITE ? NM_REF_WRITE : NM_REF_READ;

	if (flags & (NM_HINT_FLAGS | NM_WIRE_GUARDED))
		decoded->words = 0;
	return ref_word(nm_wire_access_size(w), kind, 1);
}

/* The word of a coalesced access, if its members can be one reference. */
static uint32_t group_word(struct nm_decoded_block *decoded, const uint64_t *accesses, uint32_t count)
{
	uint64_t bytes = 0;
	uint32_t writes = 0, end = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t distance = nm_wire_access_distance(accesses[i]),
			 last = distance + nm_wire_access_size(accesses[i]);

		end = last > end ? last : end;
		if (end <= NM_COALESCED_SPAN)
			bytes |= ~0ull >> (64 - nm_wire_access_size(accesses[i])) << distance;
		writes += (nm_wire_access_flags(accesses[i]) & NM_WIRE_WRITE) != 0;
	}
	if (end > NM_COALESCED_SPAN || bytes != ~0ull >> (64 - end) || count > NM_COALESCED_MAX) {
		decoded->words = 0;
		return ref_word(1, 0, 1);
	}
	return ref_word(end, writes, count);
}

/* How an access orders threads; a block with an atomic one is executed by single steps. */
static uint8_t sync_of(const struct nm_replay *r, struct nm_decoded_block *decoded, uint64_t access)
{
	const unsigned flags = nm_wire_access_flags(access);

	if (!r->builder.syncs || !(flags & NM_WIRE_ATOMIC))
		return NM_SYNC_NONE;
	decoded->words = 0;
	return flags & NM_WIRE_COMMUTES ? NM_SYNC_UPDATE : NM_SYNC_ATOMIC;
}

/* The number of accesses that share the address word of the first. */
static uint32_t group_count(const struct nm_wire_block_info *info, uint32_t access)
{
	uint32_t n = 1;

	while (access + n < info->def.accesses &&
	       nm_wire_access_flags(info->accesses[access + n]) & NM_WIRE_FOLLOWS)
		n++;
	return n;
}

/* Makes entries for address words, then for each member of a coalesced access. */
static int decode_entries(struct nm_replay *r, struct nm_decoded_block *decoded,
			  const struct nm_wire_block_info *info, const struct nm_mapping *m)
{
	struct nm_decoded_tables *t = nm_tables_of(decoded);
	uint32_t word = 0, entry = info->groups;
	int status = 0;

	for (uint32_t i = 0, n; i < t->accesses && !status; i += n, word++) {
		n = group_count(info, i);
		status = decode_entry(r, decoded, info, i,
				      n > 1 ? group_word(decoded, info->accesses + i, n)
					    : access_word(decoded, info->accesses[i]),
				      m);
		for (uint32_t k = i; k < i + n; k++)
			t->single[k] = (struct nm_access){
			    (uint16_t)word, (uint16_t)nm_wire_access_distance(info->accesses[k]),
			    (uint16_t)(n > 1 ? entry++ : word), sync_of(r, decoded, info->accesses[k]),
			    (uint16_t)(nm_wire_access_flags(info->accesses[k]) & NM_HINT_FLAGS)};
	}
	for (uint32_t i = 0; i < t->accesses && !status; i++)
		if (t->single[i].entry >= info->groups)
			status =
			    decode_entry(r, decoded, info, i, access_word(decoded, info->accesses[i]), m);
	return status;
}

static int decode_accesses(struct nm_replay *r, struct nm_decoded_block *decoded,
			   const struct nm_wire_block_info *info, const struct nm_mapping *m)
{
	struct nm_decoded_tables *t = nm_tables_of(decoded);

	if (r->decoder.access_sites.count > UINT32_MAX - t->entries)
		return NM_ENOMEM;
	decoded->first_access_site = (uint32_t)r->decoder.access_sites.count;
	if (decode_entries(r, decoded, info, m))
		return NM_ENOMEM;
	for (uint32_t i = 0; i < t->exits; i++) {
		uint32_t accesses = nm_wire_exit_accesses(info->exits[i]);

		t->exit[i] =
		    (struct nm_side_exit){.accesses = (uint16_t)accesses,
					  .instructions = (uint16_t)nm_wire_exit_instructions(info->exits[i]),
					  .words = t->single[accesses].word};
	}
	if (t->accesses)
		decoded->frame = t->single[t->accesses - 1].distance;
	return 0;
}

/* Notes, for side exits behind instruction i, that `bytes` of their fetch run have been executed. */
static void note_exits(struct nm_decoded_tables *t, uint32_t i, uint8_t bytes)
{
	for (uint32_t k = 0; k < t->exits; k++)
		if (t->exit[k].instructions == i + 1)
			t->exit[k].fetched = bytes;
}

/* Makes fetch runs: whole instructions within one line; an instruction that straddles two is a run of its
 * own. */
static int decode_fetches(struct nm_replay *r, struct nm_decoded_block *decoded,
			  const struct nm_wire_block_info *info, const struct nm_mapping *m)
{
	uint64_t mask = ~(uint64_t)(r->fetch_line - 1);
	uint32_t object, instruction;
	struct nm_decoded_tables *t = nm_tables_of(decoded);

	t->fetch = nm_arena_alloc(&r->decoder.arena, decoded->instructions * sizeof *t->fetch);
	if (!t->fetch ||
	    nm_space_code_object(r->space, m && m->module ? nm_module_name(m->module) : "no file", &object))
		return NM_ENOMEM;
	for (uint32_t i = 0; i < decoded->instructions; i++) {
		uint64_t pc = nm_wire_instruction_pc(info->instructions[i]);
		unsigned bytes = nm_wire_instruction_bytes(info->instructions[i]);
		struct nm_fetch *f = t->fetches ? &t->fetch[t->fetches - 1] : NULL;

		if (f && f->address + f->bytes == pc && f->instructions < 255 &&
		    ((pc + bytes - 1) & mask) == (f->address & mask)) {
			f->instructions++;
			f->bytes = (uint8_t)(f->bytes + bytes);
			note_exits(t, i, f->bytes);
			continue;
		}
		f = &t->fetch[t->fetches++];
		*f = (struct nm_fetch){pc, 0, (uint16_t)i, 1, (uint8_t)bytes};
		note_exits(t, i, f->bytes);
		if (nm_replay_instruction(r, decoded, info, i, m, &instruction))
			return NM_ENOMEM;
		f->attr = nm_attributions_get(r->attrs, r->running.thread->lane->number,
					      r->attrs->instructions.at[instruction].site, object);
		if (!f->attr)
			return NM_ENOMEM;
	}
	return 0;
}

struct nm_decoded_block nm_undecoded_block;
struct nm_decoded_block nm_no_last_block = {.user_call = NM_OF_LIBRARY};

/* Makes room for block id in the running lane's table of decoded blocks. */
static int grow_decoded_blocks(struct nm_replay *r, uint32_t id)
{
	struct nm_lane *l = r->running.thread->lane;

	if (nm_vec_grow((void **)&l->decoded_blocks, &l->decoded_room, r->decoded_room,
			id + 1 - r->decoded_room, sizeof *l->decoded_blocks))
		return NM_ENOMEM;
	for (size_t i = r->decoded_room; i < l->decoded_room; i++)
		l->decoded_blocks[i] = &nm_undecoded_block;
	r->decoded_blocks = l->decoded_blocks;
	r->decoded_room = l->decoded_room;
	return 0;
}

/* The number of entries of a block: one for each address word, and one for each member of a coalesced
 * access. */
static uint32_t count_entries(const struct nm_wire_block_info *info)
{
	uint32_t entries = info->groups;

	for (uint32_t i = 0, n; i < info->def.accesses; i += n) {
		n = group_count(info, i);
		entries += n > 1 ? n : 0;
	}
	return entries;
}

/* The bytes that a repeated string instruction writes each time, if the block consists of its repetitions; else
 * 0. Nothing else that the collector makes a block of writes, may leave after each instruction, and stays at one
 * address. */
static uint32_t string_bytes_of(const struct nm_wire_block_info *info)
{
	uint32_t bytes = 0;

	if (!info->def.instructions || info->def.exits != info->def.instructions ||
	    info->def.end != NM_WIRE_JUMP)
		return 0;
	for (uint32_t i = 1; i < info->def.instructions; i++)
		if (nm_wire_instruction_pc(info->instructions[i]) !=
		    nm_wire_instruction_pc(info->instructions[0]))
			return 0;
	for (uint32_t i = 0; i < info->def.accesses; i++)
		if (nm_wire_access_flags(info->accesses[i]) & NM_WIRE_WRITE)
			bytes += nm_wire_access_size(info->accesses[i]);
	return bytes / info->def.instructions;
}

/* An empty decoded block for the block. */
static struct nm_decoded_block *new_decoded_block(struct nm_replay *r, uint32_t id,
						  const struct nm_wire_block_info *info)
{
	struct nm_decoded_tables t = {.id = id,
				      .accesses = info->def.accesses,
				      .exits = info->def.exits,
				      .words = info->groups,
				      .entries = count_entries(info),
				      .string_bytes = string_bytes_of(info)};
	size_t groups = (t.entries + NM_ENTRIES - 1u) / NM_ENTRIES;
	struct nm_decoded_block *b =
	    nm_arena_alloc(&r->decoder.arena, sizeof *b + groups * sizeof b->entries[0] + sizeof t + 48);

	t.exit = nm_arena_alloc(&r->decoder.arena, (t.exits + 1u) * sizeof *t.exit);
	t.single = nm_arena_alloc(&r->decoder.arena, (t.accesses + 1u) * sizeof *t.single);
	if (!b || !t.exit || !t.single)
		return NULL;
	b = (struct nm_decoded_block *)(((uintptr_t)b + 63) & ~(uintptr_t)63); /* arenas align to 16 */
	b->groups = groups;
	*nm_tables_of(b) = t;
	b->words = t.words > NM_BATCH ? 0 : (uint16_t)(t.words + 1);
	b->instructions = info->def.instructions;
	b->end = info->def.end;
	b->call_pc =
	    b->instructions ? nm_wire_instruction_pc(info->instructions[b->instructions - 1]) : info->def.pc;
	return nm_vec_push(&r->decoder.decoded, b) ? NULL : b;
}

static int fill_decoded_block(struct nm_replay *r, struct nm_decoded_block *b,
			      const struct nm_wire_block_info *info)
{
	const struct nm_mapping *m = nm_space_mapping(r->space, info->def.pc);
	/* Collectors may leave blocks without accesses out: objects must not depend on them. */
	const int framed = info->def.accesses || r->calls || r->fetching;
	/* All names are looked up nevertheless: a trace keeps those, and its replay may need them. */
	const struct nm_code_function f = nm_decoder_function_at(m, info->def.pc);
	const struct nm_object *frame;

	if (nm_replay_note_call(r, b, info) || decode_accesses(r, b, info, m) ||
	    (framed && nm_space_frame_object(r->space, f.name, f.nameless, f.locals, &b->stack_object)) ||
	    (r->fetching && decode_fetches(r, b, info, m)))
		return NM_ENOMEM;
	nm_tables_of(b)->watched = f.nameless ? 0 : nm_replay_watches(r, f.name);
	frame = &r->space->objects.at[b->stack_object];
	b->fills = frame->copies || frame->clears ? UINT8_MAX : 0;
	return 0;
}

struct nm_decoded_block *nm_replay_decode_block(struct nm_replay *x, uint32_t id, struct nm_error *err)
{
	struct nm_wire_record r = {.kind = NM_WIRE_BLOCK_DEF, .arg = id};
	struct nm_wire_block_info info;
	struct nm_decoded_block *p;

	if (!x->running.thread || id >= x->decoder.definitions.count ||
	    !x->decoder.definitions.at[id].words) {
		nm_fail(err, NM_EFORMAT, "block %u runs before it is defined", id);
		return NULL;
	}
	r.payload = x->decoder.definitions.at[id].words;
	r.words = x->decoder.definitions.at[id].count;
	if (nm_wire_block_decode(&r, &info, err))
		return NULL;
	if (count_entries(&info) > UINT16_MAX) {
		nm_fail(err, NM_EFORMAT, "block %u has too many accesses in groups", id);
		return NULL;
	}
	p = nm_replay_resolve_pending(x)
		? NULL
		: new_decoded_block(x, id, &info); /* it makes objects, and attribution keys for fetches */
	if (!p || fill_decoded_block(x, p, &info) || (id >= x->decoded_room && grow_decoded_blocks(x, id))) {
		nm_fail_memory(err);
		return NULL;
	}
	x->decoded_blocks[id] = p;
	return p;
}
