/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "call_names.h"
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

/* Whether one of the frames "get (a.h:7) < sum (b.c:12)" is of the function. */
static int is_inlined_in(const char *frames, const char *wanted)
{
	for (const char *end; *frames; frames = *end ? end + 3 : end) {
		char name[256];
		size_t n;

		end = strstr(frames, " < ");
		end = end ? end : frames + strlen(frames);
		n = (size_t)(end - frames);
		while (n && strncmp(frames + n, " (", 2))
			n--;
		snprintf(name, sizeof name, "%.*s", (int)n, frames);
		if (nm_function_is_named(name, wanted))
			return 1;
	}
	return 0;
}

int nm_program_is_in_function(const struct nm_engine *e, uint32_t attr, const char *wanted)
{
	const struct nm_result_site *s = &e->attrs.sites.at[nm_program_attribution(e, attr)->site];

	assert(wanted);
	return (s->function && nm_function_is_named(s->function, wanted)) ||
	       (s->user_function && nm_function_is_named(s->user_function, wanted)) ||
	       (s->inlined && is_inlined_in(s->inlined, wanted));
}

size_t nm_program_attributions(const struct nm_engine *e) { return e->attrs.list.count; }

uint64_t nm_program_references(const struct nm_engine *e, uint32_t attr)
{
	assert(attr < e->attrs.list.count);
	return e->attrs.references[attr].count[0] + e->attrs.references[attr].count[1];
}

uint64_t nm_program_instructions(const struct nm_engine *e) { return e->replay.clock - e->replay.unmeasured; }

const struct nm_phase_plan *nm_program_phases(const struct nm_engine *e)
{
	return nm_replay_is_by_phase(&e->replay) ? e->replay.phases : NULL;
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

int nm_program_object_name(struct nm_engine *e, uint32_t object, const char **ret_name)
{
	struct nm_call_name name;
	const int status = nm_namer_object(&e->namer, nm_program_object(e, object), &name);

	*ret_name = name.name;
	return status;
}

int nm_program_unique_name(struct nm_engine *e, uint32_t object, const char **ret_name)
{
	return nm_namer_unique_name(&e->namer, object, ret_name);
}

int nm_program_block(const struct nm_engine *e, uint64_t address, struct nm_block *ret_block)
{
	return nm_blocks_find(&e->space.heap, address, ret_block);
}

uint32_t nm_program_owner(const struct nm_engine *e, uint64_t address)
{
	const uint32_t owner = nm_blocks_owner(&e->space.heap, address);

	return owner ? nm_blocks_object(&e->space.heap, owner) : 0;
}

int nm_program_named(const struct nm_engine *e, uint64_t address, struct nm_block *ret_range)
{
	return nm_blocks_find(&e->space.named, address, ret_range);
}

int nm_program_variable(struct nm_engine *e, uint64_t address, struct nm_space_variable *ret_variable)
{
	return nm_space_variable(&e->space, address, ret_variable);
}

int nm_program_mapping(struct nm_engine *e, uint64_t address, uint32_t object, uint64_t *ret_low,
		       uint64_t *ret_end)
{
	const struct nm_mapping *m = nm_space_mapping(&e->space, address);

	if (!m || m->object != object)
		return 0;
	*ret_low = m->address;
	*ret_end = m->end;
	return 1;
}

uint64_t nm_program_open_frame(const struct nm_engine *e, uint64_t address, uint32_t local)
{
	for (size_t i = 0; i < e->threads.count; i++) {
		const struct nm_frame_place frame = nm_frames_owner(&e->threads.at[i]->frames, address);

		if (frame.object)
			return frame.object == nm_program_object(e, local)->frame ? frame.end : 0;
	}
	return 0;
}

uint64_t nm_program_running_frame(const struct nm_engine *e, uint64_t address)
{
	const struct nm_stack_window *w = &e->replay.running.window;

	return address - w->low < w->own ? w->low + w->own : 0;
}

int nm_program_own_frame(const struct nm_engine *e, uint32_t access, uint64_t frame_end, uint64_t address,
			 uint32_t local)
{
	assert(access < e->replay.decoder.access_sites.count);
	return e->replay.decoder.access_sites.at[access].decoded->stack_object ==
		   nm_program_object(e, local)->frame &&
	       address < frame_end;
}

const struct nm_local *nm_program_local(const struct nm_engine *e, uint32_t local)
{
	const uint32_t frame = nm_program_object(e, local)->frame;

	assert(frame);
	return &nm_program_object(e, frame)->locals->at[local - frame - 1];
}

const struct nm_type *nm_program_allocated_type(struct nm_engine *e, uint32_t object, uint64_t bytes)
{
	return nm_namer_allocated_type(&e->namer, nm_program_object(e, object), bytes);
}
