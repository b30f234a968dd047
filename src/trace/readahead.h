/* SPDX-License-Identifier: MIT
 *
 * readahead.h - reads a whole trace in order, a few pieces ahead of its consumer.
 *
 * An idle thread may read the next piece: another thread of the caller's by nm_readahead_step, a thread of
 * the reader's own if it has one, and the consumer itself if no piece is ready. Pieces and their order do not
 * depend on who reads.
 */
#ifndef NM_TRACE_READAHEAD_H
#define NM_TRACE_READAHEAD_H

#include "trace.h"

struct nm_readahead_piece {
	uint32_t stream;
	const uint64_t *words; /* whole records; NULL: the stream has ended, or these are names */
	size_t count;
	const uint8_t *names; /* for nm_symbols_decode: those of a pipe, which cannot be learned before */
	size_t names_count;
};

struct nm_readahead;

/* The trace must not be used otherwise until the reader is stopped. threaded: the reader has a thread of its
 * own. */
int nm_readahead_new(struct nm_readahead **ret_ahead, struct nm_trace *trace, int threaded,
		     struct nm_error *err);

/* No thread may be in nm_readahead_step, or call it later. */
void nm_readahead_free(struct nm_readahead *ahead);

/* 1 and the next piece, valid until the next call; 0 at the end; or a code: the pieces before it are good. */
int nm_readahead_next(struct nm_readahead *ahead, struct nm_readahead_piece *ret_piece, struct nm_error *err);

/* Reads one piece ahead, in any thread: 1, or 0 if there is nothing to read or no room now. Does not read
 * from a pipe, which might block for long. */
int nm_readahead_step(struct nm_readahead *ahead);

/* Returns when no thread reads any more. Pieces that were read can still be taken; then the trace seems to
 * end. */
void nm_readahead_stop(struct nm_readahead *ahead);

#endif
