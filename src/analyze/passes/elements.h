/* SPDX-License-Identifier: MIT
 *
 * elements.h - which element, of what structure, an address is in: a structure in its variable or block.
 *
 * The type of a variable comes from debug information, that of a heap bucket from the call that allocates; it
 * is looked up at the `patience`-th question about an object. Local variables are in a frame of their
 * function: the one given, else an open one, else where that was last. Blocks that were released lately are
 * remembered, because a pass may ask late.
 */
#ifndef NM_ELEMENTS_H
#define NM_ELEMENTS_H

#include <stdint.h>

#include "pass.h"
#include "symbol.h"
#include "vector.h"

enum { NM_GONE = 512 };

/* What is known of an object of the engine. */
struct nm_element_owner {
	const struct nm_type *type; /* or NULL */
	uint32_t seen;              /* accesses, until the type of a bucket is asked for */
	uint8_t typed;              /* the type is known, or never will be */
	uint64_t low, end;          /* variables: where the last access was */
};

/* A block that was released. */
struct nm_gone_block {
	uint64_t address, size;
	uint32_t object;
};

/* An element at an address: which object, of what type, where it begins. */
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
	struct nm_engine *program; /* of the callback that runs: to be set before the others are called */
};

void nm_elements_done(struct nm_elements *elements);

/* What is known of an object; NULL: memory ran out. */
struct nm_element_owner *nm_elements_owner(struct nm_elements *elements, uint32_t object);

/* The heap block around an address, also one that was released lately: 1 if there is one. */
int nm_elements_block(const struct nm_elements *elements, uint64_t address, uint32_t object,
		      struct nm_gone_block *ret);

/* The element of an object, of which the owner is known, around an address: 1 if it has fields. frame_end: of
 * the frame that it is in, if it is a local variable and that is known; else 0. */
int nm_elements_find_in(struct nm_elements *elements, uint32_t object, uint64_t address, uint64_t frame_end,
			struct nm_element *ret);
int nm_elements_find(struct nm_elements *elements, uint32_t object, uint64_t address, struct nm_element *ret);

/* The named range, variable or block of an object around an address, as one element: 1 if there is one. Its
 * type, or NULL, is that of what it holds. */
int nm_elements_place(struct nm_elements *elements, uint32_t object, uint64_t address,
		      struct nm_element *ret);

/* A heap block is about to be released. */
void nm_elements_released(struct nm_elements *elements, uint64_t address, uint64_t size, uint32_t object);

#endif
