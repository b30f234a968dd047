/* SPDX-License-Identifier: MIT
 *
 * builder.h - builds a stream from what an importer reads: instructions with their accesses, one at a time.
 *
 * Each distinct instruction (address, length, accesses and their sizes) becomes a block of one instruction,
 * defined at its first occurrence. In a trace without instructions each access is one.
 */
#ifndef NM_IMPORT_BUILDER_H
#define NM_IMPORT_BUILDER_H

#include "arena.h"
#include "encode.h"
#include "map.h"
#include "object_bytes.h"

enum { NM_BUILDER_ACCESSES = 64 };

struct nm_builder {
	struct nm_wire_words words;       /* output */
	int given;                        /* the output has been given, and can be cleared */
	struct nm_map block_of;           /* hash of an instruction -> block id */
	struct nm_map thread_of;          /* the trace's number of a thread -> ours */
	struct nm_vec(uint64_t *) blocks; /* by id: pc and length, number of accesses, accesses */
	struct nm_arena arena;
	struct nm_object_bytes objects;
	uint32_t thread;
	int open;     /* an instruction has begun, */
	int is_given; /* one of the trace: further accesses belong to it */
	uint64_t instruction, accesses[NM_BUILDER_ACCESSES], addresses[NM_BUILDER_ACCESSES];
	unsigned count;
};

/* Begins the stream of a process called `name`. */
int builder_start(struct nm_builder *builder, const char *name);
void builder_done(struct nm_builder *builder);

/* Begins an instruction, and ends the one before. pc below 2^48, bytes 1 to 255. */
int builder_instruction(struct nm_builder *builder, uint64_t pc, unsigned bytes);

/* Adds an access (NM_WIRE_READ, NM_WIRE_WRITE); address below 2^63, size 1 to 65535. */
int builder_access(struct nm_builder *builder, uint64_t address, unsigned size, unsigned flags);

/* Sets the thread of what follows. */
int builder_thread(struct nm_builder *builder, uint64_t thread);

/* Sets the source line of the instruction at pc. */
int builder_place(struct nm_builder *builder, uint64_t pc, const char *function, const char *file,
		  uint32_t line);

/* Sets the object of some bytes; "": none that the trace names. */
int builder_object(struct nm_builder *builder, uint64_t address, unsigned size, const char *name);

/* Ends the instruction. */
int builder_flush(struct nm_builder *builder);

/* Ends the stream. */
int builder_exit(struct nm_builder *builder);

#endif
