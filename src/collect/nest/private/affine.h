/* SPDX-License-Identifier: MIT
 *
 * affine.h - what is known of a nest before it runs: that no subscript leaves its array, the address of each
 * reference as a sum of loop indices, and how far references move from one iteration of a loop to the next.
 */
#ifndef NM_NEST_AFFINE_H
#define NM_NEST_AFFINE_H

#include "nest_priv.h"

/* The reference's bytes start at the sum of base and, for each loop around it, factor * index. */
struct nm_affine_reference {
	uint64_t base;
	int64_t factor[NM_NEST_DEPTH]; /* by slot */
	uint32_t area;
};

/* Arrays that lie in lines of their own form an area. */
struct nm_affine {
	struct nm_affine_reference *references; /* as nest->references */
	unsigned areas;
};

/* Arrays whose first and last lines, of `line` bytes, differ are areas of their own. 0, NM_ENOMEM, or
 * NM_NEST_SIMULATE: an index array is read, a subscript may leave its array, a number may be large, an address
 * is not below `limit`, or there are more than `most` areas. The caller frees ret->references. */
int nm_affine_new(const struct nm_nest *nest, uint64_t line, uint64_t limit, unsigned most,
		  struct nm_affine *ret);

/* If all iterations of a loop make the same references but for a constant that the addresses of each area
 * move by from one to the next: 1, the areas that they are to, and the constants. */
int nm_affine_moves(const struct nm_affine *affine, const struct nm_nest_node *loop, uint8_t *is_touched,
		    int64_t *moves);

#endif
