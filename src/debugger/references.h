/* SPDX-License-Identifier: MIT
 *
 * references.h - the references of a run, packed, so that any of them is found by its number.
 *
 * Blocks of NM_REFERENCE_BLOCK references are coded independently. A small table, empty at the start of a
 * block, keeps the last address of each attribution key, and the key that came next. Most references then
 * take a few bytes, which zstd compresses further. To read a reference, its block is decoded up to it.
 *
 * Packed blocks are in shared mappings, because a process that forks copies no page tables for those. A
 * reader is small for a similar reason: each process copies the pages that it writes.
 */
#ifndef NM_REFERENCES_H
#define NM_REFERENCES_H

#include <stddef.h>
#include <stdint.h>

#include "vector.h"

enum { NM_REFERENCE_BLOCK = 1 << 14, NM_REFERENCE_WINDOW = 1 << 9 };

struct nm_reference {
	uint64_t address;
	uint32_t attr;
	uint16_t size;
	uint8_t is_write;
	uint8_t synchronised : 1; /* its core passed a lock or a barrier just before */
	uint8_t uncounted : 1;    /* it moves lines, and is not counted (nm_ref, weight 0) */
};

struct nm_reference_guess;

struct nm_reference_block {
	const uint8_t *packed;
	uint32_t packed_bytes, bytes;
};

struct nm_reference_region {
	uint8_t *at;
	size_t bytes;
};

struct nm_references {
	uint64_t count;
	struct nm_vec(struct nm_reference_block) blocks;
	struct nm_vec(uint8_t) open, packed; /* the block that is being written */
	struct nm_reference_guess *guess;
	uint64_t bytes; /* of all blocks, packed */
	/* shared memory for them; the last region has room from `used` on */
	struct nm_vec(struct nm_reference_region) regions;
	size_t used;
};

/* Appends one.  0 or NM_ENOMEM. */
int nm_references_append(struct nm_references *references, const struct nm_reference *reference);
/* After the last append.  0 or NM_ENOMEM. */
int nm_references_close(struct nm_references *references);
/* Appends a whole block as nm_reference_reader_block() gives it.  0 or NM_ENOMEM. */
int nm_references_add_block(struct nm_references *references, const uint8_t *bytes, size_t count,
			    uint64_t references_in_it);
void nm_references_done(struct nm_references *references);

/* A place to decode blocks into: a window of references. */
struct nm_reference_reader {
	const struct nm_references *references;
	struct nm_vec(uint8_t) unpacked; /* a block */
	const uint8_t *next;             /* what is behind the window, in there */
	uint64_t window;                 /* number of the window that is decoded and 1; 0: none */
	struct nm_reference at[NM_REFERENCE_WINDOW];
	struct nm_reference_guess *guess;
};

int nm_reference_reader_new(struct nm_reference_reader **ret_reader, const struct nm_references *references);
void nm_reference_reader_free(struct nm_reference_reader *reader);

void nm_reference_reader_decode(struct nm_reference_reader *reader, uint64_t window);

/* The coded bytes of a block, as long as the reader reads no other. */
const uint8_t *nm_reference_reader_block(struct nm_reference_reader *reader, uint64_t block,
					 size_t *ret_count);

/* The reference with this number; the first is 0. */
static inline const struct nm_reference *nm_reference_at(struct nm_reference_reader *reader, uint64_t number)
{
	if (__builtin_expect(number / NM_REFERENCE_WINDOW + 1 != reader->window, 0))
		nm_reference_reader_decode(reader, number / NM_REFERENCE_WINDOW);
	return &reader->at[number % NM_REFERENCE_WINDOW];
}

#endif
