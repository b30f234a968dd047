/* SPDX-License-Identifier: MIT
 *
 * object_bytes.h - the object of each byte, collected from the rows of a trace and sent as NAME and UNNAME
 * records.
 *
 * A NAME removes every named range that it overlaps, so overlapping accesses must not simply be named one by
 * one. This table keeps the name of each byte and the ranges that the wire has: only bytes whose object
 * changes are named, and the remains of an overlapped range are named again. No range crosses a line of 64
 * bytes.
 */
#ifndef NM_IMPORT_OBJECT_BYTES_H
#define NM_IMPORT_OBJECT_BYTES_H

#include "arena.h"
#include "encode.h"
#include "map.h"
#include "vector.h"

struct nm_object_bytes {
	struct nm_strings texts;
	struct nm_map number_of;           /* interned name -> its number, from 1 */
	struct nm_vec(const char *) names; /* by number - 1 */
	struct nm_map line_at;             /* address / 64 -> struct line of the arena */
	struct nm_arena arena;
};

void object_bytes_done(struct nm_object_bytes *objects);

/* Sets the object of bytes [address, address + size); "": none that the trace names. Appends records to
 * `words` where that changes something. 0 or NM_ENOMEM. */
int object_bytes_set(struct nm_object_bytes *objects, struct nm_wire_words *words, uint64_t address,
		     unsigned size, const char *name);

#endif
