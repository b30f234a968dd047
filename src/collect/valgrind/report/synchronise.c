/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * synchronise.c - reports the system calls by which threads wait for and wake each other, once there are
 * several threads.
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

static void report(enum nm_wire_sync what, ULong object) { nm_record(NM_WIRE_SYNC, what, 1, &object); }

static Bool waits(UWord command)
{
	return command == FUTEX_WAIT || command == FUTEX_LOCK_PI || command == FUTEX_WAIT_BITSET ||
	       command == FUTEX_WAIT_REQUEUE_PI;
}

void nm_synchronise_create(UInt thread)
{
	if (!nm_sampling)
		report(NM_WIRE_SYNC_CREATE, thread);
}

void nm_synchronise_before_syscall(UInt number, const UWord *args)
{
	if (nm_sampling || !nm_scheduler_has_several())
		return;
	if (number != __NR_futex)
		report(NM_WIRE_SYNC_CALL, 0);
	else if (args[0] != 0)
		report(waits(args[1] & FUTEX_COMMAND) ? NM_WIRE_SYNC_FUTEX_WAIT : NM_WIRE_SYNC_FUTEX_WAKE,
		       args[0]);
}

void nm_synchronise_after_wait(UInt number)
{
	if (!nm_sampling)
		report(number == __NR_futex ? NM_WIRE_SYNC_JOIN : NM_WIRE_SYNC_RESUME, 0);
}
