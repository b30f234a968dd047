/* SPDX-License-Identifier: MIT
 *
 * readahead.h - reads a whole trace in order, a few pieces ahead of who takes them.
 *
 * Whoever has nothing else to do may read the next piece: another thread by nm_readahead_step, a thread of this reader's
 * own if it has one, and the taker himself where none is ready.  The pieces and their order do not depend on it.
 */
#ifndef NM_TRACE_READAHEAD_H
#define NM_TRACE_READAHEAD_H

#include "trace.h"

struct nm_piece {
	uint32_t stream;
	const uint64_t *words; /* whole records; NULL: the stream has ended, or these are names */
	size_t count;
	const uint8_t *names; /* for nm_symbols_decode: those of a pipe, which cannot be learned before */
	size_t names_count;
};

struct nm_readahead;

/* The trace is this reader's until it is stopped.  threaded: has a thread of its own. */
int nm_readahead_new(struct nm_readahead **ret_ahead, struct nm_trace *trace, int threaded,
		     struct nm_error *err);

/* Nobody may be in nm_readahead_step, or come there later. */
void nm_readahead_free(struct nm_readahead *ahead);

/* 1 and the next piece, valid until the next call; 0 at the end; or a code: what was given before stands. */
int nm_readahead_next(struct nm_readahead *ahead, struct nm_piece *ret_piece, struct nm_error *err);

/* Reads one piece ahead, in any thread: 1, or 0 if there is nothing to read or no room now.  Of a pipe nothing is read
 * here, since it may be long in coming. */
int nm_readahead_step(struct nm_readahead *ahead);

/* Returns when nobody reads any more.  What was read can still be taken; then the trace seems to have ended. */
void nm_readahead_stop(struct nm_readahead *ahead);

#endif
