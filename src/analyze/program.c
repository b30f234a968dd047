/* SPDX-License-Identifier: MIT
 *
 * program.c - see program.h.
 */
#include "program.h"

#include <assert.h>

#include "engine_priv.h"

const struct nm_attribution *nm_program_attribution(const struct nm_engine *e, uint32_t attr)
{
	assert(attr < e->attrs.list.count);
	return &e->attrs.list.at[attr];
}

uint32_t nm_program_attr_of_key(const struct nm_engine *e, uint32_t key)
{
	assert(key < nm_engine_attr_count(e));
	return e->calls ? e->calls->attrs.at[key].attr : key;
}

size_t nm_program_attributions(const struct nm_engine *e) { return e->attrs.list.count; }

uint64_t nm_program_references(const struct nm_engine *e, uint32_t attr)
{
	assert(attr < e->attrs.list.count);
	return e->attrs.references[attr].count[0] + e->attrs.references[attr].count[1];
}

uint32_t nm_program_sampled_line(const struct nm_engine *e)
{
	return e->sampled.options.rate ? e->sampled.options.line : 0;
}

const struct nm_object *nm_program_object(const struct nm_engine *e, uint32_t object)
{
	assert(object < e->space.objects.count);
	return &e->space.objects.at[object];
}

void nm_program_set_type(struct nm_engine *e, uint32_t object, const char *type)
{
	assert(object < e->space.objects.count);
	e->space.objects.at[object].type = type;
}

int nm_program_block(const struct nm_engine *e, uint64_t address, struct nm_block *ret_block)
{
	return nm_blocks_find(&e->space.heap, address, ret_block);
}

int nm_program_variable(struct nm_engine *e, uint64_t address, struct nm_space_variable *ret_variable)
{
	return nm_space_variable(&e->space, address, ret_variable);
}

static int find_frame(const struct nm_stack *s, uint64_t address, uint32_t object,
		      struct nm_program_frame *ret_frame)
{
	size_t low = 0, high = s->frames.count; /* the first frame whose slot is not above the address */

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->frames.at[mid].slot <= address)
			high = mid;
		else
			low = mid + 1;
	}
	if (!low || low == s->frames.count || s->frames.at[low].caller != object)
		return 0;
	*ret_frame = (struct nm_program_frame){s->frames.at[low].call_pc, s->frames.at[low - 1].slot + 8};
	return 1;
}

int nm_program_open_frame(const struct nm_engine *e, uint64_t address, uint32_t object,
			  struct nm_program_frame *ret_frame)
{
	for (size_t i = 0; i < e->threads.count; i++) {
		const struct nm_frames *frames = &e->threads.at[i]->frames;

		for (size_t k = 0; k < frames->stacks.count; k++)
			if (nm_stack_holds(&frames->stacks.at[k], address))
				return find_frame(&frames->stacks.at[k], address, object, ret_frame);
	}
	return 0;
}

int nm_program_own_frame(const struct nm_engine *e, uint32_t access, uint64_t frame_end, uint64_t address,
			 uint32_t object, struct nm_program_frame *ret_frame)
{
	if (e->executor.decoder.access_sites.at[access].decoded->stack_object != object ||
	    address >= frame_end)
		return 0;
	*ret_frame = (struct nm_program_frame){
	    e->attrs.instructions.at[e->executor.decoder.access_instructions.at[access]].pc, frame_end};
	return 1;
}

const struct nm_type *nm_program_frame_type(struct nm_engine *e, uint64_t pc)
{
	uint64_t known = nm_map_get(&e->frame_types, pc, UINT64_MAX);
	const struct nm_type *type = NULL;
	const struct nm_mapping *m;

	if (known != UINT64_MAX)
		return (const struct nm_type *)(uintptr_t)known;
	m = nm_space_mapping(&e->space, pc);
	if (m && m->module)
		type = nm_module_frame_type(m->module, pc - m->bias);
	(void)nm_map_put(&e->frame_types, pc, (uintptr_t)type);
	return type;
}

const struct nm_type *nm_program_allocated_type(struct nm_engine *e, uint32_t object, uint64_t bytes)
{
	return nm_engine_allocated_type(e, nm_program_object(e, object)->context, bytes);
}
