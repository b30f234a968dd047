/* SPDX-License-Identifier: MIT
 *
 * decoder_priv.h - the decoder of a chunk: what decoder_tables.c builds and decoder.c runs through.
 */
#ifndef NM_TRACE_DECODER_PRIV_H
#define NM_TRACE_DECODER_PRIV_H

#include "codec.h"
#include "tables.h"

/* Path 0 is any record but BLOCK. */
struct path {
	uint64_t header; /* of the BLOCK */
	uint64_t left;   /* executions still to come */
};

/* A step to a path. It holds a copy of what the next step needs, so the chain from step to step is one
 * load. */
struct step {
	uint32_t path;
	uint32_t first; /* of its own successors in the list of all */
	uint32_t slots; /* its block's first */
	uint16_t count; /* addresses */
	uint8_t successors;
	uint8_t traits; /* the slot that keeps its last address, NM_SLOT_ANCHOR or _SPARE; and ALL_CONSTANT */
};

enum { NOTING_SLOT = 3, ALL_CONSTANT = 4 /* none of the addresses has a column */ };

/* The next distance is values[bits & index] + (bits & decoder_offsets[offset]), where `bits` are the 8 bytes
 * at `at`. `values` is &constant if there is only one value. */
struct slot {
	const uint8_t *at; /* in its column */
	uint64_t last;     /* its last address */
	const uint64_t *values;
	uint64_t constant;
	const uint64_t *base; /* the last address of the slot that is built on */
	uint16_t index;
	uint8_t width, offset;
};

extern const uint64_t decoder_offsets[]; /* decoder_tables.c */

struct block {
	uint32_t id, slots, count; /* count: of the slots */
	uint32_t constant;         /* slots without a column before the first that has one */
};

struct nm_chunk_decoder {
	struct nm_vec(struct path) paths;
	struct nm_vec(struct block) blocks;
	struct nm_vec(uint32_t) block_of;      /* each path */
	struct nm_vec(struct step) steps;      /* to each path */
	struct nm_vec(struct step) successors; /* of each path, by rank */
	struct nm_vec(uint32_t) escapes;
	struct nm_vec(struct slot) slots;
	struct nm_vec(uint64_t) values;
	const uint8_t *flow, *flow_end;
	const uint8_t *records, *records_end;
	struct step last;
	int broken; /* a code that the next call returns */
	size_t escaped;
};

enum next { MORE, END, RECORD, DAMAGE };

/* Reads the tables and makes sure that all other parts fit them; 0, NM_ENOMEM or NM_EFORMAT. */
int decoder_read_tables(struct nm_chunk_decoder *decoder, const struct nm_chunk_bytes parts[NM_PARTS],
			uint64_t words);

#endif
