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

static void record_synchronisation(enum nm_wire_sync what, ULong object)
{
	nm_record(NM_WIRE_SYNC, what, 1, &object);
}

static Bool futex_waits(UWord command)
{
	return command == FUTEX_WAIT || command == FUTEX_LOCK_PI || command == FUTEX_WAIT_BITSET ||
	       command == FUTEX_WAIT_REQUEUE_PI;
}

void nm_synchronise_create(UInt thread)
{
	if (!nm_sampling)
		record_synchronisation(NM_WIRE_SYNC_CREATE, thread);
}

void nm_synchronise_before_syscall(UInt number, const UWord *args)
{
	if (nm_sampling || !nm_scheduler_has_several())
		return;
	if (number != __NR_futex)
		record_synchronisation(NM_WIRE_SYNC_CALL, 0);
	else if (args[0] != 0)
		record_synchronisation(futex_waits(args[1] & FUTEX_COMMAND) ? NM_WIRE_SYNC_FUTEX_WAIT
									    : NM_WIRE_SYNC_FUTEX_WAKE,
				       args[0]);
}

void nm_synchronise_after_wait(UInt number)
{
	if (!nm_sampling)
		record_synchronisation(number == __NR_futex ? NM_WIRE_SYNC_JOIN : NM_WIRE_SYNC_RESUME, 0);
}
