/* SPDX-License-Identifier: MIT
 *
 * resolve.c - finds the cell of an access whose object is not the one that it cached, and keeps what may be
 * kept.
 *
 * Ranges are cached only where events tell when they end: those of variables and mappings in one list that
 * any change of mappings empties, those of heap blocks in a list of each block, which is emptied when the block
 * is released.  A block's range is kept only by an access that comes to it again and again: most small blocks do
 * not live long enough to be worth it.
 */
#include "engine_priv.h"

enum {
	ALLOCATOR_DEPTH = 4,       /* calls between an allocator's entry and what fills a block for it */
	VISITS_TO_CACHE = 6,       /* of an access to one heap block, before it keeps the block's range */
	DRAIN_REFERENCES = 1 << 30 /* between drains of the accesses' counters */
};

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
uint32_t nm_engine_resolve(struct nm_engine *e, struct nm_plan *plan, uint32_t i, uint64_t address)
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
