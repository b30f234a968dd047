/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * locks.c - reports when threads take and give up locks.
 *
 * Like allocation functions (allocator.c), lock functions are recognised by the symbols at their first
 * instructions. Their atomic accesses and futexes do not constrain the order of threads: a reader that runs
 * threads in another order grants the lock in another order, too. So two records enclose what they do (ENTER,
 * LEAVE).
 *
 * A function that waits for its lock reports it at the call, one that may fail at the return
 * (pending_calls.c). A wait that is cancelled never returns, but takes its mutex again.
 */
#include "sampling.h"
#include "tool.h"

#include "libvex_guest_amd64.h"

enum action {
	TAKE, /* the lock is the first argument */
	SHARE,
	TRY, /* returns 0 if it has the lock, */
	TRY_SHARE,
	TEST, /* otherwise nonzero */
	GIVE, /* returns 0 */
	WAIT, /* releases the mutex, the second argument, and takes it again */
	JOIN  /* waits for the end of a thread */
};

/* Numbers that stand for addresses of locks that are not arguments. */
enum { ARGUMENT = 0, OMP_CRITICAL = 1, OMP_ATOMIC = 2 };

static const struct function {
	const HChar *name;
	enum action action;
	Addr lock;
} functions[] = {
    {"pthread_mutex_lock", TAKE, ARGUMENT},
    {"pthread_mutex_trylock", TRY, ARGUMENT},
    {"pthread_mutex_timedlock", TRY, ARGUMENT},
    {"pthread_mutex_clocklock", TRY, ARGUMENT},
    {"pthread_mutex_unlock", GIVE, ARGUMENT},
    {"pthread_spin_lock", TAKE, ARGUMENT},
    {"pthread_spin_trylock", TRY, ARGUMENT},
    {"pthread_spin_unlock", GIVE, ARGUMENT},
    {"pthread_spin_init", GIVE, ARGUMENT}, /* the C library's name for the same code */
    {"pthread_rwlock_rdlock", SHARE, ARGUMENT},
    {"pthread_rwlock_tryrdlock", TRY_SHARE, ARGUMENT},
    {"pthread_rwlock_timedrdlock", TRY_SHARE, ARGUMENT},
    {"pthread_rwlock_clockrdlock", TRY_SHARE, ARGUMENT},
    {"pthread_rwlock_wrlock", TAKE, ARGUMENT},
    {"pthread_rwlock_trywrlock", TRY, ARGUMENT},
    {"pthread_rwlock_timedwrlock", TRY, ARGUMENT},
    {"pthread_rwlock_clockwrlock", TRY, ARGUMENT},
    {"pthread_rwlock_unlock", GIVE, ARGUMENT},
    {"pthread_cond_wait", WAIT, ARGUMENT},
    {"pthread_cond_timedwait", WAIT, ARGUMENT},
    {"pthread_cond_clockwait", WAIT, ARGUMENT},
    {"pthread_join", JOIN, ARGUMENT},
    {"pthread_tryjoin_np", JOIN, ARGUMENT},
    {"pthread_timedjoin_np", JOIN, ARGUMENT},
    {"pthread_clockjoin_np", JOIN, ARGUMENT},
    {"mtx_lock", TAKE, ARGUMENT},
    {"mtx_trylock", TRY, ARGUMENT},
    {"mtx_timedlock", TRY, ARGUMENT},
    {"mtx_unlock", GIVE, ARGUMENT},
    {"cnd_wait", WAIT, ARGUMENT},
    {"cnd_timedwait", WAIT, ARGUMENT},
    {"thrd_join", JOIN, ARGUMENT},
    {"omp_set_lock", TAKE, ARGUMENT},
    {"omp_test_lock", TEST, ARGUMENT},
    {"omp_unset_lock", GIVE, ARGUMENT},
    {"omp_set_nest_lock", TAKE, ARGUMENT},
    {"omp_test_nest_lock", TEST, ARGUMENT},
    {"omp_unset_nest_lock", GIVE, ARGUMENT},
    {"GOMP_critical_start", TAKE, OMP_CRITICAL},
    {"GOMP_critical_end", GIVE, OMP_CRITICAL},
    {"GOMP_critical_name_start", TAKE, ARGUMENT},
    {"GOMP_critical_name_end", GIVE, ARGUMENT},
    {"GOMP_atomic_start", TAKE, OMP_ATOMIC},
    {"GOMP_atomic_end", GIVE, OMP_ATOMIC},
};

#define FUNCTIONS (sizeof functions / sizeof functions[0])

/* The outermost call that a thread is in. */
struct call {
	Addr lock;
	enum action action;
	Bool returns_nothing;
};

static struct call *calls; /* by Valgrind's thread number */

UInt nm_locks_at(Addr pc)
{
	const HChar *name;
	SizeT length;
	UInt i;

	if (nm_sampling || !VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), pc, &name))
		return 0;
	while (*name == '_')
		name++;
	for (length = 0; name[length] != '\0' && name[length] != '@'; length++)
		;
	for (i = 0; i < FUNCTIONS; i++)
		if (VG_(strncmp)(name, functions[i].name, length) == 0 && functions[i].name[length] == '\0')
			return i + 1;
	return 0;
}

static void record_synchronisation(enum nm_wire_sync what, ULong object)
{
	nm_record(NM_WIRE_SYNC, what, 1, &object);
}

VG_REGPARM(1) void nm_locks_entry(UInt number)
{
	const struct function *function = &functions[number - 1];
	ThreadId thread = VG_(get_running_tid)();
	struct call *call = &calls[thread];

	if (!nm_calls_begin(NM_CALL_LOCK))
		return;
	call->action = function->action;
	call->returns_nothing = function->name[0] == 'G' || function->name[0] == 'o';
	call->lock = function->lock != ARGUMENT ? function->lock
		     : function->action == WAIT ? NM_REGISTER(thread, RSI)
						: NM_REGISTER(thread, RDI);
	if (call->action == JOIN || call->lock == 0)
		return;
	if (call->action != WAIT)
		record_synchronisation(NM_WIRE_SYNC_ENTER, 0);
	if (call->action == TAKE || call->action == SHARE)
		record_synchronisation(call->action == TAKE ? NM_WIRE_SYNC_LOCK : NM_WIRE_SYNC_SHARE,
				       call->lock);
	if (call->action == WAIT)
		record_synchronisation(NM_WIRE_SYNC_UNLOCK, call->lock);
}

static void finish_call(const struct call *call, Bool succeeded)
{
	switch (call->action) {
	case TRY:
	case TEST:
	case WAIT:
		if (succeeded)
			record_synchronisation(NM_WIRE_SYNC_LOCK, call->lock);
		break;
	case TRY_SHARE:
		if (succeeded)
			record_synchronisation(NM_WIRE_SYNC_SHARE, call->lock);
		break;
	case GIVE:
		if (succeeded)
			record_synchronisation(NM_WIRE_SYNC_UNLOCK, call->lock);
		break;
	case JOIN: record_synchronisation(NM_WIRE_SYNC_JOIN, 0); return;
	default: break;
	}
	if (call->action != WAIT)
		record_synchronisation(NM_WIRE_SYNC_LEAVE, 0);
}

static void lock_call_returned(ThreadId thread, Addr slot, Bool returned)
{
	const struct call *call = &calls[thread];
	UInt result = (UInt)NM_REGISTER(thread, RAX);

	(void)slot;
	if (call->action == JOIN || call->lock != 0)
		finish_call(call,
			    call->action == WAIT ||
				(returned && (call->action == TEST ? result != 0
								   : call->returns_nothing || result == 0)));
}

void nm_locks_init(void)
{
	calls = VG_(malloc)("nm.locks", VG_N_THREADS * sizeof *calls);
	nm_calls_init(NM_CALL_LOCK, lock_call_returned);
}
