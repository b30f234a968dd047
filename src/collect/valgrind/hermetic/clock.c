/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * clock.c - time that advances with the program's instructions.
 *
 * Translated code adds the instructions of a superblock to the clock at each of its exits, and reads it where
 * the program reads the time stamp counter. A wait that ends by the clock takes the time that it was given.
 * The epoch lies in the past, so a wait until a point in time does not wait for the real clock to get there.
 *
 * All threads of a process share its clock; a fork and an exec take it along.
 */
#include "hermetic_priv.h"
#include "translate/emit.h"

#include "libvex_guest_amd64.h"

#define SECOND 1000000000ull

/* What Valgrind's headers lack of the kernel's. */
enum { CLOCK_REALTIME_COARSE_ = 5, CLOCK_REALTIME_ALARM_ = 8, CLOCK_TAI_ = 11, TIMER_ABSTIME_ = 1 };
enum { ETIMEDOUT_ = 110, FUTEX_COMMAND_ = 127 };

static ULong now = SECOND; /* programs take 0 for "never" */
static ULong *wait_end;    /* by Valgrind's thread number: when its system call ends by the clock; 0: never */

ULong nm_clock_now(void) { return now; }
void nm_clock_set(ULong time) { now = time; }

ULong nm_clock_epoch(Int clock)
{
	switch (clock) {
	case VKI_CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE_:
	case CLOCK_REALTIME_ALARM_:
	case CLOCK_TAI_: return NM_PINNED_EPOCH * SECOND;
	default: return 0;
	}
}

/* ---- Translated code ---- */

static void emit_advance(UInt instructions)
{
	if (instructions > 0)
		nm_emit_store(nm_constant((Addr)&now),
			      nm_emit_sum(nm_emit_load((Addr)&now), nm_constant(instructions)));
}

static Bool statement_calls(const IRStmt *st, const HChar *helper)
{
	return st->tag == Ist_Dirty && VG_(strcmp)(st->Ist.Dirty.details->cee->name, helper) == 0;
}

/* RDTSC yields a word, RDTSCP stores three registers. */
static Bool emit_time_stamp(const IRStmt *st)
{
	static const HChar rdtsc[] = "amd64g_dirtyhelper_RDTSC", rdtscp[] = "amd64g_dirtyhelper_RDTSCP";

	if (statement_calls(st, rdtsc)) {
		nm_emit(IRStmt_WrTmp(st->Ist.Dirty.details->tmp,
				     IRExpr_Load(Iend_LE, Ity_I64, nm_constant((Addr)&now))));
		return True;
	}
	if (statement_calls(st, rdtscp)) {
		IRExpr *stamp = nm_emit_load((Addr)&now);
		IRExpr *high =
		    nm_emit_value(Ity_I64, IRExpr_Binop(Iop_Shr64, stamp, IRExpr_Const(IRConst_U8(32))));
		IRExpr *low =
		    nm_emit_value(Ity_I64, IRExpr_Binop(Iop_And64, stamp, nm_constant(0xffffffffu)));

		nm_emit(IRStmt_Put(offsetof(VexGuestAMD64State, guest_RAX), low));
		nm_emit(IRStmt_Put(offsetof(VexGuestAMD64State, guest_RDX), high));
		nm_emit(
		    IRStmt_Put(offsetof(VexGuestAMD64State, guest_RCX), nm_constant(0))); /* the processor */
		return True;
	}
	return False;
}

IRSB *nm_clock_instrument(IRSB *in)
{
	UInt instructions = 0;
	Int i;

	for (i = nm_emit_start(in); i < in->stmts_used; i++) {
		IRStmt *st = in->stmts[i];

		if (st->tag == Ist_IMark)
			instructions++;
		if (st->tag == Ist_Exit || st->tag == Ist_Dirty) {
			emit_advance(instructions);
			instructions = 0;
		}
		if (!emit_time_stamp(st))
			nm_emit(st);
	}
	emit_advance(instructions);
	return nm_out;
}

/* ---- Waits ---- */

static Bool is_readable(Addr at, SizeT bytes)
{
	return VG_(am_is_valid_for_client)(at, bytes, VKI_PROT_READ);
}

/* The time at a timespec (unit 1) or a timeval (1000), after `from`; 0: none. */
static ULong end_after(ULong from, Addr at, ULong unit)
{
	const ULong *parts = (const ULong *)at;

	if (at == 0 || !is_readable(at, 2 * sizeof *parts))
		return 0;
	return from + parts[0] * SECOND + parts[1] * unit;
}

/* A point in time on a clock of the kernel. */
static ULong end_at(Int clock, Addr at)
{
	const ULong epoch = nm_clock_epoch(clock), end = end_after(0, at, 1);

	return end > epoch ? end - epoch : 0;
}

static ULong end_of_futex(const UWord *args)
{
	switch (args[1] & FUTEX_COMMAND_) {
	case VKI_FUTEX_WAIT: return end_after(now, args[3], 1);
	case VKI_FUTEX_LOCK_PI: return end_at(VKI_CLOCK_REALTIME, args[3]);
	case VKI_FUTEX_WAIT_BITSET:
		return end_at(args[1] & VKI_FUTEX_CLOCK_REALTIME ? VKI_CLOCK_REALTIME : VKI_CLOCK_MONOTONIC,
			      args[3]);
	default: return 0;
	}
}

static ULong end_of_milliseconds(Int milliseconds)
{
	return milliseconds > 0 ? now + (ULong)milliseconds * 1000000 : 0;
}

static ULong end_of_wait(UInt number, const UWord *args)
{
	switch (number) {
	case __NR_nanosleep: return end_after(now, args[0], 1);
	case __NR_clock_nanosleep:
		return args[1] & TIMER_ABSTIME_ ? end_at((Int)args[0], args[2]) : end_after(now, args[2], 1);
	case __NR_select: return end_after(now, args[4], 1000);
	case __NR_pselect6: return end_after(now, args[4], 1);
	case __NR_ppoll:
	case __NR_rt_sigtimedwait: return end_after(now, args[2], 1);
	case __NR_poll: return end_of_milliseconds((Int)args[2]);
	case __NR_epoll_wait:
	case __NR_epoll_pwait: return end_of_milliseconds((Int)args[3]);
	case __NR_futex: return end_of_futex(args);
	default: return 0;
	}
}

void nm_clock_before_syscall(ThreadId thread, UInt number, const UWord *args)
{
	if (wait_end == NULL)
		wait_end = VG_(calloc)("nm.waits", VG_N_THREADS, sizeof *wait_end);
	wait_end[thread] = end_of_wait(number, args);
}

static Bool ended_by_clock(UInt number, SysRes result)
{
	switch (number) {
	case __NR_futex: return sr_isError(result) && sr_Err(result) == ETIMEDOUT_;
	case __NR_rt_sigtimedwait: return sr_isError(result) && sr_Err(result) == VKI_EAGAIN;
	default: return !sr_isError(result) && sr_Res(result) == 0;
	}
}

void nm_clock_after_syscall(ThreadId thread, UInt number, SysRes result)
{
	if (wait_end[thread] == 0 || !ended_by_clock(number, result))
		return;
	if (wait_end[thread] > now)
		now = wait_end[thread];
	if (number != __NR_nanosleep && number != __NR_clock_nanosleep)
		nm_unpinned("a wait that ended by the clock", NULL);
}
