/* SPDX-License-Identifier: MIT
 *
 * decoder.h - the program's code: definitions of blocks as sent in the stream, and the decoded blocks that
 * threads have made from them.
 */
#ifndef NM_DECODER_H
#define NM_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "decode.h"
#include "decoded_block.h"
#include "vector.h"

struct nm_mapping;

/* A block's definition, from which each thread makes its decoded block. */
struct nm_definition {
	uint64_t *words; /* copy of the record's payload, in a definition store */
	uint32_t count;
};

/* Where definitions live: shared with the engines of forked children, which go on using them. */
struct nm_definition_store {
	_Atomic unsigned users;            /* engines, perhaps in several threads */
	struct nm_definition_store *older; /* the parent's, kept alive */
	struct nm_arena arena;
};

struct nm_decoder {
	struct nm_definition_store *definition_store;
	struct nm_vec(struct nm_definition) definitions; /* by block id */
	uint32_t longest;                                /* instructions of any */
	struct nm_vec(struct nm_decoded_block *) decoded;
	struct nm_vec(struct nm_access_site) access_sites; /* of all decoded blocks */
	/* of each: index of its instruction in the attributions */
	struct nm_vec(uint32_t) access_instructions;
	struct nm_vec(uint8_t) access_chases; /* of each: it follows a pointer (NM_WIRE_CHASES) */
	struct nm_arena arena;                /* decoded blocks */
};

/* A store that keeps `older`, which may be NULL, alive. NULL: out of memory. */
struct nm_definition_store *nm_definition_store_new(struct nm_definition_store *older);
void nm_definition_store_release(struct nm_definition_store *store);

/* Stores a copy of a definition. */
int nm_decoder_define(struct nm_decoder *decoder, const struct nm_wire_record *r, struct nm_error *err);

/* The function at pc, in mapping m or none: its name, of nameless code the module's; its local variables. */
struct nm_code_function {
	const char *name;
	const struct nm_locals *locals; /* or NULL */
	int nameless;
};
struct nm_code_function nm_decoder_function_at(const struct nm_mapping *m, uint64_t pc);

#endif
