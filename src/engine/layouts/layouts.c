/* SPDX-License-Identifier: MIT
 *
 * layouts.c - see layouts.h. Each candidate has instances of the cache pass and of that of relocations.
 *
 * With several threads the decoding thread collects a chunk of references, moved, for each candidate; then all
 * instances run their chunks, side by side, while it waits or runs some of them itself. With one thread a batch is a
 * chunk, which is still in the host's cache.
 */
#include "layouts.h"

#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"
#include "placement.h"
#include "recent_places.h"
#include "tasks.h"

enum { CHUNK = 1 << 15 /* references */ };

/* A key of a batch, as a candidate sees it. */
struct layout_key {
	uint8_t known;
	uint8_t is_malloc; /* they are malloc's, to its own data */
	uint8_t visits;    /* its references visit the blocks of an order */
	uint32_t member;   /* of the rule's map, accessed last */
	uint32_t object;
	struct nm_layout_rule *rule; /* or NULL */
};

struct layout {
	struct nm_placement placement;
	struct nm_vec(struct layout_key) keys;
	struct nm_vec(uint8_t) groups; /* by coalesced access: 1: none of it moves, 2: it may */
	int places_heap;               /* groups are known under this condition (placement.h) */
	struct nm_vec(struct nm_attr_references) more; /* by key: references that the program did not make */
	struct nm_vec(struct nm_ref) out;
	struct nm_vec(struct nm_ref) held; /* malloc's, in the heap, until it is known which block comes */
	struct nm_ref of_malloc;           /* one of them; weight 0: there was none */
	void *cache, *relocations;
	int failed[2]; /* they, in a chunk: their codes */
};

struct nm_layouts {
	struct nm_engine *engine;
	const struct nm_coalesced_table *coalesced;
	struct nm_engine_options options; /* of the passes; single events are kept of the program as it is */
	size_t most;                      /* references in chunks of candidates */
	int uncounted;
	struct nm_recent_places *recent; /* of heap blocks */
	size_t count;
	struct layout at[];
};

int nm_layouts_add_areas(struct nm_areas *areas)
{
	return nm_areas_add(areas, NM_MEMORY_BLOCKS, NM_MEMORY_BLOCKS + NM_MEMORY_BYTES, NM_AREA_HEAP,
			    NULL) ||
		       nm_areas_add(areas, NM_MEMORY_PAGES, NM_MEMORY_PAGES + NM_MEMORY_BYTES,
				    NM_AREA_MAPPING, NULL) ||
		       nm_areas_add(areas, NM_MEMORY_HUGE, NM_MEMORY_HUGE + NM_MEMORY_BYTES, NM_AREA_MAPPING,
				    NULL)
		   ? NM_ENOMEM
		   : 0;
}

int nm_layouts_new(struct nm_layouts **ret, struct nm_engine *e, const struct nm_pass_setup *setup,
		   struct nm_error *err)
{
	const size_t count = e->options.candidate_count;
	struct nm_layouts *all = count ? calloc(1, sizeof *all + count * sizeof *all->at) : NULL;
	struct nm_pass_setup further = *setup;
	int status = 0;

	if (!count)
		return 0;
	if (!all)
		return nm_fail_memory(err);
	all->engine = e;
	all->coalesced = setup->coalesced;
	all->options = e->options;
	all->options.event_query = NULL;
	all->options.threads = 1;
	further.options = &all->options;
	further.sampler = NULL;
	all->recent = nm_recent_places_new((unsigned)count);
	if (!all->recent)
		status = nm_fail_memory(err);
	for (; all->count < count && !status; all->count++) {
		struct layout *l = &all->at[all->count];

		status = nm_placement_init(&l->placement, &e->options.candidates[all->count])
			     ? nm_fail_memory(err)
			     : nm_pass_cache.make(&l->cache, &further, err);
		if (!status)
			status = nm_pass_relocations.make(&l->relocations, &further, err);
	}
	if (status)
		nm_layouts_free(all);
	else
		*ret = all;
	return status;
}

static void end_passes(struct layout *l)
{
	if (l->cache)
		nm_pass_cache.free(l->cache);
	if (l->relocations)
		nm_pass_relocations.free(l->relocations);
	l->cache = l->relocations = NULL;
}

void nm_layouts_free(struct nm_layouts *all)
{
	for (size_t i = 0; all && i < all->count; i++) {
		struct layout *l = &all->at[i];

		end_passes(l);
		nm_placement_done(&l->placement);
		nm_vec_free(&l->keys);
		nm_vec_free(&l->groups);
		nm_vec_free(&l->more);
		nm_vec_free(&l->out);
		nm_vec_free(&l->held);
	}
	if (all)
		free(all->recent);
	free(all);
}

/* ---- references ----------------------------------------------------------------------------------- */

static int know_key(const struct nm_layouts *all, struct layout *l, uint32_t key, uint64_t address)
{
	struct nm_engine *e = all->engine;
	struct layout_key *k = &l->keys.at[key];
	const char *visitor;
	int known;

	k->object = nm_program_attribution(e, nm_program_attr_of_key(e, key))->object;
	if (nm_placement_rule(&l->placement, e, k->object, address, &k->rule, &known))
		return NM_ENOMEM;
	k->known = (uint8_t)known;
	k->is_malloc = k->object == e->space.bookkeeping;
	visitor = k->rule && nm_layout_rule_orders(k->rule) ? k->rule->pool->visitor : NULL;
	k->visits = !visitor || nm_program_is_in_function(e, nm_program_attr_of_key(e, key), visitor);
	return 0;
}

/* Whether a reference can be to what moves: *ret. */
static inline int find_rule(const struct nm_layouts *all, struct layout *l, const struct nm_ref *r,
			    struct nm_layout_rule **ret)
{
	if (nm_vec_reach(&l->keys, (size_t)r->attr + 1) ||
	    (!l->keys.at[r->attr].known && know_key(all, l, r->attr, r->address)))
		return NM_ENOMEM;
	*ret = l->keys.at[r->attr].rule;
	if (*ret && !(*ret)->is_named && !l->placement.places_heap)
		*ret = NULL;
	return 0;
}

/* The place around an address of an object with a rule, and its spot; or NULL. */
static int find_place(struct nm_layouts *all, struct layout *l, struct nm_layout_rule *rule, uint32_t object,
		      uint64_t address, struct nm_layout_place **ret, struct nm_layout_spot *ret_spot)
{
	const unsigned candidate = (unsigned)(l - all->at);
	const struct nm_recent_block *block =
	    rule->is_heap ? nm_recent_block(all->recent, object, address) : NULL;
	const struct nm_recent_place *known = block ? nm_recent_place(all->recent, block, candidate) : NULL;
	struct nm_layout_place *place = rule->recent;
	int status = 0, is_recent;

	if (known && known->place && nm_program_owner(all->engine, address) == object) {
		*ret = rule->recent = known->place;
		*ret_spot = (struct nm_layout_spot){block->low, block->end, known->base};
		return 0;
	}
	is_recent = place && address - place->low < place->end - place->low;
	if (!is_recent)
		status = nm_placement_find(&l->placement, all->engine, rule, object, address, &place);
	*ret = place;
	if (status || !place)
		return status;
	*ret_spot = (struct nm_layout_spot){place->low, place->end, place->bases[0]};
	if (!is_recent && rule->is_heap && !nm_layout_rule_orders(rule) &&
	    address - place->low < place->end - place->low)
		nm_recent_places_put(all->recent, address,
				     (struct nm_recent_block){place->low, place->end, object}, candidate,
				     (struct nm_recent_place){place, place->bases[0]});
	return 0;
}

/* The reference, at its places. */
static int move(struct layout *l, const struct nm_layout_place *place, const struct nm_ref *r)
{
	struct nm_moved moved[NM_MOVED_MOST];
	const unsigned count = nm_placement_move(place, r->address, r->size, moved);
	struct nm_attr_references *more;

	if (nm_vec_reserve(&l->out, count) || nm_vec_reach(&l->more, (size_t)r->attr + 1))
		return NM_ENOMEM;
	more = &l->more.at[r->attr];
	for (unsigned i = 0; i < count; i++) {
		struct nm_ref *to = &l->out.at[l->out.count++];

		*to = *r;
		to->address = moved[i].address;
		to->size = (uint16_t)moved[i].bytes;
		if (moved[i].is_pointer)
			to->kind = NM_REF_READ;
		more->count[to->kind == NM_REF_WRITE] += 1;
	}
	more->count[r->kind == NM_REF_WRITE] -= 1;
	return 0;
}

/* Adds a reference of the program's repair. */
static void add(struct layout *l, const struct nm_ref *r, enum nm_ref_kind kind, uint64_t address,
		uint64_t bytes)
{
	struct nm_ref *to = &l->out.at[l->out.count++];

	*to = *r;
	to->kind = (uint8_t)kind;
	to->address = address;
	to->size = (uint16_t)bytes;
	l->more.at[r->attr].count[kind == NM_REF_WRITE]++;
}

/* The first visit of a block: the program copies it behind the one that it visited before. */
static int copy(struct layout *l, struct nm_layout_place *place, const struct nm_ref *r)
{
	enum { PIECE = 16 /* bytes that one instruction copies */ };
	const uint64_t bytes = nm_placement_bytes(place);
	uint64_t from;

	if (nm_placement_visit(&l->placement, place, &from) ||
	    nm_vec_reserve(&l->out, 2 * (bytes / PIECE + 1)) || nm_vec_reach(&l->more, (size_t)r->attr + 1))
		return NM_ENOMEM;
	for (uint64_t at = 0; at < bytes; at += PIECE) {
		const uint64_t piece = bytes - at < PIECE ? bytes - at : PIECE;

		add(l, r, NM_REF_READ, from + at, piece);
		add(l, r, NM_REF_WRITE, place->bases[0] + at, piece);
	}
	return 0;
}

static int visits(const struct layout *l, const struct nm_layout_rule *rule,
		  const struct nm_layout_place *place, const struct nm_ref *r)
{
	return nm_layout_rule_orders(rule) && !place->is_visited && l->keys.at[r->attr].visits &&
	       r->kind == NM_REF_READ;
}

/* A reference to memory outside blocks, which malloc may be about to give out. */
static int hold(struct layout *l, const struct nm_ref *r)
{
	enum { MOST = 1 << 18 };

	if (l->held.count == MOST)
		return nm_vec_push(&l->out, *r);
	if (l->keys.at[r->attr].is_malloc)
		l->of_malloc = *r;
	return nm_vec_push(&l->held, *r);
}

/* A reference to what has no place. */
static int take_unplaced(const struct nm_layouts *all, struct layout *l, const struct nm_ref *r)
{
	if (nm_placement_in_heap(&l->placement, r->address) &&
	    (l->keys.at[r->attr].is_malloc || !nm_program_owner(all->engine, r->address)))
		return hold(l, r);
	return nm_vec_push(&l->out, *r);
}

/* A reference to an object with a rule. */
static int take_ruled(struct nm_layouts *all, struct layout *l, struct nm_layout_rule *rule,
		      const struct nm_ref *r)
{
	struct layout_key *key = &l->keys.at[r->attr];
	struct nm_layout_place *place;
	struct nm_layout_spot spot;
	struct nm_ref moved = *r;
	int status = find_place(all, l, rule, key->object, r->address, &place, &spot);

	if (status || !place)
		return status ? status : take_unplaced(all, l, r);
	if (visits(l, rule, place, r)) {
		status = copy(l, place, r);
		return status ? status : move(l, place, r);
	}
	return nm_placement_shift(rule, &spot, r->address, r->size, &key->member, &moved.address)
		   ? nm_vec_push(&l->out, moved)
		   : move(l, place, r);
}

static int take_one(struct nm_layouts *all, struct layout *l, const struct nm_ref *r)
{
	struct nm_layout_rule *rule;

	if (r->kind == NM_REF_FETCH || !r->weight)
		return nm_vec_push(&l->out, *r);
	if (find_rule(all, l, r, &rule))
		return NM_ENOMEM;
	return rule ? take_ruled(all, l, rule, r) : take_unplaced(all, l, r);
}

/* A coalesced access whose members, [count] of them, move as a whole stays one. 1 if it does; or a code. */
static int take_whole(struct nm_layouts *all, struct layout *l, const struct nm_ref *r,
		      const struct nm_ref *members, unsigned count)
{
	struct layout_key *first = &l->keys.at[members[0].attr];
	struct nm_layout_place *place;
	struct nm_layout_spot spot;
	struct nm_ref moved = *r;
	int status;

	if (!first->known || !first->rule || (!first->rule->is_named && !l->placement.places_heap) ||
	    nm_layout_rule_orders(first->rule))
		return 0;
	for (unsigned i = 1; i < count; i++)
		if (l->keys.at[members[i].attr].object != first->object)
			return 0;
	status = find_place(all, l, first->rule, first->object, r->address, &place, &spot);
	if (status || !place ||
	    !nm_placement_shift(first->rule, &spot, r->address, r->size, &first->member, &moved.address))
		return status;
	return nm_vec_push(&l->out, moved) ? NM_ENOMEM : 1;
}

/* A coalesced access of which nothing moves stays one. */
static int take_group(struct nm_layouts *all, struct layout *l, const struct nm_ref *r)
{
	struct nm_ref single[NM_COALESCED_MAX];
	const unsigned count = nm_pass_expand(all->coalesced, r, single);
	int moves = 0, status = 0;

	if (l->places_heap != l->placement.places_heap && l->groups.count)
		memset(l->groups.at, 0, l->groups.count);
	l->places_heap = l->placement.places_heap;
	if (nm_vec_reach(&l->groups, (size_t)r->attr + 1))
		return NM_ENOMEM;
	if (l->groups.at[r->attr] == 1)
		return nm_vec_push(&l->out, *r);
	for (unsigned i = 0; i < count && !status && !l->groups.at[r->attr]; i++) {
		struct nm_layout_rule *rule;

		status = find_rule(all, l, &single[i], &rule);
		moves |= !status && (rule || !l->keys.at[single[i].attr].known ||
				     (l->places_heap && l->keys.at[single[i].attr].is_malloc));
	}
	if (!status && !l->groups.at[r->attr])
		l->groups.at[r->attr] = moves ? 2 : 1;
	if (!status && l->groups.at[r->attr] == 1)
		return nm_vec_push(&l->out, *r);
	if (!status)
		status = take_whole(all, l, r, single, count);
	if (status)
		return status < 0 ? status : 0;
	for (unsigned i = 0; i < count && !status; i++)
		status = take_one(all, l, &single[i]);
	return status;
}

/* The cache pass of each candidate, then the relocations of each. */
static void run_pass(void *self, unsigned task)
{
	struct nm_layouts *all = self;
	struct layout *l = &all->at[task % all->count];
	const int relocates = task >= all->count;
	const struct nm_pass *pass = relocates ? &nm_pass_relocations : &nm_pass_cache;
	void *instance = relocates ? l->relocations : l->cache;
	int status = 0;

	for (size_t i = 0; instance && i < l->out.count && !status; i += NM_BATCH) {
		const size_t left = l->out.count - i;
		const struct nm_pass_batch batch = {.refs = l->out.at + i,
						    .count = left < NM_BATCH ? left : NM_BATCH,
						    .uncounted = all->uncounted,
						    .next =
							left > NM_BATCH ? l->out.at + i + NM_BATCH : NULL};

		status = pass->batch(instance, &batch);
	}
	l->failed[relocates] = status;
}

int nm_layouts_run(struct nm_layouts *all)
{
	int status = 0;

	if (!all || !all->most)
		return 0;
	nm_run_tasks(all->engine->options.threads, 2 * (unsigned)all->count, run_pass, all);
	for (size_t i = 0; i < all->count; i++) {
		struct layout *l = &all->at[i];

		l->out.count = 0;
		status = status ? status : l->failed[0] ? l->failed[0] : l->failed[1];
	}
	all->most = 0;
	return status;
}

int nm_layouts_add(struct nm_layouts *all, const struct nm_ref *refs, size_t count, int uncounted)
{
	int status = 0;

	if (!all)
		return 0;
	for (size_t i = 0; i < all->count && !status; i++) {
		struct layout *l = &all->at[i];

		for (size_t k = 0; k < count && !status; k++)
			status = nm_ref_is_coalesced(&refs[k]) ? take_group(all, l, &refs[k])
							       : take_one(all, l, &refs[k]);
		all->most = l->out.count > all->most ? l->out.count : all->most;
	}
	all->uncounted |= uncounted;
	return status || (all->engine->options.threads > 1 && all->most < CHUNK) ? status
										 : nm_layouts_run(all);
}

/* ---- the program's memory ------------------------------------------------------------------------- */

int nm_layouts_memory(struct nm_layouts *all, const struct nm_range *ranges, size_t count)
{
	const struct nm_range own[] = {
	    {NM_MEMORY_BLOCKS, NM_MEMORY_BLOCKS + NM_MEMORY_BYTES, NM_PAGE_4K},
	    {NM_MEMORY_PAGES, NM_MEMORY_PAGES + NM_MEMORY_BYTES, NM_PAGE_4K},
	    {NM_MEMORY_HUGE, NM_MEMORY_HUGE + NM_MEMORY_BYTES, NM_PAGE_2M},
	};
	enum { OWN = sizeof own / sizeof *own };
	struct nm_range *list = all ? malloc((count + OWN) * sizeof *list) : NULL;
	size_t below = 0;
	int status = 0;

	if (!all)
		return 0;
	if (!list)
		return NM_ENOMEM;
	while (below < count && ranges[below].low < own[0].low)
		below++;
	memcpy(list, ranges, below * sizeof *list);
	memcpy(list + below, own, sizeof own);
	memcpy(list + below + OWN, ranges + below, (count - below) * sizeof *list);
	for (size_t i = 0; i < all->count && !status; i++)
		status = nm_pass_cache.memory(all->at[i].cache, list, count + OWN);
	free(list);
	return status;
}

int nm_layouts_keys(struct nm_layouts *all, const struct nm_attribution *attributions, size_t count)
{
	int status = 0;

	for (size_t i = 0; all && i < all->count && !status; i++)
		status = nm_pass_cache.keys(all->at[i].cache, attributions, count);
	return status;
}

/* What malloc did, instead of what it did in the program: what it wrote into the block that has come (NULL: one has
 * gone) as the new memory of calloc and the copy of realloc, it writes into its place. */
static int add_malloc(struct nm_layouts *all, struct layout *l, const struct nm_block *block)
{
	struct nm_malloc_heap *heap = &l->placement.memory.heap;
	struct nm_layout_place *place = block ? nm_placement_at(&l->placement, block->address) : NULL;
	int status = 0;

	if (nm_vec_reserve(&l->out, heap->touches.count) ||
	    nm_vec_reach(&l->more, (size_t)l->of_malloc.attr + 1))
		return NM_ENOMEM;
	for (size_t i = 0; i < heap->touches.count && l->of_malloc.weight; i++)
		add(l, &l->of_malloc, heap->touches.at[i].is_write ? NM_REF_WRITE : NM_REF_READ,
		    heap->touches.at[i].address, sizeof(uint64_t));
	heap->touches.count = 0;
	for (size_t i = 0; i < l->held.count && !status; i++) {
		const struct nm_ref *r = &l->held.at[i];

		if (nm_vec_reach(&l->more, (size_t)r->attr + 1))
			status = NM_ENOMEM;
		else if (!block || r->address < block->address ||
			 r->address + r->size > block->address + block->size)
			l->more.at[r->attr].count[r->kind == NM_REF_WRITE]--;
		else
			status = place ? move(l, place, r) : nm_vec_push(&l->out, *r);
	}
	l->held.count = 0;
	all->most = l->out.count > all->most ? l->out.count : all->most;
	return status;
}

int nm_layouts_allocated(struct nm_layouts *all, uint64_t address, enum nm_heap_call call)
{
	struct nm_layout_rule *rule;
	struct nm_block block;
	int known, status = 0;

	if (!all || !nm_program_block(all->engine, address, &block))
		return 0;
	nm_recent_places_forget(all->recent, block.address, block.size);
	for (size_t i = 0; i < all->count && !status; i++) {
		struct nm_placement *p = &all->at[i].placement;

		status = nm_placement_rule(p, all->engine, block.object, address, &rule, &known);
		if (!status)
			status = nm_placement_allocated(p, all->engine, rule, &block, call);
		if (!status && p->places_heap)
			status = add_malloc(all, &all->at[i], &block);
	}
	return status;
}

void nm_layouts_resizes(struct nm_layouts *all, uint64_t address)
{
	for (size_t i = 0; all && i < all->count; i++)
		nm_placement_resizes(&all->at[i].placement, address);
}

int nm_layouts_need_references(const struct nm_layouts *all, uint64_t address)
{
	for (size_t i = 0; all && i < all->count; i++)
		if (all->at[i].placement.places_heap || nm_placement_has(&all->at[i].placement, address))
			return 1;
	return 0;
}

int nm_layouts_released(struct nm_layouts *all, uint64_t address)
{
	int status = 0;

	if (all)
		nm_recent_places_forget(all->recent, address, 1);
	for (size_t i = 0; all && i < all->count && !status; i++) {
		struct nm_placement *p = &all->at[i].placement;

		status = nm_placement_release(p, address);
		if (!status && p->places_heap && p->resizes != address)
			status = add_malloc(all, &all->at[i], NULL);
	}
	return status;
}

/* ---- the result ----------------------------------------------------------------------------------- */

/* The references that a candidate adds go to the first level of data of each machine. */
static void add_more(const struct layout *l, const struct nm_pass_merge *merge, struct nm_result *r)
{
	for (unsigned i = 0; i < r->machine.count; i++) {
		struct nm_counts *counts = r->levels[i].counts;

		for (size_t key = 1; key < l->more.count && nm_machine_first(&r->machine, i, NM_SIDE_DATA);
		     key++) {
			counts[merge->keys[key]].reads += l->more.at[key].count[0];
			counts[merge->keys[key]].writes += l->more.at[key].count[1];
		}
	}
}

/* An attribution's loads wait for each other as they do in the program as it is. */
static void chain(struct nm_result *r, const struct nm_result *base)
{
	for (unsigned i = 0; i < r->machine.count; i++) {
		struct nm_result_level *level = &r->levels[i];

		for (size_t a = 0; a < base->attr_count; a++) {
			const struct nm_counts *was = &base->levels[i].counts[a];
			struct nm_counts *is = &level->counts[a];

			if (was->dependent)
				is->dependent =
				    (is->loads - is->covered) * was->dependent / (was->loads - was->covered);
			level->total.dependent += is->dependent;
		}
	}
}

static int finish_layout(struct layout *l, const struct nm_pass_merge *merge, const struct nm_result *base,
			 struct nm_result_layout *to)
{
	struct nm_result r = {.machine = base->machine,
			      .objects = base->objects,
			      .object_count = base->object_count,
			      .attrs = base->attrs,
			      .attr_count = base->attr_count,
			      .context_attr_count = base->context_attr_count};
	int status = nm_pass_cache.ending(l->cache, merge->program);

	if (!status)
		status = nm_pass_cache.finish(l->cache, merge, &r);
	if (!status && l->relocations)
		status = nm_pass_relocations.finish(l->relocations, merge, &r);
	if (!status) {
		add_more(l, merge, &r);
		chain(&r, base);
	}
	end_passes(l);
	memcpy(to->levels, r.levels, sizeof to->levels);
	to->walks = r.walks;
	to->relocated = r.relocated;
	return status;
}

int nm_layouts_finish(struct nm_layouts *all, const struct nm_pass_merge *merge, struct nm_result *result)
{
	int status = 0;

	if (!all)
		return 0;
	result->layouts = calloc(all->count, sizeof *result->layouts);
	if (!result->layouts)
		return NM_ENOMEM;
	for (size_t i = 0; i < all->count && !status; i++)
		status = finish_layout(&all->at[i], merge, result, &result->layouts[result->layout_count++]);
	return status;
}
