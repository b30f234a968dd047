/* SPDX-License-Identifier: MIT */
#include "placement.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The rule of objects without one. */
static struct nm_layout_rule none;

/* Where objects of one base lie, and where variables begin: sizes beyond what a program's array has. */
#define SLOT (UINT64_C(1) << 30)
enum { VARIABLE_ALIGNMENT = 32 /* that compilers give to arrays */ };

int nm_placement_init(struct nm_placement *p, struct nm_candidate *candidate)
{
	*p = (struct nm_placement){.candidate = candidate};
	nm_memory_init(&p->memory);
	return nm_vec_reach(&p->bases, candidate->transforms.count) ||
		       nm_vec_reach(&p->pools, candidate->transforms.count)
		   ? NM_ENOMEM
		   : 0;
}

static void free_rule(struct nm_layout_rule *rule)
{
	if (!rule || rule == &none)
		return;
	nm_element_map_done(&rule->map);
	free(rule);
}

void nm_placement_done(struct nm_placement *p)
{
	uint64_t key, place;

	for (size_t i = 0; nm_map_next(&p->places, &i, &key, &place);)
		free((void *)(uintptr_t)place);
	nm_map_done(&p->places);
	for (size_t i = 0; i < p->rules.count; i++)
		free_rule(p->rules.at[i]);
	nm_vec_free(&p->rules);
	for (size_t i = 0; i < p->pools.count; i++)
		nm_pool_done(&p->pools.at[i]);
	nm_vec_free(&p->pools);
	nm_vec_free(&p->bases);
	nm_memory_done(&p->memory);
	nm_elements_done(&p->elements);
}

/* ---- rules ---- */

/* An object for which a rule is sought. */
struct subject {
	struct nm_engine *program;
	uint32_t object;
	const char *name;   /* those of one name share it, */
	const char *unique; /* but not this; NULL until it is asked for */
	const struct nm_type *type;
};

/* Whether an object is meant: by its name, which of those that share it, or what comes before the place of its
 * allocation. A negative code: no memory. */
static int is_object(struct subject *s, const char *typed)
{
	const size_t n = strlen(typed), own = strlen(s->name);

	if (!strncmp(s->name, typed, n) && (!s->name[n] || !strncmp(s->name + n, " (", 2)))
		return 1;
	if (n <= own || strncmp(s->name, typed, own) ||
	    (strncmp(typed + own, " #", 2) && strncmp(typed + own, " (", 2)))
		return 0;
	if (!s->unique && nm_program_unique_name(s->program, s->object, &s->unique))
		return NM_ENOMEM;
	return !strcmp(s->unique, typed);
}

/* Whether a transformation is of an object; *ret_other: as its second one. A negative code: no memory. */
static int is_meant(struct subject *s, const struct nm_transform *t, int *ret_other)
{
	const int is_other = t->other ? is_object(s, t->other) : 0;

	*ret_other = is_other > 0;
	if (is_other || !nm_transform_is_of_type(t))
		return is_other ? is_other : is_object(s, t->target);
	return s->type && nm_is_type_named(s->type->name, t->target) ? 1
	       : s->type && !t->says_struct                          ? is_object(s, t->target)
								     : 0;
}

enum { MOVABLE_LOCAL = 4096 /* bytes: smaller ones share lines with others of their frame */ };

static int can_move(const struct subject *s)
{
	const enum nm_object_kind kind = nm_program_object(s->program, s->object)->kind;

	return kind == NM_OBJECT_GLOBAL || kind == NM_OBJECT_STATIC || kind == NM_OBJECT_HEAP ||
	       kind == NM_OBJECT_NAMED || kind == NM_OBJECT_ANONYMOUS ||
	       (kind == NM_OBJECT_LOCAL && nm_program_local(s->program, s->object)->bytes >= MOVABLE_LOCAL);
}

/* What cannot be done, and why: told when the run has ended. */
static int refuse(struct nm_placement *p, struct nm_transform *t, const char *why)
{
	if (!t->refused)
		t->refused = nm_intern(&p->candidate->names, why);
	return t->refused ? 0 : NM_ENOMEM;
}

static int add_map(struct nm_placement *p, struct nm_layout_rule *rule, struct nm_transform *t,
		   const struct nm_type *type)
{
	struct nm_error err;
	int status = 0;

	if (!rule->has_map)
		status = nm_element_map_init(&rule->map, type);
	rule->has_map = 1;
	if (!status)
		status = nm_element_map_apply(&rule->map, type, t, &err);
	if (status == NM_EINVAL)
		return refuse(p, t, err.text);
	t->met += !status;
	return status;
}

/* That of array elements of so many bytes: at most 16. */
static uint64_t natural_alignment(uint64_t bytes)
{
	const uint64_t low = bytes & -bytes;

	return low < 16 ? low : 16;
}

/* Two arrays side by side, as a structure of both would have them. */
static int merge(struct nm_layout_rule *rule, const struct nm_transform *t, int is_other)
{
	const uint64_t first = natural_alignment(t->bytes), second = natural_alignment(t->other_bytes),
		       both = first > second ? first : second;
	const uint64_t at = (t->bytes + second - 1) / second * second,
		       stride = (at + t->other_bytes + both - 1) / both * both;

	rule->has_map = 1;
	rule->shared = t;
	return nm_element_map_place(&rule->map, is_other ? t->other_bytes : t->bytes, is_other ? at : 0,
				    stride);
}

/* Why the rule cannot have this transformation too, or NULL. */
static const char *conflict(const struct nm_layout_rule *rule, const struct nm_transform *t, int is_other)
{
	static const char *const twice = "another line moves it already";
	const int is_placed = rule->align || rule->pool || rule->huge || rule->shared;

	switch (t->kind) {
	case NM_POOL:
	case NM_ORDER:
		if (!rule->is_heap)
			return "it is no site that allocates blocks";
		return is_placed ? twice : NULL;
	case NM_ALIGN:
	case NM_HUGE_PAGES: return is_placed ? twice : NULL;
	case NM_OFFSET: /* several objects may be moved against one, which stays */
		return is_placed &&
			       (!is_other || !rule->shared || rule->shared->kind == NM_MERGE || rule->shift)
			   ? twice
			   : NULL;
	case NM_MERGE: return is_placed || rule->has_map || rule->rows ? twice : NULL;
	case NM_TRANSPOSE:
	case NM_PAD_ROWS: return rule->has_map || rule->rows ? twice : NULL;
	default: return rule->rows || rule->shared ? twice : NULL;
	}
}

static int add_moved_part(struct nm_placement *p, struct nm_layout_rule *rule, struct nm_transform *t,
			  const struct nm_type *type, int is_other)
{
	const char *why = conflict(rule, t, is_other);

	if (why)
		return refuse(p, t, why);
	if (nm_transform_is_of_type(t))
		return add_map(p, rule, t, type);
	t->met += !is_other;
	t->other_met += (uint64_t)is_other;
	switch (t->kind) {
	case NM_ALIGN: rule->align = t; return 0;
	case NM_POOL:
	case NM_ORDER: rule->pool = t; return 0;
	case NM_HUGE_PAGES: rule->huge = t; return 0;
	case NM_TRANSPOSE:
	case NM_PAD_ROWS: rule->rows = t; return 0;
	case NM_OFFSET:
		rule->shift = is_other ? 0 : t->number;
		rule->shared = t;
		return 0;
	default: return merge(rule, t, is_other);
	}
}

/* Collects what names the object or its type. */
static int make_rule(struct nm_placement *p, struct subject *s, struct nm_layout_rule **ret)
{
	struct nm_layout_rule *rule = NULL;
	int status = 0;

	if (nm_program_object(s->program, s->object)->kind == NM_OBJECT_HEAP) {
		rule = calloc(1, sizeof *rule);
		if (!rule)
			return NM_ENOMEM;
		rule->is_heap = 1;
	}
	for (size_t i = 0; i < p->candidate->transforms.count && !status; i++) {
		struct nm_transform *t = &p->candidate->transforms.at[i];
		int is_other;
		const int meant = is_meant(s, t, &is_other);

		if (meant < 0)
			status = meant;
		else if (meant && !can_move(s))
			status = refuse(p, t, "it is small and on a stack, or a thread's, and stays there");
		if (status || !meant || !can_move(s))
			continue;
		if (!rule && !(rule = calloc(1, sizeof *rule)))
			return NM_ENOMEM;
		rule->is_named = 1;
		status = add_moved_part(p, rule, t, s->type, is_other);
	}
	*ret = rule ? rule : &none;
	return status;
}

int nm_placement_rule(struct nm_placement *p, struct nm_engine *program, uint32_t object, uint64_t address,
		      struct nm_layout_rule **ret, int *ret_known)
{
	const struct nm_object *o = nm_program_object(program, object);
	struct subject s = {.program = program, .object = object, .name = NULL};
	struct nm_element at = {.type = NULL};
	int status;

	if (nm_vec_reach(&p->rules, (size_t)object + 1) || !nm_elements_owner(&p->elements, object))
		return NM_ENOMEM;
	*ret = p->rules.at[object] == &none ? NULL : p->rules.at[object];
	*ret_known = 1;
	if (p->rules.at[object])
		return 0;
	p->elements.program = program;
	if (can_move(&s) && !nm_elements_place(&p->elements, object, address, &at)) {
		*ret_known = 0;
		return 0;
	}
	s.type = o->kind == NM_OBJECT_LOCAL ? nm_program_local(program, object)->structure : at.type;
	if (o->kind != NM_OBJECT_CODE && o->kind != NM_OBJECT_UNMEASURED &&
	    nm_program_object_name(program, object, &s.name))
		return NM_ENOMEM;
	s.name = s.name ? s.name : "";
	status = make_rule(p, &s, &p->rules.at[object]);
	*ret = p->rules.at[object] == &none ? NULL : p->rules.at[object];
	return status;
}

/* ---- places ---- */

static unsigned parts_of(const struct nm_layout_rule *rule)
{
	return rule->has_map ? (unsigned)rule->map.strides.count : 1;
}

static uint64_t part_bytes(const struct nm_layout_rule *rule, const struct nm_layout_place *place,
			   unsigned part)
{
	const uint64_t bytes = place->end - place->low;

	if (rule->has_map)
		return nm_element_map_bytes(&rule->map, part, place->elements,
					    bytes - place->elements * rule->map.bytes);
	if (rule->rows && rule->rows->kind == NM_PAD_ROWS)
		return bytes + (bytes + rule->rows->number - 1) / rule->rows->number * rule->rows->bytes;
	return bytes;
}

/* The base that several objects share: room for it is made once. */
static uint64_t shared_base(struct nm_placement *p, const struct nm_transform *t)
{
	const size_t index = (size_t)(t - p->candidate->transforms.at);
	size_t first = index;

	for (size_t i = 0; t->kind == NM_OFFSET && i < index; i++)
		if (p->candidate->transforms.at[i].kind == NM_OFFSET &&
		    !strcmp(p->candidate->transforms.at[i].other, t->other)) {
			first = i;
			break;
		}
	if (!p->bases.at[first])
		p->bases.at[first] = nm_memory_variable(&p->memory, SLOT, SLOT);
	return p->bases.at[first];
}

static uint64_t alignment(const struct nm_layout_rule *rule)
{
	const uint64_t asked = rule->align ? rule->align->number : 1;
	const uint64_t own = rule->has_map && rule->map.align > 16 ? rule->map.align : 16;

	return asked > own ? asked : own;
}

/* Whether part 0 of a block is in the rule's pool. */
static int is_pooled(const struct nm_layout_place *place)
{
	return place->is_visited || (place->rule->pool && !nm_layout_rule_orders(place->rule));
}

static struct nm_pool *pool_of(struct nm_placement *p, const struct nm_layout_rule *rule)
{
	return &p->pools.at[rule->pool - p->candidate->transforms.at];
}

/* A block that realloc has released may stay, or grow, where it was. */
static uint64_t allocate(struct nm_placement *p, uint64_t bytes, uint64_t align)
{
	const uint64_t was = p->resized;

	if (was <= NM_MEMORY_REMAPPED || align > NM_MEMORY_GRANULE)
		return nm_memory_allocate(&p->memory, p->call, bytes, align);
	p->resized = 0;
	return nm_memory_resize(&p->memory, was, p->resized_bytes, bytes);
}

static uint64_t choose_base(struct nm_placement *p, const struct nm_layout_rule *rule,
			    const struct nm_layout_place *place, unsigned part)
{
	const uint64_t bytes = part_bytes(rule, place, part), align = part ? 16 : alignment(rule);

	if (!part && is_pooled(place))
		return nm_pool_allocate(pool_of(p, rule), &p->memory, bytes);
	if (!part && rule->huge)
		return nm_memory_huge(&p->memory, bytes);
	if (!part && rule->shared && rule->shared->kind == NM_MERGE)
		return shared_base(p, rule->shared);
	if (!part && rule->shared) /* in a slot of its own: they are as far apart modulo its size */
		return rule->shift ? nm_memory_variable(&p->memory, 2 * SLOT, SLOT) + rule->shift % SLOT
				   : shared_base(p, rule->shared);
	if (rule->is_heap)
		return allocate(p, bytes, align);
	return nm_memory_variable(&p->memory, bytes, align > VARIABLE_ALIGNMENT ? align : VARIABLE_ALIGNMENT);
}

/* Whether it is one of malloc's heap, not one with pages of its own. */
static int is_small(const struct nm_placement *p, const struct nm_layout_rule *rule, uint64_t bytes)
{
	return rule->is_heap && bytes < nm_memory_large(&p->memory);
}

/* Whether a block stays where it is: malloc gives it as much room as before. */
static int stays(const struct nm_placement *p, const struct nm_layout_rule *rule,
		 const struct nm_layout_place *place)
{
	const uint64_t was = place->end - place->low, is = part_bytes(rule, place, 0);
	const int small = is_small(p, rule, was);

	return !(p->places_heap && small) && !is_pooled(place) && !rule->huge && !rule->shared &&
	       parts_of(rule) == 1 && place->low % alignment(rule) == 0 &&
	       (small ? nm_malloc_heap_room(was) == nm_malloc_heap_room(is) : was == is);
}

/* From this small block on, all lie where a rebuild's malloc puts them. */
static void start_heap(struct nm_placement *p, uint64_t address)
{
	if (!p->places_heap)
		nm_memory_continue(&p->memory, address);
	p->places_heap = 1;
}

static struct nm_layout_place *new_place(struct nm_placement *p, struct nm_layout_rule *rule,
					 const struct nm_element *at)
{
	const unsigned parts = parts_of(rule);
	struct nm_layout_place *place = calloc(1, sizeof *place + parts * sizeof *place->bases);

	if (!place)
		return NULL;
	place->low = at->low;
	place->end = at->end;
	place->rule = rule;
	place->elements = rule->has_map ? (at->end - at->low) / rule->map.bytes : 1;
	place->stays = stays(p, rule, place);
	if (!place->stays && is_small(p, rule, place->end - place->low))
		start_heap(p, place->low);
	if (place->stays)
		place->bases[0] = place->low;
	else
		for (unsigned part = 0; part < parts; part++)
			place->bases[part] = choose_base(p, rule, place, part);
	return place;
}

struct nm_layout_place *nm_placement_at(const struct nm_placement *p, uint64_t low)
{
	return (struct nm_layout_place *)(uintptr_t)nm_map_get(&p->places, low, 0);
}

/* Gives the memory of a part back. */
static int release(struct nm_placement *p, const struct nm_layout_place *place, unsigned part)
{
	const struct nm_layout_rule *rule = place->rule;
	const uint64_t bytes = part_bytes(rule, place, part);

	if (!rule->is_heap || place->stays)
		return 0;
	if (!part && is_pooled(place))
		return nm_pool_release(pool_of(p, rule), place->bases[0], bytes);
	if (!part && (rule->huge || rule->shared))
		return 0;
	if (!part && p->resizes == place->low && alignment(rule) <= NM_MEMORY_GRANULE) {
		p->resized = place->bases[0];
		p->resized_bytes = bytes;
		return 0;
	}
	return nm_memory_release(&p->memory, place->bases[part], bytes, part ? 16 : alignment(rule));
}

/* Gives back what a block has, and forgets it. */
static int drop(struct nm_placement *p, struct nm_layout_place *place)
{
	struct nm_layout_rule *rule = place->rule;
	int status = 0;

	for (unsigned part = parts_of(rule); part-- && !status;) /* the block that has the pointers last */
		status = release(p, place, part);
	if (rule->recent == place)
		rule->recent = NULL;
	rule->places--;
	(void)nm_map_remove(&p->places, place->low);
	free(place);
	return status;
}

/* Puts a block somewhere; *ret = NULL if it cannot be moved. */
static int place_block(struct nm_placement *p, struct nm_layout_rule *rule, const struct nm_element *at,
		       struct nm_layout_place **ret)
{
	*ret = NULL;
	if (rule->shared && rule->places)
		return refuse(p, (struct nm_transform *)rule->shared,
			      "an object has several blocks at a time");
	*ret = new_place(p, rule, at);
	if (!*ret || nm_map_put(&p->places, at->low, (uintptr_t)*ret)) {
		free(*ret);
		return NM_ENOMEM;
	}
	rule->places++;
	return 0;
}

int nm_placement_find(struct nm_placement *p, struct nm_engine *program, struct nm_layout_rule *rule,
		      uint32_t object, uint64_t address, struct nm_layout_place **ret)
{
	struct nm_layout_place *place = rule->recent;
	struct nm_element at;
	int status = 0;

	*ret = NULL;
	if (!place || address - place->low >= place->end - place->low) {
		p->elements.program = program;
		if (!nm_elements_place(&p->elements, object, address, &at))
			return 0;
		place = nm_placement_at(p, at.low);
		if (place && (place->end != at.end || place->rule != rule)) {
			if (drop(p, place)) /* another block has come without a release */
				return NM_ENOMEM;
			place = NULL;
		}
		if (!place && rule->is_named)
			status = place_block(p, rule, &at, &place);
		rule->recent = place;
	}
	*ret = place;
	return status;
}

static int place_allocated(struct nm_placement *p, struct nm_engine *program, struct nm_layout_rule *rule,
			   const struct nm_block *block)
{
	const struct nm_element at = {.low = block->address, .end = block->address + block->size};
	const int at_first_use = rule->pool && rule->pool->by_first_use,
		  small = is_small(p, rule, block->size);
	struct nm_layout_place *place = nm_placement_at(p, block->address);
	int status = 0;

	if (!rule->is_named && place && drop(p, place))
		return NM_ENOMEM;
	place = NULL;
	if (!rule->is_named && !(small && p->places_heap))
		return 0;
	if (!rule->is_named)
		status = place_block(p, rule, &at, &place);
	else if (!at_first_use)
		status = nm_placement_find(p, program, rule, block->object, block->address, &place);
	if (small && rule->pool && !nm_layout_rule_orders(rule))
		start_heap(p, block->address);
	return status;
}

int nm_placement_allocated(struct nm_placement *p, struct nm_engine *program, struct nm_layout_rule *rule,
			   const struct nm_block *block, enum nm_heap_call call)
{
	uint64_t left;
	int status;

	if (call != NM_HEAP_PIECE && block->size < NM_MEMORY_LARGE) {
		p->heap_low = p->heap_low && p->heap_low < block->address ? p->heap_low : block->address;
		p->heap_end =
		    p->heap_end > block->address + block->size ? p->heap_end : block->address + block->size;
	}
	p->call = call;
	status = rule ? place_allocated(p, program, rule, block) : 0;
	p->call = NM_HEAP_MALLOC;
	left = p->resized;
	p->resized = p->resizes = 0;
	if (status)
		return status;
	if (!p->places_heap)
		return nm_memory_follow(&p->memory, call, block->address, block->size, left);
	return left > NM_MEMORY_REMAPPED ? nm_memory_release(&p->memory, left, p->resized_bytes, 1) : 0;
}

void nm_placement_resizes(struct nm_placement *p, uint64_t address) { p->resizes = address; }

int nm_placement_in_heap(const struct nm_placement *p, uint64_t address)
{
	enum { HEADER = 16, AHEAD = 256 << 10 /* where the next block may be */ };

	return p->places_heap && address >= p->heap_low - HEADER && address < p->heap_end + AHEAD;
}

uint64_t nm_placement_bytes(const struct nm_layout_place *place) { return part_bytes(place->rule, place, 0); }

int nm_placement_visit(struct nm_placement *p, struct nm_layout_place *place, uint64_t *ret_from)
{
	assert(nm_layout_rule_orders(place->rule) && !place->is_visited);
	*ret_from = place->bases[0];
	if (release(p, place, 0))
		return NM_ENOMEM;
	place->is_visited = 1;
	place->stays = 0;
	place->bases[0] = choose_base(p, place->rule, place, 0);
	((struct nm_transform *)place->rule->pool)->visited++;
	return 0;
}

/* What new[] puts before a block's elements belongs to it. */
static struct nm_layout_place *place_of_block(const struct nm_placement *p, uint64_t address)
{
	struct nm_layout_place *place = nm_placement_at(p, address);

	return place ? place : nm_placement_at(p, address + NM_COUNT_BYTES);
}

int nm_placement_has(const struct nm_placement *p, uint64_t address)
{
	return p->places.count && place_of_block(p, address) != NULL;
}

int nm_placement_release(struct nm_placement *p, uint64_t address)
{
	struct nm_layout_place *place = p->places.count ? place_of_block(p, address) : NULL;
	const uint64_t left = nm_memory_leave(&p->memory, address, p->resizes == address);

	if (left)
		p->resized = left;
	return place ? drop(p, place) : 0;
}

/* ---- references ---- */

/* Adds bytes, which join those before them if they follow. */
static unsigned append(struct nm_moved *moved, unsigned count, struct nm_moved more)
{
	struct nm_moved *last = count ? &moved[count - 1] : NULL;

	if (last && !last->is_pointer && !more.is_pointer && last->address + last->bytes == more.address) {
		last->bytes += more.bytes;
		return count;
	}
	if (count < NM_MOVED_MOST)
		moved[count++] = more;
	return count;
}

/* An offset in an array whose rows are padded or that is transposed. */
static uint64_t offset_by_rows(const struct nm_transform *t, uint64_t offset)
{
	const uint64_t element = offset / (t->bytes ? t->bytes : 1),
		       row = element / (t->columns ? t->columns : 1);

	if (t->kind == NM_PAD_ROWS)
		return offset + offset / t->number * t->bytes;
	if (element >= t->rows * t->columns)
		return offset;
	return (element % t->columns * t->rows + row) * t->bytes + offset % t->bytes;
}

static unsigned move_by_rows(const struct nm_layout_place *place, uint64_t offset, uint32_t bytes,
			     struct nm_moved *moved)
{
	const struct nm_transform *t = place->rule->rows;
	const uint64_t unit = t->kind == NM_PAD_ROWS ? t->number : t->bytes, end = offset + bytes;
	unsigned count = 0;

	for (uint64_t next; offset < end; offset = next) {
		next = (offset / unit + 1) * unit;
		next = next < end ? next : end;
		count = append(moved, count,
			       (struct nm_moved){place->bases[0] + offset_by_rows(t, offset),
						 (uint32_t)(next - offset), 0});
	}
	return count;
}

/* Bytes of the part that pointers lead to: element by element. A reference loads the pointer of each once: *last is
 * 1 + the element whose pointer it has loaded. */
static unsigned follow_pointers(const struct nm_layout_place *place, struct nm_placed to, uint64_t *last,
				struct nm_moved *moved, unsigned count)
{
	const struct nm_element_map *map = &place->rule->map;
	const uint64_t stride = map->strides.at[to.part], end = to.offset + to.bytes;

	for (uint64_t next; to.offset < end; to.offset = next) {
		const uint64_t element = to.offset / stride;

		next = (element + 1) * stride < end ? (element + 1) * stride : end;
		if (*last != element + 1)
			count = append(moved, count,
				       (struct nm_moved){place->bases[0] + element * map->strides.at[0] +
							     (uint64_t)map->pointer,
							 8, 1});
		*last = element + 1;
		count = append(
		    moved, count,
		    (struct nm_moved){place->bases[to.part] + to.offset, (uint32_t)(next - to.offset), 0});
	}
	return count;
}

unsigned nm_placement_move(const struct nm_layout_place *place, uint64_t address, uint32_t bytes,
			   struct nm_moved moved[NM_MOVED_MOST])
{
	const struct nm_layout_rule *rule = place->rule;
	const struct nm_element_map *map = &rule->map;
	struct nm_placed placed[NM_PLACED_MOST];
	unsigned count = 0, places;
	uint64_t last = 0;

	if (rule->rows)
		return move_by_rows(place, address - place->low, bytes, moved);
	if (!rule->has_map) {
		moved[0] = (struct nm_moved){place->bases[0] + (address - place->low), bytes, 0};
		return 1;
	}
	places = nm_element_map_find(map, place->elements, address - place->low, bytes, placed);
	for (unsigned i = 0; i < places; i++) {
		const struct nm_placed *to = &placed[i];

		if (to->part && map->pointer != NM_NO_POINTER)
			count = follow_pointers(place, *to, &last, moved, count);
		else
			count = append(moved, count,
				       (struct nm_moved){place->bases[to->part] + to->offset, to->bytes, 0});
	}
	return count;
}

int nm_placement_shift(const struct nm_layout_rule *rule, const struct nm_layout_spot *spot, uint64_t address,
		       uint64_t bytes, uint32_t *member, uint64_t *ret)
{
	const struct nm_element_map *map = &rule->map;
	const struct nm_member *m;
	uint64_t offset = address - spot->low, element;

	if (address < spot->low || rule->rows || offset + bytes > spot->end - spot->low)
		return 0;
	*ret = spot->base + offset;
	if (!rule->has_map)
		return 1;
	element = offset < map->bytes ? 0 : offset / map->bytes;
	offset -= element * map->bytes;
	if (offset + bytes > map->bytes || (element + 1) * map->bytes > spot->end - spot->low)
		return 0;
	*ret = spot->base + element * map->strides.at[0] + offset;
	if (!map->packed)
		return 1;
	m = *member < map->members.count ? &map->members.at[*member] : NULL;
	if (!m || offset - m->from >= m->bytes) {
		*member = nm_element_map_member(map, offset);
		if (*member == map->members.count)
			return 0;
		m = &map->members.at[*member];
	}
	*ret += m->to - m->from;
	return offset >= m->from && offset + bytes <= m->from + m->bytes && m->to_bytes == m->bytes &&
	       !m->part;
}
