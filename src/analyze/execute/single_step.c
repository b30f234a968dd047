/* SPDX-License-Identifier: MIT
 *
 * single_step.c - executes a block one access at a time. Needed for side exits, prefetches (not references),
 * guarded accesses (address 0: not executed), instruction fetches, observed allocations (contexts.h), pauses,
 * contexts (calls.h) and signal handlers (signals.h). Also handles calls and returns that leave the running
 * stack.
 */
#include "engine_priv.h"

enum { STACK_REACH = 1 << 18 /* bytes below a call on an unknown stack that are taken for the stack */ };

void nm_engine_run_thread(struct nm_engine *e)
{
	struct nm_stack *s = nm_frames_stack(&e->thread->frames);

	e->stack = s;
	e->window = (struct nm_stack_window){.low = s->low, .length = s->end - s->low};
	nm_stack_window_own(&e->window, nm_stack_top(s));
	nm_engine_choose_path(e);
}

void nm_engine_choose_path(struct nm_engine *e)
{
	const struct nm_thread *t = e->thread;

	e->single_step = e->fetching || !e->measuring || e->calls || e->builder.instruction_clock ||
			 (t && (t->probe.context || t->signals.list.count));
}

int nm_engine_run_stack(struct nm_engine *e, size_t index)
{
	if (index == e->thread->frames.current)
		return 0;
	if (nm_engine_resolve_pending(e))
		return NM_ENOMEM;
	e->thread->frames.current = index;
	nm_engine_run_thread(e);
	return 0;
}

/* ---- references ---- */

/* What a reference that a site makes becomes while measuring is off; its key is 0 if memory is exhausted. */
static struct nm_ref uncounted(struct nm_engine *e, struct nm_ref ref, uint32_t site)
{
	ref.weight = 0;
	ref.attr = nm_attributions_get(&e->attrs, e->thread->number, site, e->space.unmeasured);
	return ref;
}

static int reference(struct nm_engine *e, struct nm_decoded_block *decoded, struct nm_access access,
		     uint64_t address)
{
	uint32_t access_site = decoded->first_access_site + access.entry;
	struct nm_ref ref;
	int open = nm_look_up_one(&decoded->entries[access.entry / NM_ENTRIES], access.entry % NM_ENTRIES,
				  address, &e->window, &ref);

	if (ref.kind == NM_PREFETCH)
		return 0;
	if (open) {
		if (!address) /* guarded, not executed */
			return 0;
		if (e->measuring && !(ref.attr = nm_engine_resolve(e, decoded, access_site, address)))
			return NM_ENOMEM;
	}
	if (!e->measuring)
		ref = uncounted(
		    e, ref, e->attrs.instructions.at[e->decoder.access_instructions.at[access_site]].site);
	if (!ref.attr || nm_engine_append(e, ref, e->measuring ? access_site : NM_NO_ACCESS))
		return NM_ENOMEM;
	if (access.sync != NM_SYNC_NONE)
		nm_engine_synchronise_by(e, access.sync);
	return 0;
}

/* Fetches the instructions that were executed. A side exit may lie within a fetch run. */
static int fetch_all(struct nm_engine *e, const struct nm_decoded_block *decoded, struct nm_side_exit left,
		     uint64_t before)
{
	const struct nm_decoded_tables *t = &e->decoder.tables.at[decoded->tables];

	for (uint32_t i = 0; i < t->fetches && t->fetch[i].first < left.instructions; i++) {
		const struct nm_fetch *f = &t->fetch[i];
		int whole = left.instructions - f->first >= f->instructions;
		uint8_t weight = whole ? f->instructions : (uint8_t)(left.instructions - f->first);
		uint8_t bytes = whole ? f->bytes : left.fetched;
		struct nm_ref ref = {f->address, f->attr, bytes, NM_REF_FETCH, weight};

		e->builder.instructions = before + f->first + weight;
		if (!e->measuring)
			ref = uncounted(e, ref, e->attrs.list.at[f->attr].site);
		if (!ref.attr || nm_engine_append(e, ref, NM_NO_ACCESS))
			return NM_ENOMEM;
	}
	return 0;
}

/* The number of instructions of a block up to and including that of an access. */
static uint32_t instructions_to(const struct nm_engine *e, const struct nm_decoded_block *decoded,
				uint32_t id, uint32_t access)
{
	enum { HEAD = 2 /* words of a definition before its instructions */ };

	return nm_wire_access_instruction(
		   e->decoder.definitions.at[id].words[HEAD + decoded->instructions + access]) +
	       1u;
}

static int measure(struct nm_engine *e, struct nm_decoded_block *decoded, uint32_t id, const uint64_t *words,
		   struct nm_side_exit left)
{
	uint64_t before = e->clock - e->unmeasured - left.instructions;
	const struct nm_access *single = e->decoder.tables.at[decoded->tables].single;

	if (!e->measuring)
		e->unmeasured += left.instructions;
	if (e->fetching && fetch_all(e, decoded, left, before))
		return NM_ENOMEM;
	for (uint32_t i = 0; i < left.accesses; i++) {
		if (e->builder.instruction_clock)
			e->builder.instructions = before + instructions_to(e, decoded, id, i);
		if (reference(e, decoded, single[i], words[single[i].word] + single[i].distance))
			return NM_ENOMEM;
	}
	return 0;
}

/* ---- calls and returns ---- */

/* Makes the stack around slot the current one. */
int nm_engine_switch_stack(struct nm_engine *e, uint64_t slot)
{
	struct nm_block b;
	const struct nm_mapping *m = nm_space_mapping(&e->space, slot);
	struct nm_frames *frames = &e->thread->frames;
	uint64_t low = slot & ~(uint64_t)(STACK_REACH - 1), end = low + STACK_REACH;
	size_t known = frames->stacks.count;

	if (nm_engine_resolve_pending(e))
		return NM_ENOMEM;
	if (nm_blocks_find(&e->space.heap, slot, &b)) {
		low = b.address;
		end = b.address + b.size;
	} else if (m) {
		low = slot - m->address > STACK_REACH ? slot - STACK_REACH : m->address;
		end = m->end;
	}
	for (size_t i = 0; i < known; i++)
		if (nm_stack_holds(&frames->stacks.at[i], slot)) {
			low = frames->stacks.at[i].low;
			end = frames->stacks.at[i].end;
			break;
		}
	if (nm_frames_switch(frames, low, end))
		return NM_ENOMEM;
	if (frames->stacks.count > known)
		nm_engine_forget_mapped_ranges(e);
	nm_engine_run_thread(e);
	return 0;
}

int nm_engine_change_any_frame(struct nm_engine *e, const struct nm_decoded_block *decoded, uint64_t slot)
{
	if ((slot - e->window.low >= e->window.length && nm_engine_switch_stack(e, slot)) ||
	    nm_vec_reserve(&e->stack->frames, 1))
		return NM_ENOMEM;
	nm_engine_put_frame(e, decoded, slot);
	return 0;
}

/* ---- executions ---- */

/* How a block was left after n of its address words: 1 if that is its end or an exit. */
static int find_exit(const struct nm_engine *e, const struct nm_decoded_block *decoded, size_t n,
		     struct nm_side_exit *ret_left)
{
	const struct nm_decoded_tables *t = &e->decoder.tables.at[decoded->tables];

	if (n == t->words) {
		*ret_left = (struct nm_side_exit){.accesses = (uint16_t)t->accesses,
						  .instructions = decoded->instructions,
						  .words = (uint16_t)n};
		return 1;
	}
	for (uint32_t i = 0; i < t->exits; i++)
		if (t->exit[i].words == n) {
			*ret_left = t->exit[i];
			return 1;
		}
	return 0;
}

/* Switches to the stack and the context of the block. */
static int enter(struct nm_engine *e, const struct nm_decoded_block *decoded)
{
	const struct nm_object *function = &e->space.objects.at[decoded->stack_object];
	struct nm_signals *signals = &e->thread->signals;
	int leaping = function->leaps && decoded->end == NM_WIRE_JUMP;
	size_t stack;

	if (decoded->stack_object == NM_OBJECT_NONE) /* longjmp leads to the next with a function */
		leaping = signals->leaping;
	signals->leaping &=
	    decoded->stack_object != NM_OBJECT_NONE && !function->leaps; /* not within itself */
	stack = nm_signals_run(signals, e->calls, &e->thread->frames, decoded->stack_object);
	signals->leaping = leaping;
	if (nm_engine_run_stack(e, stack))
		return NM_ENOMEM;
	return e->calls ? nm_calls_run(e->calls, e->stack, decoded->stack_object, function->is_trampoline,
				       e->builder.count)
			: 0;
}

/* Executes the call or return at the block's end. */
static int change_frame(struct nm_engine *e, const struct nm_decoded_block *decoded, uint64_t slot)
{
	struct nm_signals *signals = &e->thread->signals;
	int is_return = decoded->end == NM_WIRE_RETURN;

	if (signals->list.count) {
		if (!nm_stack_holds(e->stack, slot) && nm_engine_switch_stack(e, slot))
			return NM_ENOMEM;
		nm_signals_leave(signals, &e->thread->frames, slot, is_return);
	}
	if (nm_engine_change_frame(e, decoded, slot))
		return NM_ENOMEM;
	if (e->calls)
		nm_calls_end(e->calls, &e->attrs, e->stack, is_return ? 0 : decoded->call_pc);
	return 0;
}

int nm_engine_single_step(struct nm_engine *e, const uint64_t *header, size_t n, struct nm_error *err)
{
	uint32_t id = nm_wire_arg(*header);
	struct nm_decoded_block *decoded = id < e->decoded_room ? e->decoded_blocks[id] : &nm_undecoded_block;
	struct nm_wrapper_probe *w;
	struct nm_side_exit left;

	if (decoded == &nm_undecoded_block && !(decoded = nm_engine_decode_block(e, id, err)))
		return err ? err->code : NM_EFORMAT;
	if (!find_exit(e, decoded, n, &left))
		return nm_fail(err, NM_EFORMAT, "block %u has no exit after %zu addresses", id, n);
	e->clock += left.instructions;
	if ((e->calls || e->thread->signals.list.count) && enter(e, decoded))
		return nm_fail_memory(err);
	if (measure(e, decoded, id, header + 1, left))
		return nm_fail_memory(err);
	w = &e->thread->probe;
	if (w->context)
		nm_engine_probe_block(e, id, decoded, header + 1, left);
	if (n == e->decoder.tables.at[decoded->tables].words && decoded->end != NM_WIRE_JUMP) {
		uint64_t slot = header[n] + decoded->frame;

		if (change_frame(e, decoded, slot))
			return nm_fail_memory(err);
		if (w->context && decoded->end == NM_WIRE_RETURN)
			nm_wrapper_probe_return(w, &e->contexts, slot, nm_frames_top(&e->thread->frames));
	}
	nm_engine_choose_path(e);
	return 0;
}
