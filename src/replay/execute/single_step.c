/* SPDX-License-Identifier: MIT
 *
 * single_step.c - executes a block one access at a time. Needed for side exits of blocks with coalesced
 * accesses, prefetches (not references), guarded accesses (address 0: not executed), instruction fetches,
 * observed allocations (contexts.h), pauses, contexts (calls.h) and signal handlers (signals.h).
 */
#include "user_calls.h"

/* ---- references ---- */

/* Turns a reference into an uncounted one, for while measuring is off; its key is 0 if memory is
 * exhausted. */
static struct nm_ref uncounted(struct nm_executor *x, struct nm_ref ref, uint32_t site)
{
	x->uncounted += ref.kind == NM_REF_FETCH ? 0 : ref.weight;
	ref.weight = 0;
	ref.attr = nm_attributions_get(x->attrs, x->running.thread->lane->number, site, x->space->unmeasured);
	return ref;
}

static int reference(struct nm_executor *x, struct nm_decoded_block *decoded, struct nm_access access,
		     uint64_t address)
{
	uint32_t access_site = decoded->first_access_site + access.entry;
	struct nm_ref ref;
	int open = nm_look_up_one(&decoded->entries[access.entry / NM_ENTRIES], access.entry % NM_ENTRIES,
				  address, &x->running.window, &ref);

	if (ref.kind == NM_PREFETCH)
		return 0;
	if (open) {
		if (!address) /* guarded, not executed */
			return 0;
		if (x->measuring &&
		    (nm_executor_resolve_pending(x) ||
		     !(ref.attr = nm_resolver_find(&x->resolver, decoded, access_site, address))))
			return NM_ENOMEM;
	}
	if (!x->measuring)
		ref = uncounted(
		    x, ref, x->attrs->instructions.at[x->decoder.access_instructions.at[access_site]].site);
	if (!ref.attr || nm_executor_append(x, ref, x->measuring ? access_site : NM_NO_ACCESS))
		return NM_ENOMEM;
	if (access.sync != NM_SYNC_NONE)
		nm_batch_builder_synchronise_by(&x->builder, access.sync);
	return 0;
}

/* Fetches the instructions that were executed. A side exit may lie within a fetch run. */
static int fetch_all(struct nm_executor *x, const struct nm_decoded_block *decoded, struct nm_side_exit left,
		     uint64_t before)
{
	const struct nm_decoded_tables *t = nm_tables_of(decoded);

	for (uint32_t i = 0; i < t->fetches && t->fetch[i].first < left.instructions; i++) {
		const struct nm_fetch *f = &t->fetch[i];
		int whole = left.instructions - f->first >= f->instructions;
		uint8_t weight = whole ? f->instructions : (uint8_t)(left.instructions - f->first);
		uint8_t bytes = whole ? f->bytes : left.fetched;
		struct nm_ref ref = {f->address, f->attr, bytes, NM_REF_FETCH, weight};

		x->builder.instructions = before + f->first + weight;
		if (!x->measuring)
			ref = uncounted(x, ref, x->attrs->list.at[f->attr].site);
		if (!ref.attr || nm_executor_append(x, ref, NM_NO_ACCESS))
			return NM_ENOMEM;
	}
	return 0;
}

/* The number of instructions of a block up to and including that of an access. */
static uint32_t instructions_to(const struct nm_executor *x, const struct nm_decoded_block *decoded,
				uint32_t id, uint32_t access)
{
	enum { HEAD = 2 /* words of a definition before its instructions */ };

	return nm_wire_access_instruction(
		   x->decoder.definitions.at[id].words[HEAD + decoded->instructions + access]) +
	       1u;
}

static int measure(struct nm_executor *x, struct nm_decoded_block *decoded, uint32_t id,
		   const uint64_t *words, struct nm_side_exit left)
{
	uint64_t before = x->clock - x->unmeasured - left.instructions;
	const struct nm_access *single = nm_tables_of(decoded)->single;

	if (!x->measuring)
		nm_executor_pass_over(x, left.instructions);
	if (x->over)
		return 0;
	if (x->measuring && nm_tables_of(decoded)->string_bytes)
		nm_executor_note_string(x, nm_tables_of(decoded)->string_bytes,
					left.accesses * decoded->instructions /
					    nm_tables_of(decoded)->accesses);
	if (x->fetching && fetch_all(x, decoded, left, before))
		return NM_ENOMEM;
	for (uint32_t i = 0; i < left.accesses; i++) {
		if (x->builder.instruction_clock)
			x->builder.instructions = before + instructions_to(x, decoded, id, i);
		if (reference(x, decoded, single[i], words[single[i].word] + single[i].distance))
			return NM_ENOMEM;
	}
	return 0;
}

/* ---- executions ---- */

/* Finds the exit of a block that has sent n address words: 1, or 0 if there is none. */
static int find_exit(const struct nm_decoded_block *decoded, size_t n, struct nm_side_exit *ret_left)
{
	const struct nm_decoded_tables *t = nm_tables_of(decoded);
	const struct nm_side_exit *exit;

	if (n == t->words) {
		*ret_left = (struct nm_side_exit){.accesses = (uint16_t)t->accesses,
						  .instructions = decoded->instructions,
						  .words = (uint16_t)n};
		return 1;
	}
	exit = nm_side_exit_after(t, n);
	if (exit)
		*ret_left = *exit;
	return exit != NULL;
}

/* Switches to the stack and the context of the block. */
static int enter(struct nm_executor *x, const struct nm_decoded_block *decoded)
{
	const struct nm_object *function = &x->space->objects.at[decoded->stack_object];
	struct nm_signals *signals = &x->running.thread->signals;
	int leaping = function->leaps && decoded->end == NM_WIRE_JUMP;
	size_t stack;

	if (decoded->stack_object == NM_OBJECT_NONE) /* longjmp reaches the next one with a function */
		leaping = signals->leaping;
	signals->leaping &=
	    decoded->stack_object != NM_OBJECT_NONE && !function->leaps; /* not within itself */
	stack = nm_signals_run(signals, x->calls, &x->running.thread->frames, decoded->stack_object);
	signals->leaping = leaping;
	if (nm_executor_run_stack(x, stack))
		return NM_ENOMEM;
	return x->calls ? nm_calls_run(x->calls, x->running.stack, decoded->stack_object,
				       function->is_trampoline, x->builder.count)
			: 0;
}

/* Executes the call or return at the block's end. */
static int change_frame(struct nm_executor *x, const struct nm_decoded_block *decoded, uint64_t slot)
{
	struct nm_signals *signals = &x->running.thread->signals;
	int is_return = decoded->end == NM_WIRE_RETURN;

	if (signals->list.count) {
		if (!nm_stack_holds(x->running.stack, slot) && nm_executor_switch_stack(x, slot))
			return NM_ENOMEM;
		nm_resolver_forget_frames(&x->resolver, UINT64_MAX);
		nm_signals_leave(signals, &x->running.thread->frames, slot, is_return);
	}
	if (nm_executor_change_frame(x, decoded, slot))
		return NM_ENOMEM;
	if (x->calls)
		nm_calls_end(x->calls, x->attrs, x->running.stack, is_return ? 0 : decoded->call_pc);
	return 0;
}

/* The decoded block for the call that led here; NULL: *err says why. */
static struct nm_decoded_block *find_decoded(struct nm_executor *x, uint32_t id, struct nm_error *err)
{
	struct nm_decoded_block *decoded = id < x->decoded_room ? x->decoded_blocks[id] : &nm_undecoded_block;

	if (nm_is_of_other_call(&x->running, decoded))
		decoded = nm_executor_of_this_call(x, id, decoded);
	return decoded == &nm_undecoded_block ? nm_executor_decode_block(x, id, err) : decoded;
}

int nm_executor_single_step(struct nm_executor *x, const uint64_t *header, size_t n, struct nm_error *err)
{
	uint32_t id = nm_wire_arg(*header);
	struct nm_decoded_block *decoded;
	struct nm_wrapper_probe *w;
	struct nm_side_exit left;

	if (nm_executor_turn(x))
		return nm_fail_memory(err);
	decoded = find_decoded(x, id, err);
	if (!decoded)
		return err ? err->code : NM_EFORMAT;
	if (!find_exit(decoded, n, &left))
		return nm_fail(err, NM_EFORMAT, "block %u has no exit after %zu addresses", id, n);
	if (x->calls || x->running.thread->signals.list.count) {
		if (enter(x, decoded))
			return nm_fail_memory(err);
		if (!(decoded = find_decoded(x, id, err))) /* another stack, another call */
			return err ? err->code : NM_EFORMAT;
	}
	if (nm_tables_of(decoded)->watched && nm_executor_watch_call(x, nm_tables_of(decoded)->watched))
		return nm_fail_memory(err);
	x->clock += left.instructions;
	if (measure(x, decoded, id, header + 1, left))
		return nm_fail_memory(err);
	x->running.last = n == nm_tables_of(decoded)->words ? decoded : &nm_no_last_block;
	w = &x->running.thread->probe;
	if (w->context)
		nm_executor_probe_block(x, id, decoded, header + 1, left);
	if (n == nm_tables_of(decoded)->words && decoded->end != NM_WIRE_JUMP) {
		uint64_t slot = header[n] + decoded->frame;

		if (change_frame(x, decoded, slot))
			return nm_fail_memory(err);
		if (x->running.thread->open_calls.count)
			nm_executor_watch_frame(x, slot);
		if (w->context && decoded->end == NM_WIRE_RETURN)
			nm_wrapper_probe_return(w, x->contexts, slot,
						nm_frames_top(&x->running.thread->frames));
	}
	nm_executor_choose_path(x);
	return 0;
}
