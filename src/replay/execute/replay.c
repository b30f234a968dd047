/* SPDX-License-Identifier: MIT
 *
 * replay.c - the executor's life, and which thread, stack and frame run, in which lane (regions.h).
 *
 * Frames of calls and returns within the running stack are changed by inline functions (replay.h). A call
 * or return elsewhere is a switch of stacks, as by coroutines, swapcontext or signal handlers: the stack is
 * one that is known, a heap block, or the surroundings of the slot in its mapping.
 */
#include "replay.h"

#include <stdlib.h>

nm_execute_function *nm_execute_supported(unsigned i)
{
	nm_execute_function *list[2];
	unsigned n = 0;
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		list[n++] = nm_execute_avx2;
#endif
	list[n++] = nm_execute_plain;
	return i < n ? list[i] : NULL;
}

enum { STACK_REACH = 1 << 18 /* bytes below a call on an unknown stack that are taken for the stack */ };

int nm_executor_init(struct nm_executor *x, const struct nm_executor_process *process)
{
	x->measuring = x->asked = x->inside = 1;
	x->attrs = process->attrs;
	x->calls = process->calls;
	x->regions = process->regions;
	x->space = process->space;
	x->contexts = process->contexts;
	nm_bursts_init(&x->builder.bursts);
	x->resolver.decoder = &x->decoder;
	x->resolver.running = &x->running;
	x->resolver.attrs = process->attrs;
	x->resolver.space = process->space;
	x->resolver.contexts = process->contexts;
	x->resolver.threads = process->threads;
	nm_executor_choose_path(x);
	x->decoder.definition_store = nm_definition_store_new(NULL);
	return x->decoder.definition_store && !nm_resolver_init(&x->resolver) ? 0 : NM_ENOMEM;
}

void nm_executor_free_code(struct nm_executor *x)
{
	x->running.thread = NULL;
	nm_arena_done(&x->decoder.arena);
	nm_vec_free(&x->decoder.decoded);
	nm_vec_free(&x->decoder.access_sites);
	nm_vec_free(&x->decoder.access_instructions);
	nm_vec_free(&x->decoder.access_chases);
	nm_vec_free(&x->resolver.listed);
	nm_vec_free(&x->resolver.framed);
	nm_vec_free(&x->resolver.range_holders);
	nm_vec_free(&x->decoder.definitions);
	nm_definition_store_release(x->decoder.definition_store);
	x->decoder.definition_store = NULL;
}

void nm_executor_done(struct nm_executor *x)
{
	free(x->builder.syncs);
	nm_instruction_clock_free(x->builder.instruction_clock);
	nm_resolver_done(&x->resolver);
	nm_executor_free_code(x);
}

void nm_executor_choose_path(struct nm_executor *x)
{
	const struct nm_thread *t = x->running.thread;

	nm_executor_watch_limits(x);
	x->single_step = x->clock >= x->careful_from || x->fetching || !x->measuring ||
			 nm_window_needs_steps(&x->window) || x->calls || x->builder.instruction_clock ||
			 (t && (t->probe.context || t->signals.list.count));
}

void nm_executor_run_thread(struct nm_executor *x)
{
	struct nm_stack *s = nm_frames_stack(&x->running.thread->frames);

	nm_resolver_forget_frames(&x->resolver, UINT64_MAX);
	x->running.stack = s;
	x->running.last = &nm_no_last_block;
	x->running.window = (struct nm_stack_window){.low = s->low, .length = s->end - s->low};
	nm_stack_window_own(&x->running.window, nm_stack_top(s));
	nm_executor_choose_path(x);
}

void nm_executor_switch_thread(struct nm_executor *x, struct nm_thread *thread)
{
	x->running.thread = thread;
	x->decoded_blocks = thread->lane->decoded_blocks;
	x->decoded_room = thread->lane->decoded_room;
	if (thread->lane->region != x->regions->current)
		nm_regions_run(x->regions, thread->lane->region, nm_executor_measured(x));
	nm_executor_run_thread(x);
}

int nm_executor_run_stack(struct nm_executor *x, size_t index)
{
	struct nm_frames *frames = &x->running.thread->frames;

	if (index == frames->current)
		return 0;
	if (nm_executor_resolve_pending(x))
		return NM_ENOMEM;
	frames->current = index;
	nm_executor_run_thread(x);
	return 0;
}

int nm_executor_switch_stack(struct nm_executor *x, uint64_t slot)
{
	struct nm_block b;
	const struct nm_mapping *m = nm_space_mapping(x->space, slot);
	struct nm_frames *frames = &x->running.thread->frames;
	uint64_t low = slot & ~(uint64_t)(STACK_REACH - 1), end = low + STACK_REACH;
	size_t known = frames->stacks.count;

	if (nm_executor_resolve_pending(x))
		return NM_ENOMEM;
	if (nm_blocks_find(&x->space->heap, slot, &b)) {
		low = b.address;
		end = b.address + b.size;
	} else if (m) {
		low = slot - m->address > STACK_REACH ? slot - STACK_REACH : m->address;
		end = m->end;
	}
	if (nm_frames_switch(frames, slot, low, end))
		return NM_ENOMEM;
	if (frames->stacks.count > known)
		nm_resolver_forget_mappings(&x->resolver);
	nm_executor_run_thread(x);
	return 0;
}

int nm_executor_change_any_frame(struct nm_executor *x, const struct nm_decoded_block *decoded, uint64_t slot)
{
	if ((slot - x->running.window.low >= x->running.window.length && nm_executor_switch_stack(x, slot)) ||
	    nm_vec_reserve(&x->running.stack->frames, 1))
		return NM_ENOMEM;
	if (slot >= x->running.kept_frames)
		nm_resolver_forget_frames(&x->resolver, slot);
	nm_executor_put_frame(x, decoded, slot);
	return 0;
}

/* ---- lanes: made at the first entry of a region, kept while the thread lives ---- */

static struct nm_lane *make_lane(struct nm_executor *x, struct nm_thread *t, uint32_t number, uint32_t region)
{
	struct nm_lane *lane = nm_arena_alloc(&x->decoder.arena, sizeof *lane);

	if (!lane)
		return NULL;
	*lane = (struct nm_lane){.number = number, .region = region};
	return nm_vec_push(&t->lanes, lane) ? NULL : lane;
}

/* The thread's lane in a region; where no further lane has room, its first one. */
static int find_lane(struct nm_executor *x, struct nm_thread *t, uint32_t region, struct nm_lane **ret_lane)
{
	uint32_t number;

	for (size_t i = 0; i < t->lanes.count; i++)
		if (t->lanes.at[i]->region == region) {
			*ret_lane = t->lanes.at[i];
			return 0;
		}
	if (nm_regions_lane(x->regions, t->number, region, &number))
		return NM_ENOMEM;
	*ret_lane = number ? make_lane(x, t, number, region) : t->lanes.at[0];
	return *ret_lane ? 0 : NM_ENOMEM;
}

int nm_executor_start_lanes(struct nm_executor *x, struct nm_thread *t)
{
	return find_lane(x, t, 0, &t->lane) ? NM_ENOMEM : nm_executor_choose_lane(x, t);
}

int nm_executor_choose_lane(struct nm_executor *x, struct nm_thread *t)
{
	uint32_t region;

	if (nm_regions_in_phase(x->regions, nm_regions_innermost(&t->open),
				nm_executor_is_by_phase(x) ? x->phase : 0, &region))
		return NM_ENOMEM;
	if (region == t->lane->region)
		return 0;
	if (find_lane(x, t, region, &t->lane))
		return NM_ENOMEM;
	if (x->running.thread == t)
		nm_executor_switch_thread(x, t);
	return 0;
}

void nm_thread_free_lanes(struct nm_thread *t)
{
	for (size_t i = 0; i < t->lanes.count; i++) {
		free(t->lanes.at[i]->decoded_blocks);
		nm_map_done(&t->lanes.at[i]->library_blocks);
	}
	nm_vec_free(&t->lanes);
}
