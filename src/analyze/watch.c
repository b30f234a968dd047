/* SPDX-License-Identifier: MIT
 *
 * watch.c - follows an allocation until its block is used, for the evidence on who forwards (contexts.h).
 *
 * A function that forwards returns before.  One that was inlined does not return: for it is noted where control
 * stood, in the function that called the allocator, when the watch ended.  Whether that is still within the
 * inlined function is asked when names are made (names.c), not in the run.
 */
#include "engine_priv.h"

enum { NO_ACCESS = UINT16_MAX };

void nm_engine_watch(struct nm_engine *e, uint32_t context, uint64_t address, uint64_t size)
{
	struct nm_frames *frames = &e->thread->frames;
	struct nm_watch *w = &e->thread->watch;

	if (w->context)
		nm_watch_note(w, &e->contexts,
			      nm_stack_pc(nm_frames_stack(frames), w->slot, frames->returned_from));
	*w = (struct nm_watch){
	    .context = context, .address = address, .end = address + size, .slot = nm_frames_top(frames)};
	nm_engine_choose(e);
}

/* The instruction of an access of a block; without one, the block's first. */
static uint64_t pc_of(const struct nm_engine *e, uint32_t id, size_t access)
{
	const struct nm_definition *d = &e->definitions.at[id];
	struct nm_wire_record r = {
	    .kind = NM_WIRE_BLOCK_DEF, .arg = id, .payload = d->words, .words = d->count};
	struct nm_wire_block_info info;

	if (nm_wire_block_decode(&r, &info, NULL))
		return 0;
	if (access == NO_ACCESS)
		return info.def.pc;
	return nm_wire_instruction_pc(info.instructions[nm_wire_access_instruction(info.accesses[access])]);
}

/* Decodes the block only if that is still to be noted: programs allocate often, from few places. */
static void end_watch(struct nm_engine *e, uint32_t id, size_t access)
{
	struct nm_watch *w = &e->thread->watch;

	if (!e->contexts.list.at[w->context].used[w->level])
		nm_watch_note(w, &e->contexts, nm_stack_pc(e->stack, w->slot, pc_of(e, id, access)));
	w->context = 0;
}

void nm_engine_watch_block(struct nm_engine *e, uint32_t id, const struct nm_plan *plan,
			   const uint64_t *words, struct nm_side_exit left)
{
	struct nm_watch *w = &e->thread->watch;
	const struct nm_single *single = e->tables.at[plan->tables].single;

	if (!e->tables.at[plan->tables].accesses) /* not every collector sends it */
		return;
	w->ran += left.instructions;
	for (size_t i = 0; i < left.accesses; i++) {
		const struct nm_origin *o = &e->origins.at[plan->first_origin + single[i].lane];
		uint64_t address = words[single[i].word] + single[i].distance;

		if (nm_origin_kind(o) == NM_REF_WRITE && address - w->address < w->end - w->address) {
			end_watch(e, id, i);
			return;
		}
	}
	if (w->ran > NM_FORWARD_INSTRUCTIONS)
		end_watch(e, id, NO_ACCESS);
}
