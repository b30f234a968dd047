/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * scheduler.c - runs the program's threads in the same order in every run.
 *
 * Valgrind runs the one thread that holds its lock. The kernel chooses which thread gets the lock next, so
 * two runs of a threaded program would differ. Here the lock goes round in the order of the kernel's thread
 * numbers, and moves on only when every other thread waits for it, is blocked in a system call (blocked.c) or
 * has ended. So a thread that was just created or woken always takes part. Outside influences still differ
 * between runs: clocks, sockets, other processes.
 *
 * Turns are shorter than Valgrind's, so that threads that wait for each other, or start one after another,
 * overlap as they would on several cores, and readers that merge them buffer less.
 *
 * A program with one thread uses only Valgrind's own lock. The others stop waiting for a thread that is busy
 * in the kernel for about a second, or reads from a disk for a twentieth of that.
 *
 * Dropped: Valgrind's --fair-sched=yes, which passes the lock on in the order of requests; that order
 * differs.
 */
#include "tool.h"

#include "libvex_guest_amd64.h"

#define MAX_THREADS 4096
#define TURN_BLOCKS 5000u /* superblocks */
#define YIELDS 10         /* of the processor, before the first pause */
#define PAUSE_NANOSECONDS 20000
#define MAX_PAUSES 14000 /* yields and pauses; about 1 s, since the kernel makes a pause 70 us */
#define DISK 20          /* weight of a pause for a thread that reads from a disk */

struct sched_lock;

struct scheduled {
	Int thread;   /* the kernel's number; 0: free */
	UInt waiting; /* atomic: for the lock */
	UInt wakeups; /* atomic, futex: incremented to make the thread look again */
	struct nm_blocked blocked;
};

static struct scheduled threads[MAX_THREADS];
static UInt threads_used; /* atomic */
static UInt starting;     /* atomic: created, and have not asked for the lock yet */
static Bool several;      /* more than one thread has been seen */
static Int holder, last;  /* threads: 0: none */
static UInt mutex;        /* guards everything that is not atomic */
static UInt turns;        /* read and written by the holder of the lock */
static UInt limited_turn; /* the last one whose length was limited */
static Bool *not_started; /* by Valgrind's thread number */

extern void __real_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock);
extern void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock);
extern void __real_vgModuleLocal_release_sched_lock(struct sched_lock *lock);
extern void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock);
extern struct sched_lock *__real_vgModuleLocal_create_sched_lock(void);
extern struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void);
extern void __real_vgPlain_disp_run_translations(HWord *two_words, volatile void *state, Addr code);
extern void __wrap_vgPlain_disp_run_translations(HWord *two_words, volatile void *state, Addr code);

Bool nm_scheduler_has_several(void) { return several; }

UInt nm_scheduler_turns(void) { return turns; }

/* 0 free, 1 taken, 2 taken and waited for. */
static void lock_scheduler(void)
{
	UInt was = 0;

	if (__atomic_compare_exchange_n(&mutex, &was, 1, False, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&mutex, 2, __ATOMIC_ACQUIRE) != 0)
		nm_syscall(__NR_futex, (long)&mutex, NM_FUTEX_WAIT, 2, 0, 0, 0);
}

static void unlock_scheduler(void)
{
	if (__atomic_exchange_n(&mutex, 0, __ATOMIC_RELEASE) == 2)
		nm_syscall(__NR_futex, (long)&mutex, NM_FUTEX_WAKE, 1, 0, 0, 0);
}

static struct scheduled *thread_of(Int thread)
{
	UInt i, used = threads_used;

	for (i = 0; i < used; i++)
		if (threads[i].thread == thread)
			return &threads[i];
	return NULL;
}

static struct scheduled *add_thread(Int thread)
{
	struct scheduled *entry = thread_of(thread);

	if (entry != NULL)
		return entry;
	entry = thread_of(0);
	if (entry == NULL && threads_used < MAX_THREADS)
		entry = &threads[threads_used++];
	tl_assert(entry != NULL);
	entry->thread = thread;
	entry->wakeups = 0;
	entry->blocked = (struct nm_blocked){0};
	if (starting > 0)
		__atomic_fetch_sub(&starting, 1, __ATOMIC_SEQ_CST);
	return entry;
}

/* Called when the thread that holds the lock makes a system call. */
void nm_scheduler_before_syscall(UInt number, const UWord *args)
{
	struct scheduled *mine;

	if (!several)
		return;
	lock_scheduler();
	mine = thread_of(holder);
	if (mine != NULL)
		nm_blocked_before_syscall(&mine->blocked, number, args);
	unlock_scheduler();
}

/* A thread that waits for the lock counts as blocked. Removes threads that have ended. */
static enum nm_thread_state state_of(struct scheduled *entry)
{
	enum nm_thread_state state;

	if (entry->thread == 0 || __atomic_load_n(&entry->waiting, __ATOMIC_SEQ_CST))
		return NM_THREAD_BLOCKED;
	state = nm_blocked_state(&entry->blocked, entry->thread);
	if (state == NM_THREAD_GONE)
		entry->thread = 0;
	return state;
}

/* NM_THREAD_BLOCKED if all are blocked at the same time: none was woken by another while we looked. */
static enum nm_thread_state state_of_all(void)
{
	UInt wakes = nm_blocked_wakes(), i;

	for (i = 0; i < threads_used; i++) {
		enum nm_thread_state state = state_of(&threads[i]);

		if (state == NM_THREAD_RUNS || state == NM_THREAD_READS_DISK)
			return state;
	}
	return nm_blocked_wakes() == wakes ? NM_THREAD_BLOCKED : NM_THREAD_RUNS;
}

static void wait_until_all_block(void)
{
	const struct vki_timespec pause = {0, PAUSE_NANOSECONDS};
	Int pauses = MAX_PAUSES;

	while (pauses > 0) {
		enum nm_thread_state state =
		    __atomic_load_n(&starting, __ATOMIC_SEQ_CST) ? NM_THREAD_RUNS : state_of_all();

		if (state == NM_THREAD_BLOCKED)
			return;
		pauses -= state == NM_THREAD_READS_DISK ? DISK : 1;
		unlock_scheduler();
		if (pauses > MAX_PAUSES - YIELDS)
			nm_syscall(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
		else
			nm_syscall(__NR_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
		lock_scheduler();
		if (holder != 0)
			return;
	}
}

/* The waiting thread whose number follows the last holder's, cyclically. */
static struct scheduled *next_thread(void)
{
	struct scheduled *lowest = NULL, *next = NULL;
	UInt i;

	for (i = 0; i < threads_used; i++) {
		struct scheduled *entry = &threads[i];

		if (entry->thread == 0 || !entry->waiting)
			continue;
		if (lowest == NULL || entry->thread < lowest->thread)
			lowest = entry;
		if (entry->thread > last && (next == NULL || entry->thread < next->thread))
			next = entry;
	}
	return next != NULL ? next : lowest;
}

static void wake_thread(struct scheduled *entry)
{
	__atomic_fetch_add(&entry->wakeups, 1, __ATOMIC_SEQ_CST);
	nm_syscall(__NR_futex, (long)&entry->wakeups, NM_FUTEX_WAKE, 1, 0, 0, 0);
}

static void wait_for_lock(void)
{
	Int me = VG_(gettid)();
	struct scheduled *mine;
	UInt wakeups;

	lock_scheduler();
	mine = add_thread(me);
	nm_blocked_after_syscall(&mine->blocked);
	__atomic_store_n(&mine->waiting, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		wakeups = mine->wakeups;
		if (holder == 0) {
			wait_until_all_block();
			if (holder == 0) {
				struct scheduled *next = next_thread();

				holder = last = next->thread;
				if (next != mine)
					wake_thread(next);
			}
		}
		if (holder == me)
			break;
		unlock_scheduler();
		nm_syscall(__NR_futex, (long)&mine->wakeups, NM_FUTEX_WAIT, wakeups, 0, 0, 0);
		lock_scheduler();
	}
	__atomic_store_n(&mine->waiting, 0, __ATOMIC_SEQ_CST);
	unlock_scheduler();
}

void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock)
{
	if (several)
		wait_for_lock();
	__real_vgModuleLocal_acquire_sched_lock(lock);
	turns++;
}

void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock)
{
	struct scheduled *next;

	if (!several) {
		__real_vgModuleLocal_release_sched_lock(lock);
		return;
	}
	__real_vgModuleLocal_release_sched_lock(lock);
	lock_scheduler();
	holder = 0;
	next = next_thread();
	if (next != NULL)
		wake_thread(next); /* it decides which thread is next */
	unlock_scheduler();
}

/* A turn of Valgrind has 100,000 superblocks. The guest's event counter ends it: the core believes that all
 * of them ran. */
void __wrap_vgPlain_disp_run_translations(HWord *two_words, volatile void *state, Addr code)
{
	volatile VexGuestAMD64State *guest = state;

	if (several && limited_turn != turns && guest->host_EvC_COUNTER > TURN_BLOCKS)
		guest->host_EvC_COUNTER = TURN_BLOCKS;
	limited_turn = turns;
	__real_vgPlain_disp_run_translations(two_words, state, code);
}

/* At the start, and again in a forked child, which has one thread. */
struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void)
{
	UInt i;

	for (i = 0; i < threads_used; i++)
		nm_blocked_forget(&threads[i].blocked);
	VG_(memset)(threads, 0, threads_used * sizeof threads[0]);
	threads_used = starting = mutex = 0;
	holder = last = 0;
	several = False;
	return __real_vgModuleLocal_create_sched_lock();
}

/* The creating thread holds the lock. */
void nm_scheduler_thread_created(ThreadId parent, ThreadId child)
{
	if (not_started == NULL)
		not_started = VG_(calloc)("nm.threads", VG_N_THREADS, sizeof *not_started);
	if (parent == VG_INVALID_THREADID)
		return;
	lock_scheduler();
	if (!several) {
		several = True;
		holder = last = VG_(gettid)();
		add_thread(holder);
	}
	not_started[child] = True;
	__atomic_fetch_add(&starting, 1, __ATOMIC_SEQ_CST);
	unlock_scheduler();
}

void nm_scheduler_thread_begins(ThreadId thread) { not_started[thread] = False; }

/* Also called for a thread that could not be created. */
void nm_scheduler_thread_ends(ThreadId thread)
{
	if (not_started[thread] && starting > 0)
		__atomic_fetch_sub(&starting, 1, __ATOMIC_SEQ_CST);
	not_started[thread] = False;
}
