/* SPDX-License-Identifier: MIT
 *
 * unpack.h - interface of a decompressor, for input.c.
 */
#ifndef NM_IMPORT_UNPACK_H
#define NM_IMPORT_UNPACK_H

#include <stddef.h>
#include <stdint.h>

/* What a step has to read from and to write to; it moves `in` and `out`. */
struct nm_unpack_step {
	const uint8_t *in, *in_end;
	uint8_t *out, *out_end;
	int last; /* there is no more to come behind `in` */
};

/* 0 to go on, 1 at the end of what is packed (more may follow), -1 if it is damaged. */
struct nm_unpacker {
	const char *name;
	uint8_t magic[6];
	size_t magic_bytes;
	void *(*begin)(void); /* NULL: out of memory */
	int (*step)(void *state, struct nm_unpack_step *step);
	void (*end)(void *state);
};

/* The one that the bytes are for, or NULL: they are not packed. */
const struct nm_unpacker *nm_unpacker_for(const uint8_t *bytes, size_t count);

#endif
