/* SPDX-License-Identifier: MIT
 *
 * ahead.h - reads a whole trace in order, a few pieces ahead of who takes them, in a thread of its own.
 */
#ifndef NM_TRACE_AHEAD_H
#define NM_TRACE_AHEAD_H

#include "trace.h"

struct nm_piece {
	uint32_t stream;
	const uint64_t *words; /* whole records; NULL: the stream has ended, or these are names */
	size_t count;
	const uint8_t *names; /* for nm_symbols_learn: those of a pipe, which cannot be learned before */
	size_t names_count;
};

struct nm_ahead;

/* The trace is this reader's until it is freed.  threaded: 0 reads in the caller. */
int nm_ahead_new(struct nm_ahead **ret_ahead, struct nm_trace *trace, int threaded, struct nm_error *err);
void nm_ahead_free(struct nm_ahead *ahead);

/* 1 and the next piece, valid until the next call; 0 at the end; or a code: what was given before stands. */
int nm_ahead_next(struct nm_ahead *ahead, struct nm_piece *ret_piece, struct nm_error *err);

#endif
