/* SPDX-License-Identifier: MIT
 *
 * chain_priv.h - a rank's replay of its part, shared by the files of chain/:
 *   chain.c         the replay, step by step
 *   trace_part.c    which records are a rank's
 *   outlines.c      outlines on their way between ranks
 *   settle.c        keys of the whole run, states of caches, counts
 */
#ifndef NM_CHAIN_PRIV_H
#define NM_CHAIN_PRIV_H

#include "chain.h"
#include "outline.h"
#include "part.h"
#include "session.h"
#include "trace.h"
#include "vector.h"

/* ---- outlines.c: lists of pieces, packed in blocks ---- */

/* A piece as another rank gets it. */
struct piece {
	uint32_t stream;
	int is_whole; /* to be executed with references; else it is an outline */
	const uint64_t *words;
	size_t count;
	const uint32_t *keys; /* of its references, by the sender, if it is whole */
	size_t key_count;
};

struct packed_block {
	void *bytes;
	size_t count;
};

struct outlines {
	struct nm_vec(uint64_t) open; /* the block that grows */
	struct nm_vec(struct packed_block) blocks;
	uint64_t bytes; /* of all blocks */
};

void outlines_free(struct outlines *outlines);

/* Adds a piece. *ret_full: the caller should close the block. 0 or NM_ENOMEM. */
int outlines_add(struct outlines *outlines, const struct piece *piece, int *ret_full);

/* Packs the open block, unless it is empty. 0 or NM_ENOMEM. */
int outlines_close(struct outlines *outlines);

/* Takes over the bytes of a block. 0 or NM_ENOMEM. */
int outlines_take(struct outlines *outlines, void *bytes, size_t count);

/* Reads blocks: begins with the i-th (0, or a code; NM_EFORMAT: it is damaged), then 1 and the next piece, or 0. */
struct outline_reader {
	uint64_t *words;
	size_t count, at;
};
int outline_reader_begin(struct outline_reader *reader, const struct packed_block *block);
int outline_reader_next(struct outline_reader *reader, struct piece *ret_piece);
void outline_reader_done(struct outline_reader *reader);

/* ---- trace_part.c ---- */

struct trace_part {
	struct nm_trace *trace;
	struct nm_vec(
	    struct nm_trace_chunk) chunks; /* of words, process by process: parents before children */
	uint64_t words, begin, end;        /* of all; of this rank's part */
	uint64_t read_bytes;
};

/* Rank `rank` of `ranks`. 0 or a code. */
int trace_part_init(struct trace_part *part, struct nm_trace *trace, unsigned rank, unsigned ranks,
		    struct nm_error *err);
void trace_part_done(struct trace_part *part);

/* Calls take for each piece of the part, whole records of one stream; until it fails. 0 or a code. */
int trace_part_walk(struct trace_part *part,
		    int (*take)(void *arg, uint32_t stream, const uint64_t *words, size_t count,
				struct nm_error *err),
		    void *arg, struct nm_error *err);

/* ---- chain.c ---- */

struct nm_rank_chain {
	const struct nm_chain_transport *transport;
	struct nm_engine_options options;
	struct trace_part trace;
	struct nm_run_part part;
	struct nm_session *session;
	struct outlines before, own, told; /* of the parts before; of the own part; what rank 0 gets of it */
	struct nm_vec(uint32_t) streams;   /* of the own part */
	struct nm_chain_work work;
};

int chain_send(const struct nm_rank_chain *chain, unsigned to, const void *bytes, size_t count,
	       struct nm_error *err);
int chain_receive(const struct nm_rank_chain *chain, unsigned from, void **ret_bytes, size_t *ret_count,
		  struct nm_error *err);

/* Seconds of processors that this process has used. */
double chain_seconds(void);

/* ---- settle.c ---- */

/* From the parts' own keys and open loads to the whole run's counts, which rank 0's session then has. 0 or a code. */
int chain_settle(struct nm_rank_chain *chain, struct nm_chain_work *ret_work, struct nm_error *err);

#endif
