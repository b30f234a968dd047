/* SPDX-License-Identifier: MIT
 *
 * elements.h - finds the element at an address: the structure that contains it, in its variable or block.
 *
 * The type of a variable comes from debug information, that of a heap bucket from the allocating call. The
 * latter is looked up at the `patience`-th query of a bucket. Local variables are in a frame of their
 * function: the given frame, else an open one, else the latest one. Recently freed blocks are kept, because
 * a pass may query addresses late.
 */
#ifndef NM_ELEMENTS_H
#define NM_ELEMENTS_H

#include <stdint.h>

#include "pass.h"
#include "symbol.h"
#include "vector.h"

enum { NM_GONE = 512, NM_GONE_KINDS = 256 };

/* The type of an object of the engine, and its latest range. */
struct nm_element_owner {
	const struct nm_type *type; /* or NULL */
	uint32_t seen;              /* queries, until the type of a bucket is looked up */
	uint8_t typed;              /* the look-up of the type is done */
	uint64_t low, end;          /* variables: range of the one accessed last */
};

/* A block that was freed. */
struct nm_gone_block {
	uint64_t address, size;
	uint32_t object;
};

/* An element: its object, its type and its addresses. */
struct nm_element {
	const struct nm_type *type;
	uint32_t object;
	uint64_t start;    /* of the element */
	uint64_t low, end; /* of the variable or block */
};

struct nm_elements {
	struct nm_vec(struct nm_element_owner) owners; /* by object */
	uint32_t patience, next_gone;
	struct nm_gone_block gone[NM_GONE];
	uint16_t gone_of[NM_GONE_KINDS]; /* how many of them, by the remainder of the object */
	struct nm_engine *program;       /* set it to the running callback's program before other calls */
};

void nm_elements_done(struct nm_elements *elements);

/* The entry of an object; NULL: memory ran out. */
struct nm_element_owner *nm_elements_owner(struct nm_elements *elements, uint32_t object);

/* The heap block around an address, also one that was freed recently: 1 if there is one. */
int nm_elements_block(const struct nm_elements *elements, uint64_t address, uint32_t object,
		      struct nm_gone_block *ret);

/* The element of an object around an address: 1 if it has fields. The object must have an entry. frame_end:
 * the end of a local variable's frame, if known; else 0. */
int nm_elements_find_in(struct nm_elements *elements, uint32_t object, uint64_t address, uint64_t frame_end,
			struct nm_element *ret);
int nm_elements_find(struct nm_elements *elements, uint32_t object, uint64_t address, struct nm_element *ret);

/* The named range, variable or block of an object around an address, as one element: 1 if there is one. Its
 * type is that of its contents, or NULL. */
int nm_elements_place(struct nm_elements *elements, uint32_t object, uint64_t address,
		      struct nm_element *ret);

/* A heap block is about to be freed. */
void nm_elements_released(struct nm_elements *elements, uint64_t address, uint64_t size, uint32_t object);

#endif
