/* SPDX-License-Identifier: MIT
 *
 * decoder_priv.h - the decoder of a chunk: what is unfolded from the tables (decoder_tables.c) and run through (decoder.c).
 */
#ifndef NM_TRACE_DECODER_PRIV_H
#define NM_TRACE_DECODER_PRIV_H

#include "codec.h"
#include "tables.h"

/* Path 0 is any record but BLOCK. */
struct path {
	uint64_t header; /* of the BLOCK */
	uint64_t left;   /* executions that are still to come */
};

/* A step to a path, with what is wanted early of it, so that the chain from step to step is one load. */
struct step {
	uint32_t path;
	uint32_t first; /* of its own successors in the list of all */
	uint32_t slots; /* its block's first */
	uint16_t count; /* addresses */
	uint8_t successors;
	uint8_t traits; /* the slot that notes its last address, NM_SLOT_ANCHOR or _SPARE; and ALL_CONSTANT */
};

enum { NOTING_SLOT = 3, ALL_CONSTANT = 4 /* none of the addresses has a column */ };

/* The next distance is values[told & index] + (told & decoder_offsets[offset]), of the 8 bytes `told` at `at`.  What
 * most slots need lies side by side: `values` is &constant if there is but one. */
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

struct nm_decoder {
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
	int broken; /* a fault that is still to be told */
	size_t escaped;
};

enum next { MORE, END, RECORD, DAMAGE };

/* Reads the tables and makes sure that all other parts fit them; 0, NM_ENOMEM or NM_EFORMAT. */
int decoder_read_tables(struct nm_decoder *decoder, const struct nm_bytes parts[NM_PARTS], uint64_t words);

#endif
