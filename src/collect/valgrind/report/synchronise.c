/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * synchronise.c - reports the system calls by which threads wait for and wake each other, once there are
 * several threads; or, for processes on one machine, always.
 *
 * What a process did before a call that may wake others is published before the call, and that a call has
 * ended which may have waited for others at once: so a reader that takes chunks in the order in which they
 * were published meets the cause before the effect.
 */
#include "sampling.h"
#include "tool.h"

enum {
	FUTEX_WAIT = 0,
	FUTEX_LOCK_PI = 6,
	FUTEX_WAIT_BITSET = 9,
	FUTEX_WAIT_REQUEUE_PI = 11,
	FUTEX_COMMAND = 127 /* without its flags */
};

Bool nm_one_machine;

static void record_synchronisation(enum nm_wire_sync what, ULong object)
{
	nm_record(NM_WIRE_SYNC, what, 1, &object);
}

static Bool futex_waits(UWord command)
{
	return command == FUTEX_WAIT || command == FUTEX_LOCK_PI || command == FUTEX_WAIT_BITSET ||
	       command == FUTEX_WAIT_REQUEUE_PI;
}

/* Whether what a process does after the call may have waited for what another one does. */
static Bool may_wait(UInt number, const UWord *args)
{
	switch (number) {
	case __NR_futex: return futex_waits(args[1] & FUTEX_COMMAND);
	case __NR_read:
	case __NR_readv:
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_recvmmsg:
	case __NR_accept:
	case __NR_accept4:
	case __NR_connect:
	case __NR_poll:
	case __NR_ppoll:
	case __NR_select:
	case __NR_pselect6:
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
	case __NR_wait4:
	case __NR_waitid:
	case __NR_semop:
	case __NR_semtimedop:
	case __NR_msgrcv:
	case __NR_mq_timedreceive:
	case __NR_flock:
	case __NR_fcntl:
	case __NR_pause:
	case __NR_rt_sigsuspend:
	case __NR_rt_sigtimedwait: return True;
	}
	return False;
}

/* Whether the call may end what another process waits for. */
static Bool may_wake(UInt number, const UWord *args)
{
	switch (number) {
	case __NR_futex: return !futex_waits(args[1] & FUTEX_COMMAND);
	case __NR_write:
	case __NR_writev:
	case __NR_pwrite64:
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_sendmmsg:
	case __NR_sendfile:
	case __NR_splice:
	case __NR_connect:
	case __NR_close:
	case __NR_shutdown:
	case __NR_kill:
	case __NR_tkill:
	case __NR_tgkill:
	case __NR_rt_sigqueueinfo:
	case __NR_semop:
	case __NR_semtimedop:
	case __NR_semctl:
	case __NR_msgsnd:
	case __NR_mq_timedsend:
	case __NR_flock:
	case __NR_fcntl:
	case __NR_exit_group: return True;
	}
	return False;
}

void nm_synchronise_create(UInt thread)
{
	if (!nm_sampling)
		record_synchronisation(NM_WIRE_SYNC_CREATE, thread);
}

void nm_synchronise_before_syscall(UInt number, const UWord *args)
{
	const Bool several = nm_scheduler_has_several(), wakes = nm_one_machine && may_wake(number, args);

	if (nm_sampling || !(several || wakes || (nm_one_machine && number == __NR_futex)))
		return;
	if (number != __NR_futex)
		record_synchronisation(NM_WIRE_SYNC_CALL, 0);
	else if (args[0] != 0)
		record_synchronisation(futex_waits(args[1] & FUTEX_COMMAND) ? NM_WIRE_SYNC_FUTEX_WAIT
									    : NM_WIRE_SYNC_FUTEX_WAKE,
				       args[0]);
	if (wakes)
		nm_ring_publish();
}

void nm_synchronise_after_syscall(UInt number, const UWord *args, Bool others_ran)
{
	const Bool waits = nm_one_machine && may_wait(number, args);

	if (nm_sampling || !(others_ran || waits))
		return;
	record_synchronisation(number == __NR_futex ? NM_WIRE_SYNC_JOIN : NM_WIRE_SYNC_RESUME, 0);
	if (waits)
		nm_ring_publish();
}
