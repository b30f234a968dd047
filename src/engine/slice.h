/* SPDX-License-Identifier: MIT
 *
 * slice.h - slices of arrays: what they select, and whether bytes of an object are in one.
 *
 *     grid[3]  grid[3:7]  grid[:][0]  nodes[5].next  field(2:4,:)  block[3]@8[512][512]
 *
 * A slice is the name of an object, then subscripts, perhaps a field, perhaps a layout. Subscripts in brackets
 * are those of C: from 0 on, FROM:TO without TO, the last ones may be left out. Those in parentheses are
 * Fortran's: from the declared bound on, FROM:TO with TO, all of them. The layout, the bytes of an element and
 * perhaps the dimensions, is for objects whose type is not known.
 */
#ifndef NM_SLICE_H
#define NM_SLICE_H

#include <stdint.h>

#include "errors.h"
#include "symbol.h"
#include "text.h"

/* The subscripts [low, end) of a dimension. */
struct nm_slice_part {
	int64_t low, end;
};

struct nm_slice {
	char *name, *field; /* owned; field: NULL, the whole element */
	unsigned count;
	struct nm_slice_part part[NM_DIMENSIONS];
	int is_fortran;
	uint64_t element; /* of the layout; 0: there is none */
	struct nm_array_shape shape;
};

/* Reads a slice. 1: *ret_slice is one, to be ended by nm_slice_done; 0: it is the name of an object.
 * NM_EINVAL, NM_ENOMEM. */
int nm_slice_parse(struct nm_slice *ret_slice, const char *text, struct nm_error *err);
void nm_slice_done(struct nm_slice *slice);

/* What is known of an object that may have the slice. */
struct nm_slice_object {
	const char *type;                /* as the source writes it, or NULL */
	const struct nm_type *structure; /* that it is or its elements are, or NULL */
	uint64_t bytes;                  /* of the variable; 0: blocks, each an array of elements */
};

enum nm_slice_fit {
	NM_SLICE_NONE, /* no such object */
	NM_SLICE_FITS,
	NM_SLICE_NO_TYPE,
	NM_SLICE_NO_ARRAY,
	NM_SLICE_NO_FIELD,
	NM_SLICE_DIMENSIONS, /* other than the slice has */
	NM_SLICE_OUTSIDE     /* the array has no such element */
};

/* A slice of an object that it fits: which elements, and which of their bytes. */
struct nm_slice_place {
	uint64_t element;
	unsigned count; /* dimensions, the one that runs through memory slowest first */
	struct {
		int64_t low, end;     /* from 0 on */
		uint64_t count, step; /* elements */
	} dimension[NM_DIMENSIONS];
	const struct nm_type *structure; /* of `field` */
	const char *field;               /* or NULL */
};

enum nm_slice_fit nm_slice_fit(const struct nm_slice *slice, const struct nm_slice_object *object,
			       struct nm_slice_place *ret_place);

/* Whether one of the `bytes` bytes from `position` on, in the variable or block, is in the slice. */
int nm_slice_holds(const struct nm_slice_place *place, uint64_t position, uint64_t bytes);

#endif
