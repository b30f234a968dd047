/* SPDX-License-Identifier: MIT
 *
 * array_shape.h - the dimensions of an array, from its type as the source language writes it.
 */
#ifndef NM_ARRAY_SHAPE_H
#define NM_ARRAY_SHAPE_H

#include <stdint.h>

enum { NM_DIMENSIONS = 8 };

/* In the order in which the source writes the subscripts. */
struct nm_array_shape {
	unsigned dimensions;  /* 0: it is no array, or has no bounds */
	int first_is_fastest; /* the first subscript runs through memory fastest, as in Fortran */
	int64_t elements;     /* in all */
	int64_t fastest;      /* the extent of the subscript that runs through memory fastest */
	struct {
		int64_t low, count;
	} dimension[NM_DIMENSIONS];
};

/* Of a type, or NULL. */
struct nm_array_shape nm_array_shape_parse(const char *type);

#endif
