/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * pending_calls.c - calls of allocation, lock and pool functions from entry to return.
 *
 * At a function's entry we keep the stack slot of its return address as the thread's pending call of that
 * kind; the return through that slot ends it. Such functions call one another (operator new calls malloc):
 * only the outermost call counts, so one pending call for each thread and kind is enough; of pools, pools.c
 * keeps those around it. A pending call that
 * never returns (longjmp, an exception, a cancellation) ends when something returns from a frame above it, or
 * is replaced when its slot no longer holds its return address.
 *
 * Translated code compares the slot of each return address with `watched`, the lowest slot that is pending.
 */
#include "tool.h"

#include "libvex_guest_amd64.h"

/* A call this much deeper on the same stack was not made by the pending one. */
#define DEEPEST (1u << 20)
#define NOTHING_PENDING (~(Addr)0)

struct pending {
	Addr slot;           /* where its return address lies */
	Addr return_address; /* what the slot holds as long as the call lasts */
};

static struct {
	struct pending *of; /* by Valgrind's thread number */
	Addr slot;          /* of the running thread */
	void (*ended)(ThreadId thread, Addr slot, Bool returned);
} kinds[NM_CALL_KINDS];

static Addr watched = NOTHING_PENDING; /* read by translated code */

Addr nm_calls_watched_address(void) { return (Addr)&watched; }

static void watch_returns(void)
{
	UInt k;

	watched = NOTHING_PENDING;
	for (k = 0; k < NM_CALL_KINDS; k++)
		if (kinds[k].slot < watched)
			watched = kinds[k].slot;
}

void nm_calls_init(enum nm_call_kind kind, void (*ended)(ThreadId thread, Addr slot, Bool returned))
{
	UInt i;

	kinds[kind].of = VG_(malloc)("nm.calls", VG_N_THREADS * sizeof *kinds[kind].of);
	kinds[kind].slot = NOTHING_PENDING;
	kinds[kind].ended = ended;
	for (i = 0; i < VG_N_THREADS; i++)
		kinds[kind].of[i].slot = NOTHING_PENDING;
}

void nm_calls_switch(ThreadId from, ThreadId to)
{
	UInt k;

	for (k = 0; k < NM_CALL_KINDS; k++) {
		if (from != VG_INVALID_THREADID)
			kinds[k].of[from].slot = kinds[k].slot;
		kinds[k].slot = kinds[k].of[to].slot;
	}
	watch_returns();
}

void nm_calls_thread_gone(ThreadId thread)
{
	UInt k;

	for (k = 0; k < NM_CALL_KINDS; k++) {
		kinds[k].of[thread].slot = NOTHING_PENDING;
		if (thread == VG_(get_running_tid)())
			kinds[k].slot = NOTHING_PENDING;
	}
	watch_returns();
}

static Bool still_pending(const struct pending *call)
{
	return VG_(am_is_valid_for_client)(call->slot, sizeof(Addr), VKI_PROT_READ) &&
	       *(const Addr *)call->slot == call->return_address;
}

void nm_calls_resume(enum nm_call_kind kind, Addr slot)
{
	struct pending *call = &kinds[kind].of[VG_(get_running_tid)()];

	call->slot = kinds[kind].slot = slot;
	call->return_address = *(const Addr *)slot;
	watch_returns();
}

Bool nm_calls_begin(enum nm_call_kind kind)
{
	ThreadId thread = VG_(get_running_tid)();
	struct pending *call = &kinds[kind].of[thread];
	Addr slot = NM_REGISTER(thread, RSP), outer = kinds[kind].slot;

	if (outer != NOTHING_PENDING && slot <= outer && outer - slot < DEEPEST && still_pending(call))
		return False;
	nm_calls_resume(kind, slot);
	return True;
}

/* A return from slot may end the pending call of a kind. */
static void end_pending_call(enum nm_call_kind kind, Addr slot)
{
	ThreadId thread = VG_(get_running_tid)();
	struct pending *call = &kinds[kind].of[thread];
	Bool returned = slot == kinds[kind].slot && still_pending(call);

	if (slot - kinds[kind].slot >= DEEPEST)
		return; /* a signal handler on a stack of its own */
	call->slot = kinds[kind].slot = NOTHING_PENDING;
	kinds[kind].ended(thread, slot, returned);
}

VG_REGPARM(1) void nm_calls_return(Addr slot)
{
	UInt k;

	for (k = 0; k < NM_CALL_KINDS; k++)
		if (slot >= kinds[k].slot)
			end_pending_call(k, slot);
	watch_returns();
}
