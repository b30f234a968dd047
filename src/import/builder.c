/* SPDX-License-Identifier: MIT
 *
 * builder.c - see builder.h. All functions return 0, or NM_ENOMEM.
 */
#include "builder.h"

#include <string.h>

static uint64_t pack_access(unsigned size, unsigned flags) { return size | (uint64_t)flags << 32; }

int builder_start(struct nm_builder *b, const char *name)
{
	const struct nm_wire_process process = {.start = NM_WIRE_STARTED,
						.version = NM_WIRE_VERSION,
						.pid = 1,
						.argc = 1,
						.executable = name,
						.directory = "/"};

	return nm_wire_process_encode(&b->words, &process, &name) ? NM_ENOMEM : 0;
}

void builder_done(struct nm_builder *b)
{
	nm_vec_free(&b->words);
	nm_vec_free(&b->blocks);
	nm_map_done(&b->block_of);
	nm_map_done(&b->thread_of);
	nm_arena_done(&b->arena);
	object_bytes_done(&b->objects);
}

/* ---- blocks ---- */

static int is_block(const struct nm_builder *b, uint64_t id)
{
	const uint64_t *known = b->blocks.at[id];

	return known[0] == b->instruction && known[1] == b->count &&
	       !memcmp(known + 2, b->accesses, b->count * sizeof *known);
}

static int define_block(struct nm_builder *b, uint32_t id)
{
	uint64_t *copy = nm_arena_alloc(&b->arena, (2 + b->count) * sizeof *copy);
	struct nm_wire_block_info info = {.id = id, .instructions = &b->instruction, .accesses = b->accesses};

	if (!copy || nm_vec_push(&b->blocks, copy))
		return NM_ENOMEM;
	copy[0] = b->instruction;
	copy[1] = b->count;
	memcpy(copy + 2, b->accesses, b->count * sizeof *copy);
	info.def.pc = nm_wire_instruction_pc(b->instruction);
	info.def.instructions = 1;
	info.def.accesses = (uint16_t)b->count;
	return nm_wire_block_def_encode(&b->words, &info) ? NM_ENOMEM : 0;
}

static int switch_thread(struct nm_builder *b, uint64_t thread)
{
	uint64_t known = nm_map_get(&b->thread_of, thread, 0);
	int status = 0;

	if (known && known == b->thread)
		return 0;
	if (!known) {
		known = b->thread_of.count + 1;
		status = nm_map_put(&b->thread_of, thread, known) ||
			 nm_wire_thread_start_encode(
			     &b->words, &(struct nm_wire_thread_start){(uint32_t)known, 0, 0, 0});
	}
	b->thread = (uint32_t)known;
	return status || nm_wire_thread_encode(&b->words, &(struct nm_wire_thread){b->thread}) ? NM_ENOMEM
											       : 0;
}

int builder_flush(struct nm_builder *b)
{
	uint64_t key = b->instruction, id;

	if (!b->open)
		return 0;
	b->open = 0;
	if (!b->thread && switch_thread(b, 0)) /* the trace has no threads */
		return NM_ENOMEM;
	for (unsigned i = 0; i < b->count; i++)
		key = nm_mix64(key + i) ^ b->accesses[i];
	while ((id = nm_map_get(&b->block_of, key, UINT64_MAX)) != UINT64_MAX && !is_block(b, id))
		key++;
	if (id == UINT64_MAX) {
		id = b->blocks.count;
		if (define_block(b, (uint32_t)id) || nm_map_put(&b->block_of, key, id))
			return NM_ENOMEM;
	}
	return nm_wire_block_encode(&b->words, (uint32_t)id, b->addresses, b->count) ? NM_ENOMEM : 0;
}

int builder_instruction(struct nm_builder *b, uint64_t pc, unsigned bytes)
{
	int status = builder_flush(b);

	b->open = 1;
	b->is_given = 1;
	b->count = 0;
	b->instruction = pc | (uint64_t)bytes << 48;
	return status;
}

int builder_access(struct nm_builder *b, uint64_t address, unsigned size, unsigned flags)
{
	int status = 0;

	if (!b->open || !b->is_given) {
		status = builder_instruction(b, 0, 1);
		b->is_given = 0;
	} else if (b->count == NM_BUILDER_ACCESSES) { /* more go to another instruction like it */
		status = builder_instruction(b, nm_wire_instruction_pc(b->instruction),
					     nm_wire_instruction_bytes(b->instruction));
	}
	if (!address) { /* on the wire, 0 is an access that was not executed: take the next byte */
		address = 1;
		size -= size > 1;
	}
	b->accesses[b->count] = pack_access(size, flags);
	b->addresses[b->count++] = address;
	return status;
}

/* ---- threads, sites, objects ---- */

/* Another thread may appear later in the trace, and have run beside the known ones. */
static int expect_thread(struct nm_builder *b)
{
	return nm_wire_sync_event_encode(
	    &b->words, &(struct nm_wire_sync_event){NM_WIRE_SYNC_CREATE, b->thread_of.count + 1});
}

int builder_thread(struct nm_builder *b, uint64_t thread)
{
	const size_t known = b->thread_of.count;

	if (builder_flush(b) || switch_thread(b, thread))
		return NM_ENOMEM;
	return b->thread_of.count > known && expect_thread(b) ? NM_ENOMEM : 0;
}

int builder_place(struct nm_builder *b, uint64_t pc, const char *function, const char *file, uint32_t line)
{
	return builder_flush(b) ||
		       nm_wire_place_encode(&b->words, &(struct nm_wire_place){pc, line, function, file})
		   ? NM_ENOMEM
		   : 0;
}

int builder_object(struct nm_builder *b, uint64_t address, unsigned size, const char *name)
{
	return builder_flush(b) || object_bytes_set(&b->objects, &b->words, address, size, name) ? NM_ENOMEM
												 : 0;
}

int builder_exit(struct nm_builder *b)
{
	return builder_flush(b) || nm_wire_exit_encode(&b->words, &(struct nm_wire_exit){0}) ? NM_ENOMEM : 0;
}
