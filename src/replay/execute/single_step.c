/* SPDX-License-Identifier: MIT
 *
 * single_step.c - executes a block one access at a time. Needed for side exits of blocks with coalesced
 * accesses, prefetches (not references) and non-temporal stores, guarded accesses (address 0: not executed),
 * instruction fetches, observed allocations (contexts.h), pauses, contexts (calls.h) and signal handlers
 * (signals.h).
 */
#include "user_calls.h"

/* ---- references ---- */

/* Turns a reference into an uncounted one, for while measuring is off; its key is 0 if memory is
 * exhausted. */
static struct nm_ref make_uncounted(struct nm_replay *r, struct nm_ref ref, uint32_t site)
{
	r->uncounted += ref.kind == NM_REF_FETCH ? 0 : ref.weight;
	ref.weight = 0;
	ref.attr = nm_attributions_get(r->attrs, r->running.thread->lane->number, site, r->space->unmeasured);
	return ref;
}

/* Appends a reference, or the hint that it is. */
static int append_reference(struct nm_replay *r, struct nm_decoded_block *decoded, struct nm_access access,
			    uint64_t address)
{
	uint32_t access_site = decoded->first_access_site + access.entry;
	struct nm_ref ref;
	const int is_prefetch = (access.hint & NM_WIRE_PREFETCH) != 0;
	int open = nm_look_up_one(&decoded->entries[access.entry / NM_ENTRIES], access.entry % NM_ENTRIES,
				  address, &r->running.window, &ref);

	if (open) {
		if (!address) /* guarded, not executed */
			return 0;
		if (r->measuring &&
		    (nm_replay_resolve_pending(r) ||
		     !(ref.attr = nm_resolver_find(&r->resolver, decoded, access_site, address))))
			return NM_ENOMEM;
	}
	if (!r->measuring) {
		ref.weight = !is_prefetch;
		ref = make_uncounted(
		    r, ref, r->attrs->instructions.at[r->decoder.access_instructions.at[access_site]].site);
	}
	if (!ref.attr || (access.hint && nm_replay_hint(r, &ref, access.hint)))
		return NM_ENOMEM;
	if (is_prefetch)
		return 0;
	if (nm_replay_append(r, ref, r->measuring ? access_site : NM_NO_ACCESS))
		return NM_ENOMEM;
	if (access.sync != NM_SYNC_NONE)
		nm_batch_builder_synchronise_by(&r->builder, access.sync);
	return 0;
}

/* Fetches the instructions that were executed. A side exit may lie within a fetch run. */
static int fetch_all(struct nm_replay *r, const struct nm_decoded_block *decoded, struct nm_side_exit left,
		     uint64_t before)
{
	const struct nm_decoded_tables *t = nm_tables_of(decoded);

	for (uint32_t i = 0; i < t->fetches && t->fetch[i].first < left.instructions; i++) {
		const struct nm_fetch *f = &t->fetch[i];
		int whole = left.instructions - f->first >= f->instructions;
		uint8_t weight = whole ? f->instructions : (uint8_t)(left.instructions - f->first);
		uint8_t bytes = whole ? f->bytes : left.fetched;
		struct nm_ref ref = {f->address, f->attr, bytes, NM_REF_FETCH, weight};

		r->builder.instructions = before + f->first + weight;
		if (!r->measuring)
			ref = make_uncounted(r, ref, r->attrs->list.at[f->attr].site);
		if (!ref.attr || nm_replay_append(r, ref, NM_NO_ACCESS))
			return NM_ENOMEM;
	}
	return 0;
}

/* The number of instructions of a block up to and including that of an access. */
static uint32_t instructions_to(const struct nm_replay *r, const struct nm_decoded_block *decoded,
				uint32_t id, uint32_t access)
{
	enum { HEAD = 2 /* words of a definition before its instructions */ };

	return nm_wire_access_instruction(
		   r->decoder.definitions.at[id].words[HEAD + decoded->instructions + access]) +
	       1u;
}

static int measure_block(struct nm_replay *r, struct nm_decoded_block *decoded, uint32_t id,
			 const uint64_t *words, struct nm_side_exit left)
{
	uint64_t before = r->clock - r->unmeasured - left.instructions;
	const struct nm_access *single = nm_tables_of(decoded)->single;

	if (!r->measuring)
		nm_replay_pass_over(r, left.instructions);
	if (r->over || r->silent)
		return 0;
	if (r->measuring && nm_tables_of(decoded)->string_bytes)
		nm_replay_note_string(r, nm_tables_of(decoded)->string_bytes,
				      left.accesses * decoded->instructions /
					  nm_tables_of(decoded)->accesses);
	if (r->fetching && fetch_all(r, decoded, left, before))
		return NM_ENOMEM;
	for (uint32_t i = 0; i < left.accesses; i++) {
		if (r->builder.instruction_clock)
			r->builder.instructions = before + instructions_to(r, decoded, id, i);
		if (append_reference(r, decoded, single[i], words[single[i].word] + single[i].distance))
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
static int enter_block(struct nm_replay *r, const struct nm_decoded_block *decoded)
{
	const struct nm_object *function = &r->space->objects.at[decoded->stack_object];
	struct nm_signals *signals = &r->running.thread->signals;
	int leaping = function->leaps && decoded->end == NM_WIRE_JUMP;
	size_t stack;

	if (decoded->stack_object == NM_OBJECT_NONE) /* longjmp reaches the next one with a function */
		leaping = signals->leaping;
	signals->leaping &=
	    decoded->stack_object != NM_OBJECT_NONE && !function->leaps; /* not within itself */
	stack = nm_signals_run(signals, r->calls, &r->running.thread->frames, decoded->stack_object);
	signals->leaping = leaping;
	if (nm_replay_run_stack(r, stack))
		return NM_ENOMEM;
	return r->calls ? nm_calls_run(r->calls, r->running.stack, decoded->stack_object,
				       function->is_trampoline, r->builder.count)
			: 0;
}

/* Executes the call or return at the block's end. */
static int change_frame(struct nm_replay *r, const struct nm_decoded_block *decoded, uint64_t slot)
{
	struct nm_signals *signals = &r->running.thread->signals;
	int is_return = decoded->end == NM_WIRE_RETURN;

	if (signals->list.count) {
		if (!nm_stack_holds(r->running.stack, slot) && nm_replay_switch_stack(r, slot))
			return NM_ENOMEM;
		nm_resolver_forget_frames(&r->resolver, UINT64_MAX);
		nm_signals_leave(signals, &r->running.thread->frames, slot, is_return);
	}
	if (nm_replay_change_frame(r, decoded, slot))
		return NM_ENOMEM;
	if (r->calls)
		nm_calls_end(r->calls, r->attrs, r->running.stack, is_return ? 0 : decoded->call_pc);
	return 0;
}

/* The decoded block for the call that led here; NULL: *err says why. */
static struct nm_decoded_block *find_decoded(struct nm_replay *r, uint32_t id, struct nm_error *err)
{
	struct nm_decoded_block *decoded = id < r->decoded_room ? r->decoded_blocks[id] : &nm_undecoded_block;

	if (nm_is_of_other_call(&r->running, decoded))
		decoded = nm_replay_of_this_call(r, id, decoded);
	return decoded == &nm_undecoded_block ? nm_replay_decode_block(r, id, err) : decoded;
}

int nm_replay_single_step(struct nm_replay *r, const uint64_t *header, size_t n, struct nm_error *err)
{
	uint32_t id = nm_wire_arg(*header);
	struct nm_decoded_block *decoded;
	struct nm_wrapper_probe *w;
	struct nm_side_exit left;

	if (nm_replay_turn(r))
		return nm_fail_memory(err);
	decoded = find_decoded(r, id, err);
	if (!decoded)
		return err ? err->code : NM_EFORMAT;
	if (!find_exit(decoded, n, &left))
		return nm_fail(err, NM_EFORMAT, "block %u has no exit after %zu addresses", id, n);
	if (r->calls || r->running.thread->signals.list.count) {
		if (enter_block(r, decoded))
			return nm_fail_memory(err);
		if (!(decoded = find_decoded(r, id, err))) /* another stack, another call */
			return err ? err->code : NM_EFORMAT;
	}
	if (nm_tables_of(decoded)->watched && nm_replay_watch_call(r, nm_tables_of(decoded)->watched))
		return nm_fail_memory(err);
	r->clock += left.instructions;
	if (measure_block(r, decoded, id, header + 1, left))
		return nm_fail_memory(err);
	r->running.last = n == nm_tables_of(decoded)->words ? decoded : &nm_no_last_block;
	w = &r->running.thread->probe;
	if (w->context)
		nm_replay_probe_block(r, id, decoded, header + 1, left);
	if (n == nm_tables_of(decoded)->words && decoded->end != NM_WIRE_JUMP) {
		uint64_t slot = header[n] + decoded->frame;

		if (change_frame(r, decoded, slot))
			return nm_fail_memory(err);
		if (r->running.thread->open_calls.count)
			nm_replay_watch_frame(r, slot);
		if (w->context && decoded->end == NM_WIRE_RETURN)
			nm_wrapper_probe_return(w, r->contexts, slot,
						nm_frames_top(&r->running.thread->frames));
	}
	nm_replay_choose_path(r);
	return 0;
}
