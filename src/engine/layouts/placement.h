/* SPDX-License-Identifier: MIT
 *
 * placement.h - where one candidate layout puts the program's objects: for each object a rule, made of the
 * transformations that name it or its structure, and for each of its blocks a place.
 *
 * What none of them names has no rule, and its references stay what they are. A block that takes as much room as
 * before, and is aligned, stays too, until a small heap block does not: from this one on, all small ones are placed as
 * by a rebuild's malloc (candidate_memory.h), those that nothing names by a rule without transformations. What malloc
 * reads and writes between blocks is then what the heap touches (malloc_heap.h), not what the program's malloc did.
 */
#ifndef NM_PLACEMENT_H
#define NM_PLACEMENT_H

#include "candidate_memory.h"
#include "element_map.h"
#include "elements.h"

/* What becomes of the blocks of an object. The transformations are NULL if there is none. */
struct nm_layout_rule {
	struct nm_element_map map;
	int has_map, is_heap;
	int is_named;                    /* by a transformation; else its blocks move only if others do */
	const struct nm_transform *rows; /* transpose, or pad rows */
	const struct nm_transform *align, *huge;
	const struct nm_transform *pool;   /* pool or order */
	const struct nm_transform *shared; /* merge or offset: its base is shared by several objects */
	uint64_t shift;                    /* from that base */
	struct nm_layout_place *recent;    /* found last, or NULL */
	uint64_t places;                   /* that live */
};

/* A block, or a variable, that has a rule. */
struct nm_layout_place {
	uint64_t low, end;
	struct nm_layout_rule *rule;
	uint64_t elements;
	int is_visited;   /* by what its order follows */
	int stays;        /* where it is */
	uint64_t bases[]; /* of each part */
};

struct nm_placement {
	struct nm_candidate *candidate;
	struct nm_elements elements;
	struct nm_candidate_memory memory;
	struct nm_map places;                         /* low -> struct nm_layout_place * */
	struct nm_vec(struct nm_layout_rule *) rules; /* by object; NULL: not known yet, or &none */
	struct nm_vec(uint64_t) bases;                /* by transformation: shared, 0: none yet */
	struct nm_vec(struct nm_pool) pools;          /* by transformation */
	uint64_t heap_low, heap_end;                  /* the program's small blocks, so far */
	int places_heap;                              /* small blocks are placed anew: the first one was */
	enum nm_heap_call call;                       /* that the block now placed comes from */
	uint64_t resizes;                             /* the block that realloc releases now, */
	uint64_t resized, resized_bytes; /* and where it lay, if the heap has yet to know; or 0 */
};

int nm_placement_init(struct nm_placement *placement, struct nm_candidate *candidate);
void nm_placement_done(struct nm_placement *placement);

/* The rule of an object that is accessed at the address, NULL: there is none. *ret_known: it will not change. 0 or
 * NM_ENOMEM. */
int nm_placement_rule(struct nm_placement *placement, struct nm_engine *program, uint32_t object,
		      uint64_t address, struct nm_layout_rule **ret_rule, int *ret_known);

/* A heap block was allocated; rule: that of its object, or NULL. 0 or NM_ENOMEM. */
int nm_placement_allocated(struct nm_placement *placement, struct nm_engine *program,
			   struct nm_layout_rule *rule, const struct nm_block *block, enum nm_heap_call call);

/* The block is released by a realloc, which the next allocation belongs to. */
void nm_placement_resizes(struct nm_placement *placement, uint64_t address);

/* Whether memory outside blocks is malloc's between small blocks, or will be one. */
int nm_placement_in_heap(const struct nm_placement *placement, uint64_t address);

/* The place of a block that begins at the address, or NULL. */
struct nm_layout_place *nm_placement_at(const struct nm_placement *placement, uint64_t low);

/* The place around an address of an object with a rule; NULL: it is in none. 0 or NM_ENOMEM. */
int nm_placement_find(struct nm_placement *placement, struct nm_engine *program, struct nm_layout_rule *rule,
		      uint32_t object, uint64_t address, struct nm_layout_place **ret_place);

/* Whether blocks of the rule move when they are visited. */
static inline int nm_layout_rule_orders(const struct nm_layout_rule *rule)
{
	return rule->pool && rule->pool->kind == NM_ORDER;
}

/* A place is visited: its part 0 moves behind that of the one visited before; *ret_from: from there. It must not have
 * been visited. 0 or NM_ENOMEM. */
int nm_placement_visit(struct nm_placement *placement, struct nm_layout_place *place, uint64_t *ret_from);
uint64_t nm_placement_bytes(const struct nm_layout_place *place); /* of part 0 */

/* Whether a block that begins at the address has a place; a block goes. 0 or NM_ENOMEM. */
int nm_placement_has(const struct nm_placement *placement, uint64_t address);
int nm_placement_release(struct nm_placement *placement, uint64_t address);

/* What becomes of a reference to [address, address + bytes) of a place: addresses and bytes, in order; their number.
 * With split by pointer, a load of the pointer comes first, which *ret_loads_pointer says. */
struct nm_moved {
	uint64_t address;
	uint32_t bytes;
	uint8_t is_pointer; /* the load that finds the next one */
};
enum { NM_MOVED_MOST = 2 * NM_PLACED_MOST };

/* A place without its parts: its range, and where part 0 lies. */
struct nm_layout_spot {
	uint64_t low, end, base;
};

/* The same in short, for bytes that stay side by side in part 0: 1, and *ret_address; 0: ask nm_placement_move.
 * *member: of the rule's map, the one to try first. */
int nm_placement_shift(const struct nm_layout_rule *rule, const struct nm_layout_spot *spot, uint64_t address,
		       uint64_t bytes, uint32_t *member, uint64_t *ret_address);

unsigned nm_placement_move(const struct nm_layout_place *place, uint64_t address, uint32_t bytes,
			   struct nm_moved ret_moved[NM_MOVED_MOST]);

#endif
