/* SPDX-License-Identifier: MIT
 *
 * wrapper_probe.c - follows an allocation until its block is used, to find allocation wrappers (contexts.h).
 *
 * A wrapper returns before the block is used. An inlined wrapper does not return, so the probe notes where in
 * the function that called the allocator it ended. Whether that is still within the inlined function is
 * decided when objects are named (names.c).
 */
#include "replay.h"

enum { NO_ACCESS = UINT16_MAX };

void nm_replay_probe_wrapper(struct nm_replay *r, uint32_t context, unsigned levels, uint64_t address,
			     uint64_t size)
{
	struct nm_frames *frames = &r->running.thread->frames;
	struct nm_wrapper_probe *w = &r->running.thread->probe;

	if (w->context)
		nm_wrapper_probe_note(w, r->contexts,
				      nm_stack_pc(nm_frames_stack(frames), w->slot, frames->returned_from));
	*w = (struct nm_wrapper_probe){.context = context,
				       .levels = levels < NM_FORWARD_LEVELS ? levels : NM_FORWARD_LEVELS,
				       .address = address,
				       .end = address + size,
				       .slot = nm_frames_top(frames)};
	nm_replay_choose_path(r);
}

/* The instruction of an access of a block; without one, the block's first. */
static uint64_t pc_of(const struct nm_replay *x, uint32_t id, size_t access)
{
	const struct nm_definition *d = &x->decoder.definitions.at[id];
	struct nm_wire_record r = {
	    .kind = NM_WIRE_BLOCK_DEF, .arg = id, .payload = d->words, .words = d->count};
	struct nm_wire_block_info info;

	if (nm_wire_block_decode(&r, &info, NULL))
		return 0;
	if (access == NO_ACCESS)
		return info.def.pc;
	return nm_wire_instruction_pc(info.instructions[nm_wire_access_instruction(info.accesses[access])]);
}

/* Decodes the block only if the position is not known yet: programs allocate often, from few call sites. */
static void end_probe(struct nm_replay *r, uint32_t id, size_t access)
{
	struct nm_wrapper_probe *w = &r->running.thread->probe;

	if (!r->contexts->list.at[w->context].used[w->level])
		nm_wrapper_probe_note(w, r->contexts,
				      nm_stack_pc(r->running.stack, w->slot, pc_of(r, id, access)));
	w->context = 0;
}

void nm_replay_probe_block(struct nm_replay *r, uint32_t id, const struct nm_decoded_block *decoded,
			   const uint64_t *words, struct nm_side_exit left)
{
	struct nm_wrapper_probe *w = &r->running.thread->probe;
	const struct nm_access *single = nm_tables_of(decoded)->single;

	if (!nm_tables_of(decoded)->accesses) /* not every collector sends it */
		return;
	w->ran += left.instructions;
	for (size_t i = 0; i < left.accesses; i++) {
		const struct nm_access_site *s =
		    &r->decoder.access_sites.at[decoded->first_access_site + single[i].entry];
		uint64_t address = words[single[i].word] + single[i].distance;

		if (nm_access_site_kind(s) == NM_REF_WRITE && address - w->address < w->end - w->address) {
			end_probe(r, id, i);
			return;
		}
	}
	if (w->ran > NM_FORWARD_INSTRUCTIONS)
		end_probe(r, id, NO_ACCESS);
}
