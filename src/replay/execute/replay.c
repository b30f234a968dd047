/* SPDX-License-Identifier: MIT
 *
 * replay.c - the replay's life, and which thread, stack and frame run, in which lane (regions.h).
 *
 * Frames of calls and returns within the running stack are changed by inline functions (replay.h). A call
 * or return elsewhere is a switch of stacks, as by coroutines, swapcontext or signal handlers: the stack is
 * one that is known, a heap block, or the surroundings of the slot in its mapping.
 */
#include "replay.h"

#include <assert.h>
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

int nm_replay_init(struct nm_replay *r, const struct nm_replay_process *process)
{
	r->measuring = r->asked = r->inside = 1;
	r->attrs = process->attrs;
	r->calls = process->calls;
	r->regions = process->regions;
	r->space = process->space;
	r->contexts = process->contexts;
	nm_bursts_init(&r->builder.bursts);
	r->resolver.decoder = &r->decoder;
	r->resolver.running = &r->running;
	r->resolver.attrs = process->attrs;
	r->resolver.space = process->space;
	r->resolver.contexts = process->contexts;
	r->resolver.threads = process->threads;
	nm_replay_choose_path(r);
	r->decoder.definition_store = nm_definition_store_new(NULL);
	return r->decoder.definition_store && !nm_resolver_init(&r->resolver) ? 0 : NM_ENOMEM;
}

void nm_replay_free_code(struct nm_replay *r)
{
	r->running.thread = NULL;
	nm_arena_done(&r->decoder.arena);
	nm_vec_free(&r->decoder.decoded);
	nm_vec_free(&r->decoder.access_sites);
	nm_vec_free(&r->decoder.access_instructions);
	nm_vec_free(&r->decoder.access_chases);
	nm_vec_free(&r->resolver.listed);
	nm_vec_free(&r->resolver.framed);
	nm_vec_free(&r->resolver.range_holders);
	nm_vec_free(&r->decoder.definitions);
	nm_definition_store_release(r->decoder.definition_store);
	r->decoder.definition_store = NULL;
}

void nm_replay_done(struct nm_replay *r)
{
	free(r->builder.syncs);
	free(r->builder.hints);
	nm_instruction_clock_free(r->builder.instruction_clock);
	nm_resolver_done(&r->resolver);
	nm_replay_free_code(r);
}

void nm_replay_choose_path(struct nm_replay *r)
{
	const struct nm_thread *t = r->running.thread;

	nm_replay_watch_limits(r);
	r->single_step = r->silent || r->clock >= r->careful_from || r->fetching || !r->measuring ||
			 nm_window_needs_steps(&r->window) || r->calls || r->builder.instruction_clock ||
			 (t && (t->probe.context || t->signals.list.count));
}

void nm_replay_run_thread(struct nm_replay *r)
{
	struct nm_stack *s = nm_frames_stack(&r->running.thread->frames);

	nm_resolver_forget_frames(&r->resolver, UINT64_MAX);
	r->running.stack = s;
	r->running.last = &nm_no_last_block;
	r->running.window = (struct nm_stack_window){.low = s->low, .length = s->end - s->low};
	nm_stack_window_own(&r->running.window, nm_stack_top(s));
	nm_replay_choose_path(r);
}

void nm_replay_switch_thread(struct nm_replay *r, struct nm_thread *thread)
{
	assert(thread->lane);
	r->running.thread = thread;
	r->decoded_blocks = thread->lane->decoded_blocks;
	r->decoded_room = thread->lane->decoded_room;
	if (thread->lane->region != r->regions->current)
		nm_regions_run(r->regions, thread->lane->region, nm_replay_measured(r));
	nm_replay_run_thread(r);
}

int nm_replay_run_stack(struct nm_replay *r, size_t index)
{
	struct nm_frames *frames = &r->running.thread->frames;

	assert(index < frames->stacks.count);
	if (index == frames->current)
		return 0;
	if (nm_replay_resolve_pending(r))
		return NM_ENOMEM;
	frames->current = index;
	nm_replay_run_thread(r);
	return 0;
}

int nm_replay_switch_stack(struct nm_replay *r, uint64_t slot)
{
	struct nm_block b;
	const struct nm_mapping *m = nm_space_mapping(r->space, slot);
	struct nm_frames *frames = &r->running.thread->frames;
	uint64_t low = slot & ~(uint64_t)(STACK_REACH - 1), end = low + STACK_REACH;
	size_t known = frames->stacks.count;

	if (nm_replay_resolve_pending(r))
		return NM_ENOMEM;
	if (nm_blocks_find(&r->space->heap, slot, &b)) {
		low = b.address;
		end = b.address + b.size;
	} else if (m) {
		low = slot - m->address > STACK_REACH ? slot - STACK_REACH : m->address;
		end = m->end;
	}
	if (nm_frames_switch(frames, slot, low, end))
		return NM_ENOMEM;
	if (frames->stacks.count > known)
		nm_resolver_forget_mappings(&r->resolver);
	nm_replay_run_thread(r);
	return 0;
}

int nm_replay_change_any_frame(struct nm_replay *r, const struct nm_decoded_block *decoded, uint64_t slot)
{
	assert(decoded->end != NM_WIRE_JUMP);
	if ((slot - r->running.window.low >= r->running.window.length && nm_replay_switch_stack(r, slot)) ||
	    nm_vec_reserve(&r->running.stack->frames, 1))
		return NM_ENOMEM;
	if (slot >= r->running.kept_frames)
		nm_resolver_forget_frames(&r->resolver, slot);
	nm_replay_put_frame(r, decoded, slot);
	return 0;
}

/* ---- lanes: made at the first entry of a region, kept while the thread lives ---- */

static struct nm_lane *make_lane(struct nm_replay *r, struct nm_thread *t, uint32_t number, uint32_t region)
{
	struct nm_lane *lane = nm_arena_alloc(&r->decoder.arena, sizeof *lane);

	assert(number <= NM_LANE_MAX);
	if (!lane)
		return NULL;
	*lane = (struct nm_lane){.number = number, .region = region};
	return nm_vec_push(&t->lanes, lane) ? NULL : lane;
}

/* The thread's lane in a region; where no further lane has room, its first one. */
static int find_lane(struct nm_replay *r, struct nm_thread *t, uint32_t region, struct nm_lane **ret_lane)
{
	uint32_t number;

	assert(region < r->regions->list.count);
	for (size_t i = 0; i < t->lanes.count; i++)
		if (t->lanes.at[i]->region == region) {
			*ret_lane = t->lanes.at[i];
			return 0;
		}
	if (nm_regions_lane(r->regions, t->number, region, &number))
		return NM_ENOMEM;
	*ret_lane = number ? make_lane(r, t, number, region) : t->lanes.at[0];
	return *ret_lane ? 0 : NM_ENOMEM;
}

int nm_replay_start_lanes(struct nm_replay *r, struct nm_thread *t)
{
	assert(!t->lane && !t->lanes.count);
	return find_lane(r, t, 0, &t->lane) ? NM_ENOMEM : nm_replay_choose_lane(r, t);
}

int nm_replay_choose_lane(struct nm_replay *r, struct nm_thread *t)
{
	uint32_t region;

	if (nm_regions_in_phase(r->regions, nm_regions_innermost(&t->open),
				nm_replay_is_by_phase(r) ? r->phase : 0, &region))
		return NM_ENOMEM;
	if (region == t->lane->region)
		return 0;
	if (find_lane(r, t, region, &t->lane))
		return NM_ENOMEM;
	if (r->running.thread == t)
		nm_replay_switch_thread(r, t);
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
