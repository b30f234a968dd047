/* SPDX-License-Identifier: MIT
 *
 * execute.c - the hot path: one execution of a block becomes references, each with its cell.
 *
 * An access finds its cell in one of four ways, cheapest first:
 *   1. the address lies in the running function's own frame (one compare with the top of the rebuilt call
 *      stack): the frame's cell of this place;
 *   2. it lies in the range that the access cached: that cell;
 *   3. the object is looked up (another frame, a heap block, a variable, a mapping) and is the one that the
 *      access had last: that cell;
 *   4. the cell of (thread, place, object) is looked up.
 * Ranges are cached only where events tell when they end (nm_engine_uncache); small heap blocks are not,
 * since they come and go by the million.
 */
#include <string.h>

#include "engine_priv.h"

enum {
	ALLOCATOR_DEPTH = 4,       /* calls between an allocator's entry and what fills a block for it */
	STACK_REACH = 1 << 18,     /* bytes below a call on an unknown stack that are taken for the stack */
	RING_AHEAD = 128,          /* words */
	VISITS_TO_CACHE = 6,       /* of an access to one heap block, before it keeps the block's range */
	DRAIN_REFERENCES = 1 << 30 /* between drains of the accesses' counters */
};

/* ---- plans ---- */

int nm_engine_define(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_block_info info;
	int status = nm_wire_block_decode(r, &info, err);
	struct nm_definition *d;

	if (status)
		return status;
	if (info.id > (1u << 28))
		return nm_fail(err, NM_EFORMAT, "block number %u is out of range", info.id);
	if (info.id >= e->definitions.count) {
		size_t more = info.id + 1 - e->definitions.count;

		if (nm_vec_reserve(&e->definitions, more))
			return nm_fail(err, NM_ENOMEM, "out of memory");
		memset(&e->definitions.at[e->definitions.count], 0, more * sizeof *d);
		e->definitions.count += more;
	}
	d = &e->definitions.at[info.id];
	if (d->words)
		return nm_fail(err, NM_EFORMAT, "block %u is defined twice", info.id);
	d->words = nm_arena_alloc(&e->codebook->arena, r->words * sizeof *d->words);
	if (!d->words)
		return nm_fail(err, NM_ENOMEM, "out of memory");
	memcpy(d->words, r->payload, r->words * sizeof *d->words);
	d->count = (uint32_t)r->words;
	return 0;
}

/* The stack object of the function at pc. */
static int function_frame(struct nm_engine *e, const struct nm_mapping *m, uint64_t pc, uint32_t *ret_object)
{
	struct nm_function f;
	const char *name = "<code without a file>";

	if (m && m->module) {
		name = nm_module_name(m->module);
		if (nm_module_function(m->module, pc - m->bias, &f))
			name = f.name;
	}
	return nm_space_frame_object(&e->space, name, ret_object);
}

static int plan_accesses(struct nm_engine *e, struct nm_plan *plan, const struct nm_wire_block_info *info,
			 const struct nm_mapping *m)
{
	for (uint32_t i = 0; i < plan->accesses; i++) {
		uint64_t w = info->accesses[i];
		uint64_t pc = nm_wire_instruction_pc(info->instructions[nm_wire_access_instruction(w)]);
		unsigned flags = nm_wire_access_flags(w);
		unsigned kind = flags & NM_WIRE_WRITE ? NM_REF_WRITE : NM_REF_READ;

		if (flags & NM_WIRE_PREFETCH) {
			kind = NM_PREFETCH;
			plan->prefetches = 1;
		}
		plan->access[i].rest = nm_wire_access_size(w) | kind << 16 | 1u << 24;
		if (nm_cells_place(&e->cells, pc, m ? m->module : NULL, m ? m->bias : 0,
				   &plan->origin->access[i].place))
			return NM_ENOMEM;
	}
	for (uint32_t i = 0; i < plan->exits; i++)
		plan->origin->exit[i] =
		    (struct nm_side_exit){(uint16_t)nm_wire_exit_accesses(info->exits[i]),
					  (uint16_t)nm_wire_exit_instructions(info->exits[i])};
	plan->first_exit = plan->origin->exit[0];
	return 0;
}

/* Runs of whole instructions within one line; an instruction that straddles two is a run of its own. */
static int plan_fetches(struct nm_engine *e, struct nm_plan *plan, const struct nm_wire_block_info *info,
			const struct nm_mapping *m)
{
	uint64_t mask = ~(uint64_t)(e->fetch_line - 1);
	uint32_t object, place;

	struct nm_plan_origin *origin = plan->origin;

	origin->fetch = nm_arena_alloc(&e->arena, plan->instructions * sizeof *origin->fetch);
	if (!origin->fetch ||
	    nm_space_code_object(&e->space, m && m->module ? nm_module_name(m->module) : "no file", &object))
		return NM_ENOMEM;
	for (uint32_t i = 0; i < plan->instructions; i++) {
		uint64_t pc = nm_wire_instruction_pc(info->instructions[i]);
		unsigned bytes = nm_wire_instruction_bytes(info->instructions[i]);
		struct nm_fetch *f = origin->fetches ? &origin->fetch[origin->fetches - 1] : NULL;

		if (f && f->address + f->bytes == pc && f->instructions < 255 &&
		    ((pc + bytes - 1) & mask) == (f->address & mask)) {
			f->instructions++;
			f->bytes = (uint8_t)(f->bytes + bytes);
			continue;
		}
		f = &origin->fetch[origin->fetches++];
		*f = (struct nm_fetch){pc, 0, (uint16_t)i, 1, (uint8_t)bytes};
		if (nm_cells_place(&e->cells, pc, m ? m->module : NULL, m ? m->bias : 0, &place))
			return NM_ENOMEM;
		f->cell = nm_cells_get(&e->cells, e->thread->number, place, object);
		if (!f->cell)
			return NM_ENOMEM;
	}
	return 0;
}

/* Makes room for block id in the running thread's table of plans. */
static int grow_plans(struct nm_engine *e, uint32_t id)
{
	struct nm_thread *t = e->thread;

	if (nm_vec_grow((void **)&t->plans, &t->plan_room, e->plan_room, id + 1 - e->plan_room,
			sizeof *t->plans))
		return NM_ENOMEM;
	memset(t->plans + e->plan_room, 0, (t->plan_room - e->plan_room) * sizeof *t->plans);
	e->plans = t->plans;
	e->plan_room = t->plan_room;
	return 0;
}

static struct nm_plan *make_plan(struct nm_engine *e, uint32_t id, struct nm_error *err)
{
	struct nm_wire_record r = {.kind = NM_WIRE_BLOCK_DEF, .arg = id};
	struct nm_wire_block_info info;
	const struct nm_mapping *m;
	struct nm_plan *p;

	if (!e->thread || id >= e->definitions.count || !e->definitions.at[id].words) {
		nm_fail(err, NM_EFORMAT, "block %u runs before it is defined", id);
		return NULL;
	}
	r.payload = e->definitions.at[id].words;
	r.words = e->definitions.at[id].count;
	if (nm_wire_block_decode(&r, &info, err))
		return NULL;
	m = nm_space_mapping(&e->space, info.def.pc);
	p = nm_arena_alloc(&e->arena, sizeof *p + info.def.accesses * sizeof *p->access + 16);
	if (!p)
		goto exhausted;
	p = (struct nm_plan *)(((uintptr_t)p + 31) & ~(uintptr_t)31); /* arenas align to 16 */
	p->accesses = info.def.accesses;
	p->exits = info.def.exits;
	p->instructions = info.def.instructions;
	p->end = info.def.end;
	p->call_pc =
	    p->instructions ? nm_wire_instruction_pc(info.instructions[p->instructions - 1]) : info.def.pc;
	p->origin = nm_arena_alloc(&e->arena, sizeof *p->origin + p->accesses * sizeof p->origin->access[0]);
	if (!p->origin)
		goto exhausted;
	p->origin->exit = nm_arena_alloc(&e->arena, (p->exits + 1u) * sizeof *p->origin->exit);
	if (!p->origin->exit || plan_accesses(e, p, &info, m) ||
	    function_frame(e, m, info.def.pc, &p->stack_object) ||
	    (e->fetching && plan_fetches(e, p, &info, m)) || (id >= e->plan_room && grow_plans(e, id)))
		goto exhausted;
	e->plans[id] = p;
	return p;
exhausted:
	nm_fail(err, NM_ENOMEM, "out of memory");
	return NULL;
}

/* ---- cells ---- */

void nm_engine_uncache(struct nm_engine *e)
{
	for (size_t i = 0; i < e->cached.count; i++) {
		e->cached.at[i]->length = 0;
		e->listed.at[i]->listed = 0;
	}
	e->cached.count = e->listed.count = 0;
}

void nm_engine_uncache_blocks(struct nm_engine *e)
{
	for (size_t i = 0; i < e->space.heap.orphans.count; i++)
		for (uint32_t c = e->space.heap.orphans.at[i], next; c; c = next) {
			struct nm_cacher *cacher = &e->cachers.at[c];

			cacher->access->length = 0;
			next = cacher->next;
			cacher->next = e->free_cacher;
			e->free_cacher = c;
		}
	e->space.heap.orphans.count = 0;
}

void nm_engine_uncache_all(struct nm_engine *e)
{
	nm_engine_uncache(e);
	for (size_t t = 0; t < e->threads.count; t++)
		for (size_t i = 0; i < e->threads.at[t]->plan_room; i++) {
			struct nm_plan *p = e->threads.at[t]->plans[i];

			for (uint32_t k = 0; p && k < p->accesses; k++)
				p->access[k].length = 0;
		}
}

/* Keeps a lasting range with the access. */
static int cache_mapping(struct nm_engine *e, struct nm_access *a, struct nm_access_origin *o,
			 const struct nm_place *place)
{
	if (place->end - place->low > UINT32_MAX)
		return 0;
	if (!o->listed && (nm_vec_push(&e->cached, a) || nm_vec_push(&e->listed, o)))
		return NM_ENOMEM;
	o->listed = 1;
	a->low = place->low;
	a->length = (uint32_t)(place->end - place->low);
	return 0;
}

/* Keeps a heap block's range with an access that has come to the same block again and again; most blocks do not
 * live long enough to be worth the entry in their list. */
static int cache_block(struct nm_engine *e, struct nm_access *a, struct nm_access_origin *o,
		       const struct nm_place *place)
{
	struct nm_block *block = &e->space.heap.list.at[place->block];
	uint32_t c = e->free_cacher;

	o->visits = o->block == place->block ? o->visits + 1 : 0;
	o->block = place->block;
	if (o->visits < VISITS_TO_CACHE || place->end - place->low > UINT32_MAX)
		return 0;
	if (c) {
		e->free_cacher = e->cachers.at[c].next;
	} else {
		if (!e->cachers.count && nm_vec_push(&e->cachers, (struct nm_cacher){0}))
			return NM_ENOMEM;
		c = (uint32_t)e->cachers.count;
		if (nm_vec_push(&e->cachers, (struct nm_cacher){0}))
			return NM_ENOMEM;
	}
	e->cachers.at[c] = (struct nm_cacher){a, block->cachers};
	block->cachers = c;
	a->low = place->low;
	a->length = (uint32_t)(place->end - place->low);
	o->visits = 0;
	return 0;
}

static inline void own_frame_of(struct nm_engine *e, const struct nm_stack *s)
{
	uint64_t top = s->frames.count ? s->frames.at[s->frames.count - 1].slot + 8 : s->end;

	e->own_low = s->low;
	e->own_length = top - s->low;
}

void nm_engine_own_frame(struct nm_engine *e) { own_frame_of(e, nm_frames_stack(&e->thread->frames)); }

/* The bucket of a block that is not handed out yet: calloc has it cleared and realloc has the old contents copied
 * to it, by a function that they call, before the stream can tell of the block.  calloc leaves by a jump to memset,
 * so whoever clears heap that no block covers is taken for calloc's last step.  0: none of this. */
static int find_unborn(struct nm_engine *e, const struct nm_plan *plan, int in_heap, uint32_t *ret_object)
{
	const struct nm_object *objects = e->space.objects.at;
	const struct nm_stack *s = nm_frames_stack(&e->thread->frames);
	size_t n = s->frames.count, outermost = n;
	uint64_t pcs[NM_CONTEXT_DEPTH];
	uint32_t count = 0, context;

	*ret_object = 0;
	if (!objects[plan->stack_object].copies && !objects[plan->stack_object].clears)
		return 0;
	for (size_t k = n; k-- > 0 && n - k <= ALLOCATOR_DEPTH;)
		if (objects[s->frames.at[k].caller].is_allocator)
			outermost = k;
	if (outermost == n && !(in_heap && objects[plan->stack_object].clears))
		return 0;
	for (size_t k = outermost; k-- > 0 && count < NM_CONTEXT_DEPTH;)
		pcs[count++] = s->frames.at[k].call_pc;
	if (!count)
		return 0;
	if (nm_contexts_get(&e->contexts, pcs, count, &context))
		return NM_ENOMEM;
	return nm_space_bucket(&e->space, context, ret_object);
}

/* The object at an address that is not in the running function's frame. */
static int find_object(struct nm_engine *e, const struct nm_plan *plan, uint64_t address,
		       struct nm_place *place)
{
	enum nm_object_kind kind;
	uint32_t unborn;

	*place = (struct nm_place){.object = nm_frames_owner(&e->thread->frames, address)};
	if (place->object)
		return 0;
	if (nm_space_find(&e->space, address, place))
		return NM_ENOMEM;
	kind = e->space.objects.at[place->object].kind;
	if (kind != NM_OBJECT_ANONYMOUS && kind != NM_OBJECT_STACK && kind != NM_OBJECT_UNKNOWN)
		return 0;
	if (kind == NM_OBJECT_ANONYMOUS) {
		if (find_unborn(e, plan, place->object == e->space.bookkeeping, &unborn))
			return NM_ENOMEM;
		if (unborn) {
			*place = (struct nm_place){.object = unborn};
			return 0;
		}
	}
	for (size_t i = 0; i < e->threads.count; i++) { /* perhaps the stack of another thread */
		uint32_t owner = nm_frames_owner(&e->threads.at[i]->frames, address);

		if (owner) {
			*place = (struct nm_place){.object = owner};
			return 0;
		}
	}
	return 0;
}

static void drain(struct nm_engine *e, struct nm_access *a)
{
	e->cells.references[a->cell].count[nm_access_kind(a)] += a->count;
	e->cells.references[a->own_cell].count[nm_access_kind(a)] += a->own_count;
	a->count = a->own_count = 0;
}

void nm_engine_drain(struct nm_engine *e)
{
	for (size_t t = 0; t < e->threads.count; t++)
		for (size_t i = 0; i < e->threads.at[t]->plan_room; i++) {
			struct nm_plan *p = e->threads.at[t]->plans[i];

			for (uint32_t k = 0; p && k < p->accesses; k++)
				if (nm_access_kind(&p->access[k]) != NM_PREFETCH)
					drain(e, &p->access[k]);
		}
	e->drain_at = e->references + DRAIN_REFERENCES;
}

/* The cell for one reference that the inline cache does not know, counted.  0: memory is exhausted. */
static __attribute__((noinline)) uint32_t resolve(struct nm_engine *e, struct nm_plan *plan, uint32_t i,
						  uint64_t address)
{
	struct nm_access *a = &plan->access[i];
	struct nm_access_origin *o = &plan->origin->access[i];
	uint32_t thread = e->thread->number, cell;
	struct nm_place place;

	if (address - e->own_low < e->own_length) {
		a->own_cell = nm_cells_get(&e->cells, thread, o->place, plan->stack_object);
		a->own_count++;
		return a->own_cell;
	}
	if (find_object(e, plan, address, &place))
		return 0;
	if (place.object == o->object && a->cell) {
		cell = a->cell;
		a->count++;
	} else {
		cell = nm_cells_get(&e->cells, thread, o->place, place.object);
		e->cells.references[cell].count[nm_access_kind(a)]++;
		if (a->length && !place.lasting) /* keep the range and its cell */
			return cell;
		drain(e, a);
		o->object = place.object;
		a->cell = cell;
		a->length = 0;
	}
	if (place.block ? cache_block(e, a, o, &place) : place.lasting && cache_mapping(e, a, o, &place))
		return 0;
	return cell;
}

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
			cell = resolve(e, plan, (uint32_t)i, address);
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

		if (__builtin_expect(!plan, 0) && !(plan = make_plan(e, id, err)))
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
