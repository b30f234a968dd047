/* SPDX-License-Identifier: MIT
 *
 * inherit.c - what the engine of a forked child inherits: its parent's block definitions (shared), and the
 * address space with its heap and the call stack of the forking thread (copied). Caches start cold and counts
 * at zero, so that a process's figures do not depend on when its parent forked.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"
#include "one_machine.h"

static int copy_frames(struct nm_frames *to, const struct nm_frames *from)
{
	to->current = from->current;
	to->returned_from = from->returned_from;
	to->returned_to = from->returned_to;
	for (size_t i = 0; i < from->stacks.count; i++) {
		const struct nm_stack *s = &from->stacks.at[i];
		struct nm_stack *copy;

		if (nm_frames_add(to, s->low, s->end))
			return NM_ENOMEM;
		copy = &to->stacks.at[i];
		if (nm_vec_reserve(&copy->frames, s->frames.count))
			return NM_ENOMEM;
		if (s->frames.count)
			memcpy(copy->frames.at, s->frames.at, s->frames.count * sizeof *s->frames.at);
		copy->frames.count = s->frames.count;
		copy->user_call = s->user_call;
		for (size_t k = 0; k < copy->frames.count; k++)
			copy->frames.at[k].context = 0; /* the child's tree begins here */
	}
	return 0;
}

/* A user's call (user_calls.h) as the child numbers it. */
static int translate_call(struct nm_engine *child, const struct nm_engine *parent, uint32_t *call)
{
	const uint32_t waits = *call & (NM_WAITS | NM_WAITS_AROUND), number = *call & ~waits;
	const struct nm_mapping *m;
	uint32_t instruction;
	uint64_t pc;

	if (!number)
		return 0;
	pc = parent->attrs.instructions.at[number - 1].pc;
	m = nm_space_mapping(&child->space, pc);
	if (nm_attributions_instruction(&child->attrs, pc, m ? m->module : NULL, m ? m->bias : 0,
					&instruction))
		return NM_ENOMEM;
	*call = nm_attributions_user_call(&child->attrs, instruction) | waits;
	return 0;
}

static int translate_calls(struct nm_engine *child, const struct nm_engine *parent, struct nm_frames *frames)
{
	int status = 0;

	for (size_t i = 0; i < frames->stacks.count; i++) {
		struct nm_stack *s = &frames->stacks.at[i];

		status = status ? status : translate_call(child, parent, &s->user_call);
		for (size_t k = 0; k < s->frames.count && !status; k++)
			status = translate_call(child, parent, &s->frames.at[k].user_call);
	}
	return status;
}

/* The child begins in the regions, and in the window's functions, that its thread has open. */
static int copy_regions(struct nm_engine *child, const struct nm_engine *parent, struct nm_thread *to,
			const struct nm_thread *from)
{
	if (nm_regions_copy(&child->regions, &parent->regions))
		return NM_ENOMEM;
	for (size_t i = 0; i < from->open.count; i++)
		if (nm_vec_push(&to->open, from->open.at[i]))
			return NM_ENOMEM;
	for (size_t i = 0; i < from->open_calls.count; i++)
		if (nm_vec_push(&to->open_calls, from->open_calls.at[i]))
			return NM_ENOMEM;
	return nm_replay_choose_lane(&child->replay, to);
}

/* Of the parent's threads the child has the one that forked. */
static int copy_thread(struct nm_engine *child, const struct nm_engine *parent, const struct nm_thread *from)
{
	struct nm_thread *t = nm_arena_alloc(&child->replay.decoder.arena, sizeof *t);

	if (!t || nm_vec_push(&child->threads, t))
		return NM_ENOMEM;
	t->wire = from->wire;
	t->number = child->threads_started = 1;
	t->live = 1;
	if (nm_replay_start_lanes(&child->replay, t) || copy_regions(child, parent, t, from))
		return NM_ENOMEM;
	return copy_frames(&t->frames, &from->frames) ? NM_ENOMEM
						      : translate_calls(child, parent, &t->frames);
}

static int copy_definitions(struct nm_engine *child, const struct nm_engine *parent)
{
	size_t n = parent->replay.decoder.definitions.count;

	nm_definition_store_release(child->replay.decoder.definition_store);
	child->replay.decoder.definition_store =
	    nm_definition_store_new(parent->replay.decoder.definition_store);
	if (!child->replay.decoder.definition_store || nm_vec_reserve(&child->replay.decoder.definitions, n))
		return NM_ENOMEM;
	if (n)
		memcpy(child->replay.decoder.definitions.at, parent->replay.decoder.definitions.at,
		       n * sizeof *parent->replay.decoder.definitions.at);
	child->replay.decoder.definitions.count = n;
	child->replay.decoder.longest = parent->replay.decoder.longest;
	return 0;
}

/* On one machine, the child's thread starts where its parent is, and has its pages. */
static int join_machine(struct nm_engine *child, struct nm_engine *parent)
{
	struct nm_machine_member *member = parent->output.member;

	return member ? nm_member_new(&child->output.member, child->options.one_machine, child, member, 1)
		      : 0;
}

int nm_engine_fork(struct nm_engine *e, uint32_t ordinal, struct nm_error *err)
{
	struct nm_engine *child;
	int status = e->output.member && nm_replay_flush(&e->replay)
			 ? nm_fail_memory(err)
			 : nm_engine_new_without_passes(&child, &e->options, err);

	if (status)
		return status;
	nm_replay_ask(&child->replay, e->replay.asked);
	child->has_pieces = e->has_pieces;
	nm_space_done(&child->space);
	nm_contexts_done(&child->contexts);
	if (nm_space_copy(&child->space, &e->space) || nm_areas_copy(&child->areas, &e->areas) ||
	    nm_contexts_copy(&child->contexts, &e->contexts) ||
	    nm_attributions_inherit_sites(&child->attrs, &e->attrs) || copy_definitions(child, e) ||
	    (e->replay.running.thread && copy_thread(child, e, e->replay.running.thread)) ||
	    join_machine(child, e) || nm_vec_push(&e->children, (struct nm_child){ordinal, child})) {
		nm_engine_free(child);
		return nm_fail_memory(err);
	}
	if (e->options.heap_chains)
		nm_space_forget_chains(&child->space);
	return 0;
}
