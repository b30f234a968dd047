/* SPDX-License-Identifier: MIT */
#include "sampled.h"

#include <string.h>

#include "engine_priv.h"

/* ---- calls ---- */

/* The stack object of the function around pc. */
static int function_object(struct nm_engine *e, uint64_t pc, uint32_t *ret_object)
{
	uint64_t known = nm_map_get(&e->sampled.frame_objects, pc, 0);
	struct nm_code_function f;

	if (!known) {
		f = nm_decoder_function_at(nm_space_mapping(&e->space, pc), pc);
		if (nm_space_frame_object(&e->space, f.name, f.nameless, f.locals, ret_object))
			return NM_ENOMEM;
		return nm_map_put(&e->sampled.frame_objects, pc, *ret_object);
	}
	*ret_object = (uint32_t)known;
	return 0;
}

/* Makes the stack around slot the running one. */
static int run_stack_of(struct nm_engine *e, uint64_t slot)
{
	return slot - e->replay.running.window.low >= e->replay.running.window.length
		   ? nm_replay_switch_stack(&e->replay, slot)
		   : 0;
}

static int enter_call(struct nm_engine *e, struct nm_wire_call call)
{
	uint32_t caller;

	if (function_object(e, call.pc, &caller) || run_stack_of(e, call.slot) ||
	    nm_stack_push(e->replay.running.stack, call.slot, call.pc, caller))
		return NM_ENOMEM;
	nm_stack_window_own(&e->replay.running.window, call.slot + 8);
	return 0;
}

static int leave_call(struct nm_engine *e, uint64_t slot)
{
	if (run_stack_of(e, slot))
		return NM_ENOMEM;
	nm_frames_pop(&e->replay.running.thread->frames, e->replay.running.stack, slot);
	nm_stack_window_own(&e->replay.running.window, nm_stack_top(e->replay.running.stack));
	return 0;
}

static int on_frames(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_frames f;
	int status = nm_wire_frames_decode(r, &f, err);

	if (status)
		return status;
	if (f.ended && leave_call(e, f.ended))
		return nm_fail_memory(err);
	for (uint32_t i = 0; i < f.count; i++)
		if (enter_call(e, f.calls[i]))
			return nm_fail_memory(err);
	return 0;
}

/* ---- samples ---- */

/* What the running function, which is at pc, has at an address in its own frame. */
static int own_object(struct nm_engine *e, uint64_t pc, uint64_t address, uint32_t *ret_object)
{
	const struct nm_stack_window *window = &e->replay.running.window;
	struct nm_frame_place frame = {.end = window->low + window->own};

	if (function_object(e, pc, &frame.object))
		return NM_ENOMEM;
	*ret_object = nm_space_object_in_frame(&e->space, frame, address);
	return 0;
}

/* The instruction at pc; *ret_is_library: no frame of it is the user's code. */
static int find_instruction(struct nm_engine *e, uint64_t pc, uint32_t *ret_instruction, int *ret_is_library)
{
	const struct nm_mapping *m = nm_space_mapping(&e->space, pc);

	if (nm_attributions_instruction(&e->attrs, pc, m ? m->module : NULL, m ? m->bias : 0,
					ret_instruction))
		return NM_ENOMEM;
	*ret_is_library = e->attrs.sites.at[e->attrs.instructions.at[*ret_instruction].site].is_library;
	return 0;
}

/* The instruction at pc, of library code with the user's call that led there (user_calls.h). */
static int find_called(struct nm_engine *e, uint64_t pc, uint32_t *ret_instruction)
{
	const struct nm_stack *s = e->replay.running.stack;
	int is_library;

	if (find_instruction(e, pc, ret_instruction, &is_library))
		return NM_ENOMEM;
	for (size_t i = s->frames.count; is_library && i-- > 0;) {
		uint32_t call;

		if (find_instruction(e, s->frames.at[i].call_pc, &call, &is_library))
			return NM_ENOMEM;
		if (!is_library)
			return nm_attributions_called(&e->attrs, *ret_instruction,
						      nm_attributions_user_call(&e->attrs, call),
						      ret_instruction);
	}
	return 0;
}

/* The attribution of a reference that the instruction at pc makes now; 0: out of memory. */
static uint32_t attribution_at(struct nm_engine *e, uint64_t pc, uint64_t address)
{
	uint32_t instruction, object;

	if (find_called(e, pc, &instruction))
		return 0;
	if (address - e->replay.running.window.low < e->replay.running.window.own
		? own_object(e, pc, address, &object)
		: nm_resolver_object_at(&e->replay.resolver, address, &object))
		return 0;
	return nm_attributions_get(&e->attrs, e->replay.running.thread->lane->number,
				   e->attrs.instructions.at[instruction].site, object);
}

static int on_sample(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_sample s;
	struct nm_open_sample open;
	int status = nm_wire_sample_decode(r, &s, err);

	if (status)
		return status;
	open = (struct nm_open_sample){s.clock, attribution_at(e, s.code.pc, s.address)};
	if (!open.attr || nm_vec_push(&e->sampled.samples, open))
		return nm_fail_memory(err);
	e->sampled.taken++;
	e->replay.builder.references = s.clock + 1;
	return 0;
}

/* Drops ended samples when they are most of the list. */
static void forget_ended(struct nm_sampled *s)
{
	enum { WORTH_IT = 1024 };
	size_t n = 0;

	if (s->samples.count < WORTH_IT || s->ended < s->samples.count / 2)
		return;
	for (size_t i = 0; i < s->samples.count; i++)
		if (s->samples.at[i].attr)
			s->samples.at[n++] = s->samples.at[i];
	s->samples.count = n;
	s->ended = 0;
}

/* The open sample that began at a clock, or NULL. */
static struct nm_open_sample *find_sample(struct nm_sampled *s, uint64_t clock)
{
	size_t low = 0, high = s->samples.count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->samples.at[mid].clock < clock)
			low = mid + 1;
		else
			high = mid;
	}
	return low < s->samples.count && s->samples.at[low].clock == clock && s->samples.at[low].attr
		   ? &s->samples.at[low]
		   : NULL;
}

/* References that a sample stands for. */
static double sample_weight(const struct nm_sampled *s) { return 1e9 / s->options.rate; }

static int on_reuse(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_reuse u;
	struct nm_open_sample *open;
	struct nm_reuse_sample sample;
	int status = nm_wire_reuse_decode(r, &u, err);

	if (status)
		return status;
	open = find_sample(&e->sampled, u.sample);
	if (!open)
		return nm_fail(err, NM_EFORMAT, "a reuse of no sample");
	sample = (struct nm_reuse_sample){.start = open->clock + 1,
					  .distance = u.clock - u.sample - 1,
					  .starter = open->attr,
					  .key = attribution_at(e, u.code.pc, u.address),
					  .weight = sample_weight(&e->sampled)};
	if (!sample.key || nm_passes_reuse(&e->feed.passes, &sample))
		return nm_fail_memory(err);
	open->attr = 0;
	e->sampled.ended++;
	forget_ended(&e->sampled);
	e->replay.builder.references = u.clock + 1;
	return 0;
}

static int on_clock(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_clock t;
	int status = nm_wire_clock_decode(r, &t, err);

	if (!status)
		e->replay.builder.references = t.references;
	return status;
}

int nm_engine_sampled(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	if (r->kind == NM_WIRE_SAMPLING)
		return nm_wire_sampling_decode(r, &e->sampled.options, err);
	if (r->kind == NM_WIRE_CLOCK)
		return on_clock(e, r, err);
	if (!e->sampled.options.rate || !e->replay.running.thread)
		return nm_fail(err, NM_EFORMAT,
			       "a sample in a stream that is not sampled, or before any thread runs");
	switch (r->kind) {
	case NM_WIRE_FRAMES: return on_frames(e, r, err);
	case NM_WIRE_SAMPLE: return on_sample(e, r, err);
	default: return on_reuse(e, r, err);
	}
}

int nm_engine_end_samples(struct nm_engine *e)
{
	const struct nm_sampled *s = &e->sampled;

	for (size_t i = 0; i < s->samples.count; i++) {
		const struct nm_reuse_sample sample = {.start = s->samples.at[i].clock + 1,
						       .distance = NM_NO_REUSE,
						       .starter = s->samples.at[i].attr,
						       .weight = sample_weight(s)};

		if (sample.starter && nm_passes_reuse(&e->feed.passes, &sample))
			return NM_ENOMEM;
	}
	return 0;
}

void nm_sampled_done(struct nm_sampled *s)
{
	nm_vec_free(&s->samples);
	nm_map_done(&s->frame_objects);
}
