/* SPDX-License-Identifier: MIT */
#include "user_calls.h"

#include "mpi_code.h"

enum { LIBRARY_BLOCKS_MAX = 1 << 18 /* of a lane: beyond, the code of further calls is of none */ };

static int find_instruction(struct nm_replay *r, uint64_t pc, uint32_t *ret_instruction)
{
	const struct nm_mapping *m = nm_space_mapping(r->space, pc);

	return nm_attributions_instruction(r->attrs, pc, m ? m->module : NULL, m ? m->bias : 0,
					   ret_instruction);
}

static int is_of_library(const struct nm_replay *r, uint64_t pc)
{
	const struct nm_mapping *m = nm_space_mapping(r->space, pc);

	return nm_attributions_is_library(r->attrs, pc, m ? m->module : NULL, m ? m->bias : 0) ||
	       nm_is_trampoline(nm_decoder_function_at(m, pc).name);
}

/* The call that the last of the user's instructions among the first n of a block makes; 0: there is none. 0 or
 * NM_ENOMEM. */
static int find_call(struct nm_replay *r, const struct nm_wire_block_info *info, uint32_t n,
		     uint32_t *ret_call)
{
	uint32_t instruction;

	while (n && is_of_library(r, nm_wire_instruction_pc(info->instructions[n - 1])))
		n--;
	*ret_call = 0;
	if (!n)
		return 0;
	if (find_instruction(r, nm_wire_instruction_pc(info->instructions[n - 1]), &instruction))
		return NM_ENOMEM;
	*ret_call = nm_attributions_user_call(r->attrs, instruction);
	return 0;
}

/* Library code is about to run: the last block, of the user's code, may have jumped to it. */
static int enter_library(struct nm_replay *x)
{
	struct nm_decoded_block *last = x->running.last;
	struct nm_wire_block_info info;

	if (!nm_may_tail_call(last))
		return 0;
	if (!last->user_call) {
		const uint32_t id = nm_tables_of(last)->id;
		const struct nm_definition *d = &x->decoder.definitions.at[id];
		const struct nm_wire_record r = {
		    .kind = NM_WIRE_BLOCK_DEF, .arg = id, .payload = d->words, .words = d->count};

		if (!nm_wire_block_decode(&r, &info, NULL) &&
		    find_call(x, &info, info.def.instructions, &last->user_call))
			return NM_ENOMEM;
	}
	x->running.stack->user_call = last->user_call;
	return 0;
}

static int is_of_mpi(const struct nm_mapping *m)
{
	return m && m->module && nm_is_mpi_library(nm_module_name(m->module));
}

static int is_of_progress(const struct nm_replay *r, uint64_t pc)
{
	const struct nm_mapping *m = nm_space_mapping(r->space, pc);

	return is_of_mpi(m) && nm_is_progress_function(nm_decoder_function_at(m, pc).name);
}

/* A progress function is about to run. A caller of MPI that no symbol names is taken for a loop around it. */
static void enter_progress(struct nm_replay *r)
{
	struct nm_stack *s = r->running.stack;
	struct nm_frame *frame = s->frames.count ? &s->frames.at[s->frames.count - 1] : NULL;
	const struct nm_mapping *m = frame ? nm_space_mapping(r->space, frame->call_pc) : NULL;

	if (is_of_mpi(m) && nm_decoder_function_at(m, frame->call_pc).nameless)
		frame->user_call |= NM_WAITS_AROUND;
	s->user_call |= NM_WAITS;
}

static uint64_t key_of(const struct nm_replay *r, uint32_t id)
{
	return (uint64_t)id << 32 | r->running.stack->user_call;
}

struct nm_decoded_block *nm_replay_of_this_call(struct nm_replay *r, uint32_t id,
						struct nm_decoded_block *decoded)
{
	struct nm_lane *l = r->running.thread->lane;
	uint64_t known;

	if (enter_library(r))
		return &nm_undecoded_block; /* decoding it fails */
	if (decoded != &nm_undecoded_block && nm_tables_of(decoded)->progresses)
		enter_progress(r);
	if (decoded->user_call == (NM_OF_LIBRARY | r->running.stack->user_call))
		return decoded;
	if (l->library_blocks.count >= LIBRARY_BLOCKS_MAX && r->running.stack->user_call)
		r->running.stack->user_call = 0;
	known = nm_map_get(&l->library_blocks, key_of(r, id), 0);
	if (!known)
		return &nm_undecoded_block;
	return r->decoded_blocks[id] = (struct nm_decoded_block *)(uintptr_t)known;
}

int nm_replay_note_call(struct nm_replay *r, struct nm_decoded_block *decoded,
			const struct nm_wire_block_info *info)
{
	if (!is_of_library(r, info->def.pc))
		return decoded->end == NM_WIRE_CALL
			   ? find_call(r, info, info->def.instructions, &decoded->user_call)
			   : 0;
	if (enter_library(r))
		return NM_ENOMEM;
	nm_tables_of(decoded)->progresses = is_of_progress(r, info->def.pc);
	if (nm_tables_of(decoded)->progresses)
		enter_progress(r);
	decoded->user_call = NM_OF_LIBRARY | r->running.stack->user_call;
	return nm_map_put(&r->running.thread->lane->library_blocks, key_of(r, nm_tables_of(decoded)->id),
			  (uintptr_t)decoded);
}

int nm_replay_instruction(struct nm_replay *r, const struct nm_decoded_block *decoded,
			  const struct nm_wire_block_info *info, uint32_t i, const struct nm_mapping *m,
			  uint32_t *ret_instruction)
{
	const uint64_t pc = nm_wire_instruction_pc(info->instructions[i]);
	uint32_t call = decoded->user_call & ~NM_OF_LIBRARY;

	if (nm_attributions_instruction(r->attrs, pc, m ? m->module : NULL, m ? m->bias : 0, ret_instruction))
		return NM_ENOMEM;
	if (!r->attrs->sites.at[r->attrs->instructions.at[*ret_instruction].site].is_library)
		return 0;
	if (!nm_is_of_library(decoded) && find_call(r, info, i, &call))
		return NM_ENOMEM;
	return call ? nm_attributions_called(r->attrs, *ret_instruction, call, ret_instruction) : 0;
}
