/* SPDX-License-Identifier: MIT
 *
 * element_map.h - where the bytes of a structure lie in a candidate layout: each member, or a run of padding, goes to
 * an offset in a *part*. Part 0 is the structure itself; others are arrays beside it, with an element for each of its
 * elements, of what `split` or `soa` takes out.
 *
 * Members are laid out as a C compiler would: each at the next multiple of its alignment. Structures that keep their
 * order keep their offsets.
 */
#ifndef NM_ELEMENT_MAP_H
#define NM_ELEMENT_MAP_H

#include "candidate.h"
#include "symbol.h"
#include "vector.h"

/* A member: [from, from + bytes) of the structure goes to `to` in a part, and takes `to_bytes` there. */
struct nm_member {
	const char *name; /* of the first of its fields, "a", "a.x", "a[]" */
	uint64_t from, bytes, align;
	uint32_t part;
	uint64_t to, to_bytes;
};

enum { NM_NO_POINTER = -1, NM_MOST_PARTS = 256 };

struct nm_element_map {
	uint64_t bytes;                          /* of the structure as it is */
	struct nm_vec(struct nm_member) members; /* by `from` */
	struct nm_vec(uint64_t) strides;         /* of the parts: bytes from element to element */
	uint64_t align;                          /* of part 0's elements */
	int64_t pointer; /* offset in part 0 of the pointer to part 1's, or NM_NO_POINTER */
	int packed;      /* offsets within an element are not those of the structure */
};

/* All of a structure as it is. 0 or NM_ENOMEM. */
int nm_element_map_init(struct nm_element_map *map, const struct nm_type *type);
void nm_element_map_done(struct nm_element_map *map);

/* Applies a transformation of structures. NM_EINVAL: it does not fit the structure. */
int nm_element_map_apply(struct nm_element_map *map, const struct nm_type *type,
			 const struct nm_transform *transform, struct nm_error *err);

/* Sets two arrays' elements side by side: those of `bytes` at `at` in elements of `stride`. */
int nm_element_map_place(struct nm_element_map *map, uint64_t bytes, uint64_t at, uint64_t stride);

/* Some bytes that a reference goes to. */
struct nm_placed {
	uint32_t part;
	uint64_t offset; /* in the part */
	uint32_t bytes;
};

/* What [offset, offset + bytes) of an array of `elements` structures becomes: at most `room` places, in order; their
 * number. Bytes behind the last element follow part 0's last one. */
enum { NM_PLACED_MOST = 64 };
unsigned nm_element_map_find(const struct nm_element_map *map, uint64_t elements, uint64_t offset,
			     uint32_t bytes, struct nm_placed ret_places[NM_PLACED_MOST]);

/* Index of the first member that ends behind an offset; the number of members: none does. */
uint32_t nm_element_map_member(const struct nm_element_map *map, uint64_t offset);

/* Bytes of a part in which `elements` structures and `tail` further bytes lie. */
uint64_t nm_element_map_bytes(const struct nm_element_map *map, uint32_t part, uint64_t elements,
			      uint64_t tail);

#endif
