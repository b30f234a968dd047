/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sampling.h - sampled recordings: references drawn at random, and the next reference to the line of each.
 *
 * Translated code keeps its state in the first shadow copy of the running thread's registers. Valgrind
 * provides it for tools, this one has no other use for it, and a store to it is one instruction. Valgrind
 * saves and restores it with the registers around signal handlers and copies it to new threads. So only
 * `calls` is valid while no code runs; state that threads share is copied in when a thread starts to run and
 * copied back when it stops (sampling.c).
 */
#ifndef NEARMISS_VALGRIND_SAMPLING_H
#define NEARMISS_VALGRIND_SAMPLING_H

#include "libvex_guest_amd64.h"
#include "tool.h"

#define MAX_WINDOWS 104u
#define MAX_SAMPLED_EXITS 255u

struct nm_sampled_thread {
	Long countdown; /* references until the next sample */
	Addr calls;     /* top of the stack of calls (call_stack.c) */
	Addr window[MAX_WINDOWS];
};
_Static_assert(sizeof(struct nm_sampled_thread) <= sizeof(VexGuestAMD64State),
	       "it fits the shadow registers");

#define NM_SAMPLED_OFFSET(member) \
	((Int)(sizeof(VexGuestAMD64State) + offsetof(struct nm_sampled_thread, member)))

/* Whether this is a sampled recording: the options --sample (samples in 10^9 references), --sample-line
 * (bytes, a power of 2 from NM_SAMPLED_LINE_MIN on) and --sample-seed. */
extern Bool nm_sampling;
extern Int nm_sampling_rate, nm_sampling_line, nm_sampling_seed;
#define NM_SAMPLED_LINE_MIN 32

/* ---- Translated code ---- */

struct nm_sampled_access {
	Addr pc;
	Int distance; /* of its address from that of its window */
	UShort bytes;
	UChar window;
	/* NM_WIRE_READ, NM_WIRE_WRITE, NM_WIRE_GUARDED: the window's address is 0 if it did not take
	 * place */
	UChar flags;
};

struct nm_sampled_exit {
	UShort accesses; /* before it */
	Bool returned;   /* by a return: a call was taken from the stack */
};

/* Keeps a copy of both lists; returns the block's number. */
UInt nm_sampled_block_new(void);
void nm_sampled_block_define(UInt block, UInt accesses, const struct nm_sampled_access *access, UInt exits,
			     const struct nm_sampled_exit *exit);
static inline ULong nm_sampled_position(UInt block, UInt exit) { return (ULong)block << 8 | exit; }

/* ---- sampled_block.c ---- */

IRSB *nm_instrument_sampled(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
			    const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
			    IRType host_word);

/* ---- sampling.c ---- */

/* The filter: the word at `filter + (address >> shift & mask)` is negative if the line of the address, or the
 * next one, may be watched. */
Addr nm_sampling_filter(void);
UInt nm_sampling_shift(void);
ULong nm_sampling_mask(void);

/* Called from translated code at the exit with this position, if the countdown is negative or an address before
 * it met a mark. */
VG_REGPARM(1) void nm_sampling_due(ULong position);

/* Starts a new stream: no line is watched. */
void nm_sampling_begin(void);
/* Sends the number of references. Call before a stream ends. */
void nm_sampling_tell_clock(void);
void nm_sampling_thread_begins(ThreadId thread);
void nm_sampling_thread_runs(ThreadId thread);
void nm_sampling_thread_stops(ThreadId thread);
/* Stop and resume counting references. */
void nm_sampling_measure(Bool on);

/* ---- call_stack.c: the calls that a thread is in. ---- */

#define NM_CALL_BYTES 16 /* words of an entry: slot of its return address, pc of the call */
/* Entries that translated code may push or pop before nm_call_stack_make_room is called again. */
#define NM_CALL_MARGIN 32768u

/* Empties the thread's stack; returns its top. */
Addr nm_call_stack_new(ThreadId thread);
/* Call at least every NM_CALL_MARGIN calls. Returns the top, which may have moved. */
Addr nm_call_stack_make_room(ThreadId thread, Addr top);
/* Sends the changes since the last call. Frames with slots below `lowest` have ended. */
void nm_call_stack_tell(ThreadId thread, Addr top, Addr lowest);
/* The same for the running thread, at an event that is not a sample. */
void nm_call_stack_tell_now(void);
/* Sends and ends the running thread's call with this slot, which is about to return. */
void nm_call_stack_tell_return(Addr slot);

#endif
