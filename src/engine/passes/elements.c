/* SPDX-License-Identifier: MIT */
#include "elements.h"

#include <assert.h>
#include <string.h>

struct nm_element_owner *nm_elements_owner(struct nm_elements *e, uint32_t object)
{
	return nm_vec_reach(&e->owners, (size_t)object + 1) ? NULL : &e->owners.at[object];
}

/* The heap block around an address, also one that was freed recently. */
int nm_elements_block(const struct nm_elements *e, uint64_t address, uint32_t object,
		      struct nm_gone_block *ret)
{
	struct nm_block b;
	int named = nm_program_object(e->program, object)->kind == NM_OBJECT_NAMED;
	unsigned left = named ? 0 : e->gone_of[object % NM_GONE_KINDS];

	if (nm_program_block(e->program, address, &b) && (named || b.object == object)) {
		*ret = (struct nm_gone_block){b.address, b.size, b.object};
		return 1;
	}
	for (uint32_t i = 1; left; i++) {
		const struct nm_gone_block *g = &e->gone[(e->next_gone - i) % NM_GONE];

		if (g->object == object && address - g->address < g->size) {
			*ret = *g;
			return 1;
		}
		left -= g->object % NM_GONE_KINDS == object % NM_GONE_KINDS;
	}
	return 0;
}

/* Does a structure end in an array without a size (allocated.c)? Then its size is that of one block. */
static int is_flexible(const struct nm_type *type)
{
	const char *last = type->field_count ? type->fields[type->field_count - 1].name : "";
	const size_t n = strlen(last);

	return n > 2 && !strcmp(last + n - 2, "[]");
}

/* Blocks of a bucket: looks up the type only after enough accesses. */
static int locate_block(struct nm_elements *e, uint64_t address, uint32_t object, struct nm_element *to)
{
	struct nm_element_owner *o = &e->owners.at[object];
	struct nm_gone_block block;

	assert(object < e->owners.count);
	if (!o->typed && ++o->seen < e->patience)
		return 0;
	if (!nm_elements_block(e, address, object, &block))
		return 0;
	if (!o->typed) {
		o->typed = 1;
		o->type = nm_program_allocated_type(e->program, block.object, block.size);
		if (o->type)
			nm_program_set_type(e->program, object, o->type->name);
	}
	if (o->type && block.size != o->type->bytes && is_flexible(o->type))
		return 0;
	to->low = block.address;
	if (o->type && block.size % o->type->bytes == NM_COUNT_BYTES)
		to->low += NM_COUNT_BYTES;
	to->end = block.address + block.size;
	return 1;
}

static int locate_variable(struct nm_elements *e, uint64_t address, uint32_t object, struct nm_element *to)
{
	struct nm_element_owner *o = &e->owners.at[object];

	assert(object < e->owners.count);
	if (address - o->low >= o->end - o->low) {
		struct nm_space_variable v;

		if (!nm_program_variable(e->program, address, &v) ||
		    (v.object != object && nm_program_object(e->program, object)->kind != NM_OBJECT_NAMED))
			return 0;
		o->low = v.low;
		o->end = v.end;
		o->type = v.type;
		o->typed = 1;
	}
	to->low = o->low;
	to->end = o->end;
	return 1;
}

/* An anonymous mapping: elements from its start on. */
static int locate_mapping(struct nm_elements *e, uint64_t address, uint32_t object, struct nm_element *to)
{
	struct nm_element_owner *o = &e->owners.at[object];

	assert(object < e->owners.count);
	if (address - o->low >= o->end - o->low &&
	    !nm_program_mapping(e->program, address, object, &o->low, &o->end))
		return 0;
	if (!o->typed) {
		o->typed = 1;
		o->type = nm_program_allocated_type(e->program, object, o->end - o->low);
		if (o->type && is_flexible(o->type))
			o->type = NULL;
	}
	to->low = o->low;
	to->end = o->end;
	return 1;
}

/* Local variables: in the frame that ends at frame_end, else in an open frame, else in the latest one. */
static int locate_local(struct nm_elements *e, uint64_t address, uint32_t object, uint64_t frame_end,
			struct nm_element *to)
{
	struct nm_element_owner *o = &e->owners.at[object];
	const struct nm_local *local = nm_program_local(e->program, object);

	assert(object < e->owners.count);
	o->typed = 1;
	o->type = local->structure;
	if (!frame_end)
		frame_end = nm_program_open_frame(e->program, address, object);
	if (frame_end) {
		o->low = frame_end - local->below;
		o->end = o->low + local->bytes;
	}
	to->low = o->low;
	to->end = o->end;
	return address - o->low < o->end - o->low;
}

/* The variable or block around an address, with or without a structure. */
static int locate_part(struct nm_elements *e, uint32_t object, uint64_t address, uint64_t frame_end,
		       struct nm_element *to)
{
	struct nm_block b;

	assert(object < e->owners.count);
	switch (nm_program_object(e->program, object)->kind) {
	case NM_OBJECT_GLOBAL:
	case NM_OBJECT_STATIC:
	case NM_OBJECT_THREAD_LOCAL: return locate_variable(e, address, object, to);
	case NM_OBJECT_HEAP: return locate_block(e, address, object, to);
	case NM_OBJECT_ANONYMOUS: return locate_mapping(e, address, object, to);
	case NM_OBJECT_LOCAL: return locate_local(e, address, object, frame_end, to);
	case NM_OBJECT_NAMED:
		return nm_program_block(e->program, address, &b) ? locate_block(e, address, object, to)
								 : locate_variable(e, address, object, to);
	default: e->owners.at[object].typed = 1; return 0;
	}
}

int nm_elements_find_in(struct nm_elements *e, uint32_t object, uint64_t address, uint64_t frame_end,
			struct nm_element *to)
{
	const struct nm_element_owner *o = &e->owners.at[object];

	assert(object < e->owners.count);
	if ((o->typed && !o->type) || !locate_part(e, object, address, frame_end, to) || !o->type)
		return 0;
	to->object = object;
	to->type = o->type;
	to->start = to->low + (address - to->low) / to->type->bytes * to->type->bytes;
	return 1;
}

int nm_elements_find(struct nm_elements *e, uint32_t object, uint64_t address, struct nm_element *to)
{
	assert(to);
	return nm_elements_find_in(e, object, address, 0, to);
}

int nm_elements_place(struct nm_elements *e, uint32_t object, uint64_t address, struct nm_element *to)
{
	struct nm_block named;
	const int found = locate_part(e, object, address, nm_program_running_frame(e->program, address), to);

	if (nm_program_named(e->program, address, &named) && named.object == object) {
		to->low = named.address;
		to->end = named.address + named.size;
	} else if (!found) {
		return 0;
	}
	to->object = object;
	to->type = e->owners.at[object].type;
	to->start = to->low;
	return 1;
}

void nm_elements_released(struct nm_elements *e, uint64_t address, uint64_t size, uint32_t object)
{
	struct nm_gone_block *const g = &e->gone[e->next_gone++ % NM_GONE];

	if (g->address)
		e->gone_of[g->object % NM_GONE_KINDS]--;
	*g = (struct nm_gone_block){address, size, object};
	e->gone_of[object % NM_GONE_KINDS]++;
}

void nm_elements_done(struct nm_elements *e) { nm_vec_free(&e->owners); }
