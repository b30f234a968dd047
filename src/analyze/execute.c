/* SPDX-License-Identifier: MIT
 *
 * execute.c - the hot path: executions of blocks become references, each with its cell, and calls and returns
 * become frames.
 *
 * An access finds its cell in one of four ways, cheapest first:
 *   1. the address lies in the running function's own frame (one compare with the top of the rebuilt call
 *      stack): the frame's cell of this place;
 *   2. it lies in the range that the access cached: that cell;
 *   3. the object is looked up (resolve.c: another frame, a heap block, a variable, a mapping) and is the one that
 *      the access had last: that cell;
 *   4. the cell of (thread, place, object) is looked up.
 *
 * Measured on the way: counting in the access instead of in the cells (scattered over megabytes) took a quarter
 * off the decoding of python3; batches of 1,024 instead of 8,192 references, which stay in the first
 * level of the host's cache, an eighth off a whole recording of jq.
 */
#include <string.h>

#include "engine_priv.h"

enum {
	STACK_REACH = 1 << 18, /* bytes below a call on an unknown stack that are taken for the stack */
	RING_AHEAD = 128       /* words */
};

static inline void own_frame_of(struct nm_engine *e, const struct nm_stack *s)
{
	uint64_t top = s->frames.count ? s->frames.at[s->frames.count - 1].slot + 8 : s->end;

	e->own_low = s->low;
	e->own_length = top - s->low;
}

void nm_engine_own_frame(struct nm_engine *e) { own_frame_of(e, nm_frames_stack(&e->thread->frames)); }

/* ---- references ---- */

int nm_engine_flush(struct nm_engine *e)
{
	size_t count = e->batched;
	int status;

	if (!count)
		return 0;
	if (e->references > e->drain_at)
		nm_engine_drain(e);
	e->batched = 0;
	status = nm_workers_submit(e->workers, count);
	e->batch = nm_workers_buffer(e->workers);
	return status;
}

_Static_assert(offsetof(struct nm_ref, cell) == 8 && offsetof(struct nm_ref, size) == 12 &&
		   offsetof(struct nm_ref, kind) == 14 && offsetof(struct nm_ref, weight) == 15 &&
		   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "reference() puts a reference together by shifts");

static inline __attribute__((always_inline)) int reference(struct nm_engine *e, struct nm_plan *plan,
							   const uint64_t *addresses, size_t n,
							   int prefetches)
{
	struct nm_ref *out = e->batch + e->batched;
	const uint64_t own_low = e->own_low, own_length = e->own_length;

	for (size_t i = 0; i < n; i++) {
		struct nm_access *a = &plan->access[i];
		uint64_t address = addresses[i], rest;
		uint32_t cell;

		if (prefetches && nm_access_kind(a) == NM_PREFETCH)
			continue;
		if (address - own_low < own_length && a->own_cell) {
			cell = a->own_cell;
			a->own_count++;
		} else if (address - a->low < a->length) {
			cell = a->cell;
			a->count++;
		} else {
			if (!address) /* guarded, not executed */
				continue;
			cell = nm_engine_resolve(e, plan, (uint32_t)i, address);
			if (!cell)
				return NM_ENOMEM;
		}
		rest = (uint64_t)a->rest << 32 | cell;
		out->address = address;
		memcpy(&out->cell, &rest, sizeof rest); /* one store instead of four */
		out++;
	}
	e->references += (uint64_t)(out - (e->batch + e->batched));
	e->batched = (size_t)(out - e->batch);
	return 0;
}

static int fetch_all(struct nm_engine *e, const struct nm_plan *plan, uint32_t executed)
{
	for (uint32_t i = 0; i < plan->origin->fetches && plan->origin->fetch[i].first < executed; i++) {
		const struct nm_fetch *f = &plan->origin->fetch[i];
		uint32_t left = executed - f->first;
		uint8_t weight = left < f->instructions ? (uint8_t)left : f->instructions;

		if (e->batched == NM_BATCH && nm_engine_flush(e))
			return NM_ENOMEM;
		e->cells.references[f->cell].count[0] += weight;
		e->batch[e->batched++] = (struct nm_ref){f->address, f->cell, f->bytes, NM_REF_FETCH, weight};
	}
	return 0;
}

/* Did the block write to the allocation that is watched?  Then its function is no mere forwarder. */
static void watch_writes(struct nm_engine *e, const struct nm_plan *plan, const uint64_t *addresses, size_t n)
{
	struct nm_watch *w = &e->thread->watch;

	for (size_t i = 0; i < n; i++)
		if (nm_access_kind(&plan->access[i]) == NM_REF_WRITE &&
		    addresses[i] - w->address < w->end - w->address)
			w->context = 0;
	if (e->clock > w->deadline)
		w->context = 0;
	e->watching = w->context != 0;
}

/* ---- calls and returns ---- */

/* Makes the stack around slot the current one. */
static int switch_stack(struct nm_engine *e, uint64_t slot)
{
	const struct nm_block *b = nm_blocks_find(&e->space.heap, slot);
	const struct nm_mapping *m = nm_space_mapping(&e->space, slot);
	const struct nm_frames *frames = &e->thread->frames;
	uint64_t low = slot & ~(uint64_t)(STACK_REACH - 1), end = low + STACK_REACH;

	for (size_t i = 0; i < frames->stacks.count; i++)
		if (nm_stack_holds(&frames->stacks.at[i], slot))
			return nm_frames_switch(&e->thread->frames, frames->stacks.at[i].low,
						frames->stacks.at[i].end);
	if (b) {
		low = b->address;
		end = b->address + b->size;
	} else if (m) {
		low = slot - m->address > STACK_REACH ? slot - STACK_REACH : m->address;
		end = m->end;
	}
	return nm_frames_switch(&e->thread->frames, low, end);
}

static int change_frame(struct nm_engine *e, const struct nm_plan *plan, uint64_t slot)
{
	struct nm_frames *frames = &e->thread->frames;

	if (!nm_stack_holds(nm_frames_stack(frames), slot) && switch_stack(e, slot))
		return NM_ENOMEM;
	if (plan->end == NM_WIRE_CALL) {
		if (nm_frames_push(frames, slot, plan->call_pc, plan->stack_object))
			return NM_ENOMEM;
	} else {
		nm_frames_pop(frames, slot);
		if (e->watching) {
			nm_watch_return(&e->thread->watch, &e->contexts, slot, e->clock,
					nm_frames_top(frames));
			e->watching = e->thread->watch.context != 0;
		}
	}
	own_frame_of(e, nm_frames_stack(frames));
	return 0;
}

/* ---- executions ---- */

/* How many addresses follow the header, of at most `room` words, and how many instructions were executed.
 * 1 if the block was left through a side exit. */
static inline int find_exit(const struct nm_plan *plan, const uint64_t *addresses, size_t room, size_t *ret_n,
			    uint32_t *ret_executed)
{
	struct nm_side_exit exit = plan->first_exit;

	for (uint32_t i = 0; i < plan->exits; exit = plan->origin->exit[++i])
		if (exit.accesses >= room || nm_wire_is_header(addresses[exit.accesses])) {
			*ret_n = exit.accesses;
			*ret_executed = exit.instructions;
			return 1;
		}
	*ret_n = plan->accesses;
	*ret_executed = plan->instructions;
	return 0;
}

/* Brings the plan of the next block on its way. */
static inline void prefetch_plan(const struct nm_engine *e, const uint64_t *header, const uint64_t *end)
{
	if (header < end && nm_wire_arg(*header) < e->plan_room) {
		const char *next = (const char *)e->plans[nm_wire_arg(*header)];

		__builtin_prefetch(next);
		__builtin_prefetch(next + 64);
	}
}

static int execute_measured(struct nm_engine *e, struct nm_plan *plan, const uint64_t *addresses, size_t n,
			    uint32_t executed)
{
	e->instructions += executed;
	if (e->fetching && fetch_all(e, plan, executed))
		return NM_ENOMEM;
	if (e->batched + n > NM_BATCH && nm_engine_flush(e))
		return NM_ENOMEM;
	return plan->prefetches ? reference(e, plan, addresses, n, 1) : reference(e, plan, addresses, n, 0);
}

long nm_engine_execute(struct nm_engine *e, const uint64_t *words, size_t count, struct nm_error *err)
{
	const uint64_t *w = words, *end = words + count;

	while (w < end && *w >> 56 == NM_WIRE_HEADER_BIT >> 56) { /* NM_WIRE_BLOCK */
		uint32_t id = nm_wire_arg(*w++), executed;
		struct nm_plan *plan = id < e->plan_room ? e->plans[id] : NULL;
		int left_early;
		size_t n;

		if (__builtin_expect(!plan, 0) && !(plan = nm_engine_plan(e, id, err)))
			return err ? err->code : NM_EFORMAT;
		left_early = find_exit(plan, w, (size_t)(end - w), &n, &executed);
		if (n > (size_t)(end - w))
			return nm_fail(err, NM_EFORMAT, "block %u is cut short", id);
		__builtin_prefetch(w + RING_AHEAD); /* the words lie in another processor's cache */
		prefetch_plan(e, w + n, end);
		e->clock += executed;
		if (e->measuring && execute_measured(e, plan, w, n, executed))
			return nm_fail(err, NM_ENOMEM, "out of memory");
		if (e->watching)
			watch_writes(e, plan, w, n);
		if (plan->end != NM_WIRE_JUMP && !left_early && n && change_frame(e, plan, w[n - 1]))
			return nm_fail(err, NM_ENOMEM, "out of memory");
		w += n;
	}
	return w - words;
}
