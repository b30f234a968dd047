/* SPDX-License-Identifier: MIT
 *
 * outline.h - what is left of a stream for those who only need what it does to the state of the program: where
 * threads are, which calls are open, what memory holds.
 *
 * A replay that is *silent* (replay.h) executes blocks without references. Its outline has all other records; of
 * executions it has those that call or return, that are a block's first, that change whose call library code is for
 * (user_calls.h), or that something watches (contexts.h, signals.h). For those between there is one NM_WIRE_RAN. Of
 * addresses only what is needed is kept; the others are 0.
 *
 * A silent replay of the outline ends in the state in which one of the stream does, and at the same instruction.
 */
#ifndef NM_OUTLINE_H
#define NM_OUTLINE_H

#include <stddef.h>
#include <stdint.h>

#include "encode.h"

struct nm_outline {
	struct nm_wire_words words; /* whole records; the owner empties it */
	uint64_t dropped;           /* instructions that ran since the latest record */
	/* the latest execution, among those, if what follows may be its tail call; words: of the stream */
	struct {
		const uint64_t *words;
		size_t count;
		uint32_t instructions;
	} held;
};

/* Copies any record but an execution. 0 or NM_ENOMEM. */
int nm_outline_record(struct nm_outline *outline, const uint64_t *words, size_t count);

/* Appends what has not been: the outline may end here, and the words of the stream may go. 0 or NM_ENOMEM. */
int nm_outline_flush(struct nm_outline *outline);

/* Of a silent replay: executes the block at header, with n addresses. 0 or a code. */
struct nm_replay;
int nm_replay_follow(struct nm_replay *replay, const uint64_t *header, size_t n, struct nm_error *err);

#endif
