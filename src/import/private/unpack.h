/* SPDX-License-Identifier: MIT
 *
 * unpack.h - interface of a decompressor, for input.c.
 */
#ifndef NM_IMPORT_UNPACK_H
#define NM_IMPORT_UNPACK_H

#include <stddef.h>
#include <stdint.h>

/* The input and output of a step, which advances `in` and `out`. */
struct nm_unpack_step {
	const uint8_t *in, *in_end;
	uint8_t *out, *out_end;
	int last; /* `in` is the end of the file */
};

/* 0: go on, 1: the end of a compressed piece (another may follow), -1: damaged. */
struct nm_unpacker {
	const char *name;
	uint8_t magic[6];
	size_t magic_bytes;
	void *(*begin)(void); /* NULL: out of memory */
	int (*step)(void *state, struct nm_unpack_step *step);
	void (*end)(void *state);
};

/* The decompressor for a file that begins with these bytes; NULL: it is not compressed. */
const struct nm_unpacker *unpacker_for(const uint8_t *bytes, size_t count);

#endif
