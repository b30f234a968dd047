/* SPDX-License-Identifier: MIT
 *
 * signals.h - signal handlers: the stack and the context (calls.h) in which they run.
 *
 * No function calls a handler: its context is its signal, below the root, and its cost is not the interrupted
 * function's. So the tree does not depend on where a signal happens to arrive.
 *
 * The collector reports when a handler begins, with the slot of its frame: where its return address lies. A
 * return to that slot ends the handler; the block that it returns to, which calls sigreturn, still belongs to
 * the signal. A call or return above the slot on the same stack, or on the stack that was interrupted, shows
 * that a jump has left the handler. Then the interrupted code gets its stack and context back. Handlers may
 * themselves be interrupted: the list holds them all in the order in which they began.
 *
 * longjmp, recognised by its name, leaves frames and handlers before the next call or return shows it: for
 * the blocks in between, the contexts of the frames are searched for the function that it jumped to.
 *
 * Without contexts, only handlers on stacks of their own are listed.
 */
#ifndef NM_SIGNALS_H
#define NM_SIGNALS_H

#include <stdint.h>

#include "calls.h"
#include "frames.h"
#include "vector.h"

enum nm_signal_state { NM_SIGNAL_HANDLED, NM_SIGNAL_RETURNED, NM_SIGNAL_LEAVING };

struct nm_signal {
	uint64_t slot;                        /* of the handler */
	uint32_t stack, from;                 /* indices: where it runs; what was interrupted */
	uint32_t own;                         /* the signal's context */
	uint32_t context, pending, user_call; /* of its stack, before */
	enum nm_signal_state state;
};

/* The open handlers of one thread, initially zero. */
struct nm_signals {
	struct nm_vec(struct nm_signal) list;
	int leaping; /* the latest block may have been longjmp's last */
};

void nm_signals_done(struct nm_signals *signals);

/* The stack that continues if a handler has returned, else the current one. */
size_t nm_signals_resume(struct nm_signals *signals, struct nm_frames *frames);

/* A handler begins on the current stack, its frame at slot; calls may be NULL. 0 or NM_ENOMEM. */
int nm_signals_enter(struct nm_signals *signals, struct nm_calls *calls, struct nm_frames *frames,
		     size_t from, uint64_t slot, unsigned number);

/* A call or a return is about to happen, of the frame at slot of the current stack. */
void nm_signals_leave(struct nm_signals *signals, struct nm_frames *frames, uint64_t slot, int is_return);

/* A block of the function is about to run, reached by a jump unless a call is pending: its stack. calls may
 * be NULL. */
size_t nm_signals_run(struct nm_signals *signals, const struct nm_calls *calls, struct nm_frames *frames,
		      uint32_t function);

#endif
