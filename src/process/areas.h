/* SPDX-License-Identifier: MIT
 *
 * areas.h - the memory of a process as the parts that a loader, the kernel or an allocator could have put
 * elsewhere, each as a whole: the heap that grows by brk, the first thread's stack, a program or library with
 * its data, any other mapping (threads' stacks and large blocks of malloc among them).
 *
 * An area is never moved or removed, so memory that is mapped again stays where it was. What is in no area
 * keeps its address. Each area has a part of a larger address space to itself, so that areas cannot meet
 * wherever they are shifted to within it.
 */
#ifndef NM_AREAS_H
#define NM_AREAS_H

#include <stdint.h>

#include "vector.h"

enum nm_area_kind { NM_AREA_MAPPING, NM_AREA_FILE, NM_AREA_HEAP, NM_AREA_STACK };

struct nm_area {
	uint64_t low, end; /* by pages */
	uint64_t shift;    /* to its own part, a multiple of 2^40; modulo 2^64 */
	const char *path;  /* NM_AREA_FILE: interned; else NULL */
	enum nm_area_kind kind;
	uint32_t number; /* from 1, in the order in which they were made */
};

struct nm_areas {
	struct nm_vec(struct nm_area) at; /* by address */
	uint64_t parts;                   /* that are taken */
};

/* How far an area may be shifted within its part: less than this. */
#define NM_AREA_ROOM (UINT64_C(1) << 33)

/* Whether all of [low, end) is in areas. */
int nm_areas_cover(const struct nm_areas *areas, uint64_t low, uint64_t end);

/* Puts [low, end) into areas: those that are there, or new ones. path: interned; NULL unless it is of a file. 0
 * or NM_ENOMEM. */
int nm_areas_add(struct nm_areas *areas, uint64_t low, uint64_t end, enum nm_area_kind kind,
		 const char *path);

/* The area around an address, or NULL. */
const struct nm_area *nm_areas_find(const struct nm_areas *areas, uint64_t address);

/* Copies areas; ret_areas need not be initialised. 0 or NM_ENOMEM. */
int nm_areas_copy(struct nm_areas *ret_areas, const struct nm_areas *areas);
void nm_areas_done(struct nm_areas *areas);

#endif
