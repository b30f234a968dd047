/* SPDX-License-Identifier: MIT
 *
 * encoder_priv.h - an open chunk of the encoder: its executions in their order (encoder.c), and the columns
 * made of their addresses (columns.c).
 */
#ifndef NM_TRACE_ENCODER_PRIV_H
#define NM_TRACE_ENCODER_PRIV_H

#include "codec.h"
#include "map.h"
#include "tables.h"
#include "varint.h"

/* Path 0 is any record but BLOCK. */
struct path {
	uint64_t header;
	uint32_t count, executions;
	uint32_t block, slots; /* slots: the first, once the chunk is finished */
	uint32_t edge;         /* the one that was taken last, or 0 */
	uint32_t first_edge;   /* of its list */
	uint32_t surveyed;     /* executions, by columns.c */
	uint32_t anchor;       /* its last address is what the return address is kept at */
};

/* One path after another. */
struct edge {
	uint32_t to, taken, rank;
	uint32_t sibling; /* the edge before it from the same path, or 0 */
};

struct block {
	uint32_t id, count, slots; /* count: of its slots */
};

struct nm_encoder {
	struct nm_vec(struct path) paths;
	struct nm_vec(struct block) blocks;
	struct nm_vec(struct edge) edges;  /* 0 is none */
	struct nm_vec(uint32_t) steps;     /* edges, as they were taken */
	struct nm_vec(uint64_t) addresses; /* of all steps */
	struct nm_map path_of, block_of;   /* id and count -> path; id -> block */
	struct nm_map edge_of;             /* two paths -> edge */
	struct nm_map calls; /* block that ends with a call or return -> its address words; outlives chunks */
	uint32_t path;       /* the last */
	uint64_t before, anchor; /* addresses at the chunk's start; outlive it */
	uint64_t words;
	struct nm_chunk_bytes parts[NM_PARTS];
	struct columns *columns;
};

static inline int put_varint(struct nm_chunk_bytes *to, uint64_t n)
{
	if (nm_vec_reserve(to, NM_VARINT_BYTES))
		return NM_ENOMEM;
	to->count += nm_varint_put(to->at + to->count, n);
	return 0;
}

/* Whether the steps of the open chunk lead along its paths, and its sums are those of the paths. Slow. */
int encoder_is_valid(const struct nm_encoder *encoder);

/* columns.c: room that is kept from chunk to chunk; the slots of the chunk, to its tables and columns; the
 * addresses that the next chunk starts with. */
int columns_new(struct columns **ret_columns);
void columns_free(struct columns *columns);
int columns_write(struct nm_encoder *encoder);

#endif
