/* SPDX-License-Identifier: MIT
 *
 * user_calls.h - the user's calls through which library code runs, so that its misses are shown at lines that
 * the user can change (user_code.h).
 *
 * While library code runs, its stack knows the last call that the user's code made: the call that pushed its
 * frame, or, where a library calls itself, the one that its caller had. A jump from the user's code into a
 * library is a tail call. A block of library code is decoded once for each of these calls, with sites of its
 * own, so executing it costs the hot path one comparison; blocks of the user's code have none to make. Linkage
 * tables count as library code, so what a call finds through them is called from the call. A block may go on
 * behind a jump, from the user's code into a library's.
 *
 * Calls are numbered as nm_attributions_user_call does, 0: none, as at the start of a program or thread. Where a
 * progress function of MPI runs (mpi_code.h), or called what runs, the number has NM_WAITS: the function's first block
 * sets it in the stack, and returning drops it. A caller that no symbol names has NM_WAITS_AROUND until it returns.
 */
#ifndef NM_USER_CALLS_H
#define NM_USER_CALLS_H

#include "replay.h"

/* Is the block library code, and decoded for another call than the one that led here now? */
static inline int nm_is_of_other_call(const struct nm_running *running,
				      const struct nm_decoded_block *decoded)
{
	return nm_is_of_library(decoded) &&
	       (decoded->user_call != (NM_OF_LIBRARY | running->stack->user_call) ||
		nm_may_tail_call(running->last));
}

/* The decoded block of library code for the call that led here; nm_undecoded_block: there is none yet. */
struct nm_decoded_block *nm_replay_of_this_call(struct nm_replay *replay, uint32_t id,
						struct nm_decoded_block *decoded);

/* A new decoded block: notes whether it is library code, and the call. 0 or NM_ENOMEM. */
int nm_replay_note_call(struct nm_replay *replay, struct nm_decoded_block *decoded,
			const struct nm_wire_block_info *info);

/* Instruction i of a block, m its mapping or NULL; of library code with the call that leads there. 0 or NM_ENOMEM. */
int nm_replay_instruction(struct nm_replay *replay, const struct nm_decoded_block *decoded,
			  const struct nm_wire_block_info *info, uint32_t i, const struct nm_mapping *m,
			  uint32_t *ret_instruction);

#endif
