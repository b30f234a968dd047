/* SPDX-License-Identifier: MIT
 *
 * resolve.c - finds the cells of references that are not served by their lanes, and keeps what may be kept.
 *
 * Ranges are kept only where events tell when they end: those of variables and mappings in one list that
 * any change of mappings empties, those of heap blocks in a list of each block, which is emptied when the block
 * is released.  A block's range is kept only by an access that comes to it again and again: most small blocks do
 * not live long enough to be worth it.  It may take the place of another range: keeping the first one as long as it
 * lived cost 15 % on perl and jq.  An access that turns away stays in the block's list, and comes into it again each time it
 * turns back, so lists are gone over when they are long: SQLite's had grown to 32 MB in 9 s, and take 0.2 now, and no longer.
 *
 * Dropped: prefetching the granules of references that wait, when they are put off or before they are settled: no
 * difference on five programs, since lookups overlap already.  All of them looked for before any is settled: none either.
 * Nor was there any in bench/turns (six programs, 2 % at most, which is its noise) when each reference credited its cell at
 * once, accesses knew their place, and groups, and code that copies memory, were settled by a look at the granules.
 */
#include "engine_priv.h"

enum {
	ALLOCATOR_DEPTH = 4, /* calls between an allocator's entry and what fills a block for it */
	CACHERS = 1 << 14,   /* beside two for each access, before those that are out of date are dropped */
	VISITS_TO_KEEP = 6,  /* of an access to one heap block, before it keeps the block's range */
	DRAIN_REFERENCES = 1 << 30 /* between drains of the lanes' counters */
};

/* ---- kept ranges ---- */

static void forget_range(struct nm_engine *e, uint32_t origin)
{
	struct nm_origin *o = &e->origins.at[origin];

	if (nm_lane_of(o, low) != NM_LOW_OF_FRAME)
		nm_lane_of(o, length) = NM_NO_LENGTH;
}

void nm_engine_uncache(struct nm_engine *e)
{
	for (size_t i = 0; i < e->listed.count; i++) {
		forget_range(e, e->listed.at[i]);
		e->origins.at[e->listed.at[i]].listed = 0;
	}
	e->listed.count = 0;
	nm_space_forget(&e->space);
}

void nm_engine_uncache_blocks(struct nm_engine *e)
{
	for (size_t i = 0; i < e->space.heap.orphans.count; i++)
		for (uint32_t c = e->space.heap.orphans.at[i], next; c; c = next) {
			struct nm_cacher *cacher = &e->cachers.at[c];

			forget_range(e, cacher->origin);
			next = cacher->next;
			*cacher = (struct nm_cacher){.next = e->free_cacher};
			e->free_cacher = c;
		}
	e->space.heap.orphans.count = 0;
}

void nm_engine_uncache_all(struct nm_engine *e)
{
	nm_engine_uncache(e);
	for (uint32_t i = 0; i < e->origins.count; i++)
		forget_range(e, i);
}

/* Credits a cell or group with references. */
static void add_references(struct nm_engine *e, uint64_t word, uint32_t cell, uint32_t count)
{
	if (nm_word_is_coalesced(word))
		nm_coalesced_at(e->coalesced, cell)->count += count;
	else
		e->cells.references[cell].count[nm_word_kind(word)] += count;
}

/* Credits the cell of the object found last with what it has not been credited with. */
static void credit(struct nm_engine *e, struct nm_origin *o)
{
	add_references(e, nm_lane_of(o, word), o->cell, o->count);
	o->count = 0;
}

/* Credits the lane's cell with what it served since the last time. */
static void drain(struct nm_engine *e, struct nm_origin *o)
{
	uint64_t word = nm_lane_of(o, word);
	uint32_t runs = o->plan->runs - (o->plan == e->underway && o->access >= e->served);

	if (o->access + 1u >= o->plan->words) /* it is only used singly */
		return;
	add_references(e, word, (uint32_t)word, runs - o->debit);
	o->debit = runs;
}

/* Adds what a plan did since the last time to the engine's sums. */
static void sum(struct nm_engine *e, struct nm_plan_tables *t)
{
	uint64_t runs = t->plan->runs - t->summed;

	e->clock += runs * t->plan->instructions;
	e->references += runs * t->plan->more;
	t->summed = t->plan->runs;
}

void nm_engine_drain(struct nm_engine *e)
{
	for (size_t i = 0; i < e->tables.count; i++)
		sum(e, &e->tables.at[i]);
	for (size_t i = 0; i < e->origins.count; i++) {
		drain(e, &e->origins.at[i]);
		credit(e, &e->origins.at[i]);
	}
	e->drain_at = e->references + DRAIN_REFERENCES;
}

/* The lane turns to another cell, perhaps.  Returns by how many bytes a group is longer than its first. */
static uint64_t turn(struct nm_engine *e, struct nm_origin *o, uint32_t cell)
{
	uint64_t *word = &nm_lane_of(o, word);

	if ((uint32_t)*word != cell)
		drain(e, o);
	*word = *word >> 32 << 32 | cell;
	return nm_word_is_coalesced(*word) ? nm_word_size(*word) - 1u : 0;
}

/* The lane turns to the running function's frame. */
static void turn_to_frame(struct nm_engine *e, struct nm_origin *o, uint32_t cell)
{
	const uint64_t excess = turn(e, o, cell);

	nm_lane_of(o, low) = NM_LOW_OF_FRAME;
	nm_lane_of(o, length) = NM_BIAS + NM_SPARE - excess;
}

/* The lane turns to a range. */
static void turn_to(struct nm_engine *e, struct nm_origin *o, uint64_t low, uint64_t length, uint32_t cell)
{
	const uint64_t excess = turn(e, o, cell);

	nm_lane_of(o, low) = NM_BIAS + low;
	nm_lane_of(o, length) = NM_BIAS + (length > excess ? length - excess : 0);
}

/* Keeps a lasting range with the access. */
static int keep_mapping(struct nm_engine *e, uint32_t origin, const struct nm_place *place, uint32_t cell)
{
	struct nm_origin *o = &e->origins.at[origin];

	if (!o->listed && nm_vec_push(&e->listed, origin))
		return NM_ENOMEM;
	o->listed = 1;
	turn_to(e, o, place->low, place->end - place->low, cell);
	return 0;
}

/* Whether the access still keeps the range of the block. */
static int keeps(const struct nm_engine *e, uint32_t origin, const struct nm_block *b)
{
	const struct nm_origin *o = &e->origins.at[origin];

	return nm_lane_of(o, low) == NM_BIAS + b->address && nm_lane_of(o, length) != NM_NO_LENGTH;
}

/* Drops the cachers of accesses that have turned to something else since, and all but one of each other: no more are
 * left than there are accesses. */
static __attribute__((noinline)) void drop_cachers(struct nm_engine *e)
{
	struct nm_cacher *const all = e->cachers.at;
	struct nm_block *const blocks = e->space.heap.list.at;
	uint32_t left = 1;

	for (size_t i = 1; i < e->cachers.count; i++)
		blocks[all[i].block].cachers = 0;
	for (size_t i = 1; i < e->cachers.count; i++) {
		const uint32_t origin = all[i].origin, block = all[i].block;

		if (!block || e->origins.at[origin].cached || !keeps(e, origin, &blocks[block]))
			continue;
		e->origins.at[origin].cached = 1;
		all[left] = (struct nm_cacher){origin, blocks[block].cachers, block};
		blocks[block].cachers = left++;
	}
	for (size_t i = 1; i < left; i++)
		e->origins.at[all[i].origin].cached = 0;
	e->cachers.count = left;
	e->free_cacher = 0;
}

/* A cacher in nobody's list; 0: memory is exhausted. */
static uint32_t new_cacher(struct nm_engine *e)
{
	const uint32_t c = e->free_cacher;

	if (c) {
		e->free_cacher = e->cachers.at[c].next;
		return c;
	}
	if (e->cachers.count >= CACHERS + 2 * e->origins.count)
		drop_cachers(e);
	if (!e->cachers.count && nm_vec_push(&e->cachers, (struct nm_cacher){0}))
		return 0;
	return nm_vec_push(&e->cachers, (struct nm_cacher){0}) ? 0 : (uint32_t)e->cachers.count - 1;
}

/* Keeps a heap block's range with the access. */
static int keep_block(struct nm_engine *e, uint32_t origin, uint32_t id, uint32_t cell)
{
	struct nm_block *block = &e->space.heap.list.at[id];
	const uint32_t c = new_cacher(e);

	if (!c)
		return NM_ENOMEM;
	e->cachers.at[c] = (struct nm_cacher){origin, block->cachers, id};
	block->cachers = c;
	turn_to(e, &e->origins.at[origin], block->address, block->size, cell);
	return 0;
}

/* An access comes to a heap block once more: keeps its range if that was often enough. */
static inline int visit(struct nm_engine *e, uint32_t origin, uint32_t block, uint32_t cell)
{
	struct nm_origin *o = &e->origins.at[origin];

	o->again = o->block == block ? (uint8_t)(o->again + 1) : 0;
	o->block = block;
	if (__builtin_expect(o->again < VISITS_TO_KEEP, 1))
		return 0;
	o->again = 0;
	return keep_block(e, origin, block, cell);
}

/* Keeps the place's range, if it may be and is worth it. */
static inline int keep(struct nm_engine *e, uint32_t origin, const struct nm_place *place, uint32_t cell)
{
	if (place->block)
		return visit(e, origin, place->block, cell);
	return place->lasting ? keep_mapping(e, origin, place, cell) : 0;
}

/* ---- objects ---- */

/* The bucket of a block that is not handed out yet: calloc has it cleared and realloc has the old contents copied
 * to it, by a function that they call, before the stream can tell of the block.  calloc leaves by a jump to memset,
 * so whoever clears heap that no block covers is taken for calloc's last step.  0: none of this. */
static int find_unborn(struct nm_engine *e, const struct nm_plan *plan, int in_heap, uint32_t *ret_object)
{
	const struct nm_object *objects = e->space.objects.at;
	const struct nm_stack *s = nm_frames_stack(&e->thread->frames);
	size_t n = s->frames.count, outermost = n;
	uint64_t pcs[NM_CONTEXT_DEPTH];
	uint32_t count = 0, context, chain;

	*ret_object = 0;
	if (!plan->fills)
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
	chain = e->options.heap_chains ? s->frames.at[outermost - 1].context + 1 : 0;
	return nm_space_bucket(&e->space, context, chain, ret_object);
}

/* The frame of another thread that holds the address, or 0. */
static uint32_t find_foreign_frame(const struct nm_engine *e, uint64_t address)
{
	uint32_t owner = 0;

	for (size_t i = 0; i < e->threads.count && !owner; i++)
		owner = nm_frames_owner(&e->threads.at[i]->frames, address);
	return owner;
}

/* Takes the stacks out of the place's range: whose they are changes with every call. */
static void leave_stacks_out(const struct nm_engine *e, uint64_t address, struct nm_place *place)
{
	for (size_t i = 0; i < e->threads.count; i++) {
		const struct nm_frames *frames = &e->threads.at[i]->frames;

		for (size_t k = 0; k < frames->stacks.count; k++) {
			const struct nm_stack *s = &frames->stacks.at[k];

			if (nm_stack_holds(s, address))
				place->lasting = place->page = 0;
			else if (s->end <= address && s->end > place->low)
				place->low = s->end;
			else if (s->low > address && s->low < place->end)
				place->end = s->low;
		}
	}
}

/* The object at an address that is not in the running function's frame.  plan: of the block; may be NULL
 * unless its function copies or clears memory. */
static int find_object(struct nm_engine *e, const struct nm_plan *plan, uint64_t address,
		       struct nm_place *place)
{
	enum nm_object_kind kind;
	uint32_t other = 0;

	*place = (struct nm_place){.object = nm_frames_owner(&e->thread->frames, address)};
	if (place->object)
		return 0;
	if (nm_space_find(&e->space, address, place))
		return NM_ENOMEM;
	kind = e->space.objects.at[place->object].kind;
	if (kind == NM_OBJECT_ANONYMOUS || kind == NM_OBJECT_STACK || kind == NM_OBJECT_UNKNOWN) {
		if (kind == NM_OBJECT_ANONYMOUS && plan &&
		    find_unborn(e, plan, place->object == e->space.bookkeeping, &other))
			return NM_ENOMEM;
		if (!other)
			other = find_foreign_frame(e, address);
		if (other)
			*place = (struct nm_place){.object = other};
		else if (place->lasting || place->page)
			leave_stacks_out(e, address, place);
	}
	nm_space_remember(&e->space, address, place);
	return 0;
}

/* Whether a look at a granule of the heap tells of references that waited: nothing is named, no stack lies there. */
static inline int is_plain_heap(const struct nm_engine *e)
{
	return !e->space.named.live && e->thread->frames.stacks.count <= 1;
}

/* The object at the address of a reference that waited. */
static int find_late(struct nm_engine *e, uint64_t address, struct nm_place *place)
{
	uint32_t glance, block;

	if (!is_plain_heap(e))
		return find_object(e, NULL, address, place);
	glance = nm_blocks_glance(&e->space.heap, address);
	block = glance & ~NM_GRANULE_WHOLE;
	if (glance != block) {
		*place = (struct nm_place){.object = e->space.heap.objects[block], .block = block};
		return 0;
	}
	if (!glance && nm_space_recall(&e->space, address, place))
		return 0;
	return find_object(e, NULL, address, place);
}

/* ---- cells ---- */

/* The access comes to another object: its cell. */
static __attribute__((noinline)) uint32_t change_object(struct nm_engine *e, uint32_t origin, uint32_t object)
{
	struct nm_origin *o = &e->origins.at[origin];

	credit(e, o);
	o->object = object;
	o->cell = o->grouped ? nm_engine_coalesced(e, origin, object) : nm_engine_cell(e, origin, object);
	o->count = 1;
	return o->cell;
}

/* One more reference to an object: its cell. */
static inline uint32_t charge(struct nm_engine *e, uint32_t origin, uint32_t object)
{
	struct nm_origin *o = &e->origins.at[origin];

	if (o->object != object || !o->cell)
		return change_object(e, origin, object);
	o->count++;
	return o->cell;
}

/* The object at an address. */
static int find_any(struct nm_engine *e, const struct nm_plan *plan, uint64_t address, uint32_t *ret_object)
{
	struct nm_place place;

	*ret_object = 0;
	if (plan && address - e->reach.low < e->reach.own)
		*ret_object = plan->stack_object;
	else if (plan && nm_stack_holds(e->stack, address))
		*ret_object = nm_stack_owner(e->stack, address);
	if (*ret_object)
		return 0;
	if (plan ? find_object(e, plan, address, &place) : find_late(e, address, &place))
		return NM_ENOMEM;
	*ret_object = place.object;
	return 0;
}

/* The same of a group that may lie in more than one object. */
static uint32_t charge_apart(struct nm_engine *e, const struct nm_plan *plan, uint32_t origin,
			     uint64_t address)
{
	const struct nm_origin *o = &e->origins.at[origin];
	const struct nm_plan_tables *t = &e->tables.at[o->plan->tables];
	const struct nm_sharers s = nm_plan_sharers(t, o->access);
	uint32_t objects[NM_COALESCED_MAX] = {0}, n = 0, group;
	int mixed = 0;

	for (uint32_t i = s.first; i < s.end; i++) {
		if (find_any(e, plan, address + t->single[i].distance, &objects[n]))
			return 0;
		mixed |= objects[n++] != objects[0];
	}
	if (!mixed)
		return charge(e, origin, objects[0]);
	group = nm_engine_mixed_coalesced(e, origin, objects);
	if (group)
		nm_coalesced_at(e->coalesced, group)->count++;
	return group;
}

/* Whether an access, or all of a group, is to the object that was found at its address, as far as the place tells. */
static inline int is_within(const struct nm_engine *e, uint32_t origin, uint64_t address,
			    const struct nm_place *place)
{
	const uint64_t word = nm_lane_of(&e->origins.at[origin], word), end = address + nm_word_size(word);

	if (!nm_word_is_coalesced(word))
		return 1;
	if (place->block)
		return end <=
		       e->space.heap.list.at[place->block].address + e->space.heap.list.at[place->block].size;
	return place->lasting && end <= place->end;
}

uint32_t nm_engine_resolve(struct nm_engine *e, const struct nm_plan *plan, uint32_t origin, uint64_t address)
{
	struct nm_origin *o = &e->origins.at[origin];
	const uint64_t word = nm_lane_of(o, word);
	const uint64_t last = nm_word_is_coalesced(word) ? address + nm_word_size(word) - 1 : address;
	struct nm_place place;
	uint32_t cell;

	if (nm_engine_settle(e))
		return 0;
	if (address - e->reach.low < e->reach.own) {
		if (last - e->reach.low >= e->reach.own)
			return charge_apart(e, plan, origin, address);
		cell = charge(e, origin, plan->stack_object);
		if (cell)
			turn_to_frame(e, o, cell);
		return cell;
	}
	if (find_object(e, plan, address, &place))
		return 0;
	if (!is_within(e, origin, address, &place))
		return charge_apart(e, plan, origin, address);
	cell = charge(e, origin, place.object);
	return cell && keep(e, origin, &place, cell) ? 0 : cell;
}

/* Whose frame an access, or all of a group, is to, on the running stack; 0: it is not known, or is more than one. */
static uint32_t stack_owner(const struct nm_engine *e, uint32_t origin, uint64_t address)
{
	const struct nm_origin *o = &e->origins.at[origin];
	const struct nm_plan_tables *t = &e->tables.at[o->plan->tables];
	uint32_t object = nm_stack_owner(e->stack, address);
	struct nm_sharers s;

	if (!nm_word_is_coalesced(nm_lane_of(o, word)))
		return object;
	s = nm_plan_sharers(t, o->access);
	for (uint32_t i = s.first; i < s.end; i++) {
		const uint64_t at = address + t->single[i].distance;

		if (!nm_stack_holds(e->stack, at) || nm_stack_owner(e->stack, at) != object)
			return 0;
	}
	return object;
}

/* A reference of the batch: its cell, unless that can wait. */
static int open_lane(struct nm_engine *e, const struct nm_plan *plan, uint32_t origin, uint32_t index)
{
	uint64_t address = e->batch[index].address, depth = address - e->reach.low;
	uint32_t object = 0;

	if (depth >= e->reach.own && depth < e->reach.length)
		object = stack_owner(e, origin, address);
	if (object || (depth >= e->reach.length && depth < -(uint64_t)NM_BELOW && !plan->fills)) {
		e->batch[index].cell = object;
		e->open[e->open_count++] =
		    (uint64_t)origin << 32 | (object ? NM_KNOWN : 0) | NM_DEBITED | index;
		return 0;
	}
	e->batch[index].cell = nm_engine_resolve(e, plan, origin, address);
	return e->batch[index].cell ? 0 : NM_ENOMEM;
}

int nm_engine_open_lanes(struct nm_engine *e, const struct nm_plan *plan, size_t at, unsigned lanes)
{
	uint32_t origin = plan->first_origin + (uint32_t)at, index = (uint32_t)e->batched;
	int status = 0;

	/* To settle may turn lanes of this plan, for which its runs are to be right. */
	for (unsigned left = lanes; left; left &= left - 1)
		e->origins.at[origin + (unsigned)__builtin_ctz(left)].debit++;
	e->underway = plan;
	e->served = (uint32_t)at + NM_LANES;
	for (unsigned left = lanes; left && !status; left &= left - 1) {
		unsigned lane = (unsigned)__builtin_ctz(left);

		status = open_lane(e, plan, origin + lane, index + lane);
	}
	e->underway = NULL;
	return status;
}

/* A reference that waited, wherever it is. */
static __attribute__((noinline)) uint32_t settle_any(struct nm_engine *e, uint32_t origin, uint64_t address)
{
	struct nm_place place;
	uint32_t cell;

	if (find_late(e, address, &place))
		return 0;
	if (!is_within(e, origin, address, &place))
		return charge_apart(e, NULL, origin, address);
	cell = charge(e, origin, place.object);
	return cell && keep(e, origin, &place, cell) ? 0 : cell;
}

/* The same where it is to a heap block that has the whole granule, as most are; plain: is_plain_heap. */
static inline uint32_t settle(struct nm_engine *e, uint32_t origin, uint64_t address, int plain)
{
	const uint32_t glance = plain ? nm_blocks_glance(&e->space.heap, address) : 0;
	const uint32_t block = glance & ~NM_GRANULE_WHOLE;
	uint32_t cell;

	if (glance == block || e->origins.at[origin].grouped)
		return settle_any(e, origin, address);
	cell = charge(e, origin, e->space.heap.objects[block]);
	return cell && visit(e, origin, block, cell) ? 0 : cell;
}

int nm_engine_settle_list(struct nm_engine *e)
{
	const int plain = is_plain_heap(e);

	for (size_t i = 0; i < e->open_count; i++)
		e->origins.at[e->open[i] >> 32].debit += !(e->open[i] & NM_DEBITED);
	for (size_t i = 0; i < e->open_count; i++) {
		const uint32_t index = (uint32_t)e->open[i], origin = (uint32_t)(e->open[i] >> 32);
		struct nm_ref *r = &e->batch[index & (NM_DEBITED - 1)];

		r->cell =
		    index & NM_KNOWN ? charge(e, origin, r->cell) : settle(e, origin, r->address, plain);
		if (!r->cell)
			return NM_ENOMEM;
	}
	e->open_count = 0;
	if (e->patterns.taken >= e->batched)
		return 0;
	if (nm_fields_take(e, e->patterns.taken, e->batched))
		return NM_ENOMEM;
	return nm_patterns_take(&e->patterns, e->origin_sites.at, e->batch, e->batched);
}
