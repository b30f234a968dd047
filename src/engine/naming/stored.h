/* SPDX-License-Identifier: MIT
 *
 * stored.h - what the machine code behind a call does with the pointer that the call returns.
 *
 * Programs without debug information still store pointers in variables that have symbols, or return them. The
 * code behind the call is followed along its straight path, through registers, the stack and functions like
 * memset that return their argument.
 */
#ifndef NM_STORED_H
#define NM_STORED_H

#include "map.h"
#include "symbol.h"

enum nm_stored_kind {
	NM_STORED_UNKNOWN,
	NM_STORED_VARIABLE, /* in a variable: its name, and the offset in it */
	NM_STORED_MEMORY,   /* somewhere else, and the function does not return it */
	NM_STORED_RETURNED  /* the function returns it, or a place in the block */
};

struct nm_stored {
	enum nm_stored_kind kind;
	const char *name; /* interned */
	uint64_t offset;
	int is_ignored; /* the code overwrites the result before it reads it: the function may return nothing */
};

/* Answers that were given, and Capstone. {0} is empty. */
struct nm_stores {
	struct nm_map known; /* module and vaddr -> 1 + index */
	struct nm_stored *list;
	size_t count, room;
	struct nm_decoder_of_code *decoder;
	int is_missing; /* Capstone */
};

/* The call instruction is at vaddr. NM_STORED_UNKNOWN also where the code or Capstone is missing. */
struct nm_stored nm_stored_result(struct nm_stores *stores, struct nm_module *module, uint64_t vaddr);

void nm_stores_done(struct nm_stores *stores);

#endif
