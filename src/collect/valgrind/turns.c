/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * turns.c - lets the program's threads take turns in an order that is the same in every run.
 *
 * Valgrind runs one thread at a time; the one that holds its lock.  Who gets the lock next is left to the
 * kernel's scheduler, so that two runs of a threaded program differ.  Here the turn goes round by the
 * number that the kernel gave the thread.  It is passed on only when every other thread has settled: it
 * waits for its turn, or sleeps in a system call, or has gone.  So a thread that has just been created, or
 * woken by another, is never late by chance.  What still differs between runs is what comes from outside:
 * clocks, sockets, other processes.
 *
 * Programs with one thread take the core's own way.  A thread that stays busy in the kernel for longer
 * than PATIENCE, or waits for a disk for a twentieth of that, holds the others up no longer.  It was that
 * short for all, and on a machine with much else to do a thread that had just been made or woken came late.
 *
 * Four threads that only compute take 0.17 s of CPU time, with turns and without.  Valgrind's own
 * --fair-sched=yes was not enough: it passes the lock on in the order of asking, which differs from run
 * to run.
 */
#include "tool.h"

#include "libvex_guest_amd64.h"

#define MAX_THREADS 4096
#define YIELDS 10 /* before the first pause */
#define PAUSE_NANOSECONDS 20000
#define PATIENCE 14000 /* yields and pauses; about 1 s, since the kernel makes a pause 70 us */
#define DISK 20        /* what a pause counts that is for a disk */

struct sched_lock;

struct turn {
	Int thread;   /* the kernel's number; 0: free */
	UInt waiting; /* atomic: in acquire */
	UInt called;  /* atomic, futex: bumped to make the thread look again */
	struct nm_sleep sleep;
};

static struct turn turns[MAX_THREADS];
static UInt turns_used;  /* atomic */
static UInt coming;      /* atomic: threads created that have not asked for a turn yet */
static Bool several;     /* more than one thread has been seen */
static Int holder, last; /* threads: 0: none */
static UInt mutex;       /* guards all but what is atomic */
static Bool *not_begun;  /* by Valgrind's thread number */

extern void __real_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock);
extern void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock);
extern void __real_vgModuleLocal_release_sched_lock(struct sched_lock *lock);
extern void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock);
extern struct sched_lock *__real_vgModuleLocal_create_sched_lock(void);
extern struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void);

/* 0 free, 1 taken, 2 taken and waited for. */
static void lock_turns(void)
{
	UInt was = 0;

	if (__atomic_compare_exchange_n(&mutex, &was, 1, False, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&mutex, 2, __ATOMIC_ACQUIRE) != 0)
		nm_syscall(__NR_futex, (long)&mutex, NM_FUTEX_WAIT, 2, 0, 0, 0);
}

static void unlock_turns(void)
{
	if (__atomic_exchange_n(&mutex, 0, __ATOMIC_RELEASE) == 2)
		nm_syscall(__NR_futex, (long)&mutex, NM_FUTEX_WAKE, 1, 0, 0, 0);
}

static struct turn *turn_of(Int thread)
{
	UInt i, used = turns_used;

	for (i = 0; i < used; i++)
		if (turns[i].thread == thread)
			return &turns[i];
	return NULL;
}

static struct turn *enter(Int thread)
{
	struct turn *turn = turn_of(thread);

	if (turn != NULL)
		return turn;
	turn = turn_of(0);
	if (turn == NULL && turns_used < MAX_THREADS)
		turn = &turns[turns_used++];
	tl_assert(turn != NULL);
	turn->thread = thread;
	turn->called = 0;
	turn->sleep = (struct nm_sleep){0};
	if (coming > 0)
		__atomic_fetch_sub(&coming, 1, __ATOMIC_SEQ_CST);
	return turn;
}

/* The running thread makes a system call. */
void nm_turns_before_syscall(UInt number, const UWord *args)
{
	struct turn *mine;

	if (!several)
		return;
	lock_turns();
	mine = turn_of(holder);
	if (mine != NULL)
		nm_sleep_before_syscall(&mine->sleep, number, args);
	unlock_turns();
}

/* Whether the thread can do anything before somebody else acts.  Forgets threads that have gone. */
static enum nm_rest rest_of(struct turn *turn)
{
	enum nm_rest rest;

	if (turn->thread == 0 || __atomic_load_n(&turn->waiting, __ATOMIC_SEQ_CST))
		return NM_REST_ASLEEP;
	rest = nm_sleep_rest(&turn->sleep, turn->thread);
	if (rest == NM_REST_GONE)
		turn->thread = 0;
	return rest;
}

/* NM_REST_ASLEEP if all rest at one time: none has been woken by another since it was looked at. */
static enum nm_rest rest_of_all(void)
{
	UInt wakes = nm_sleep_wakes(), i;

	for (i = 0; i < turns_used; i++) {
		enum nm_rest rest = rest_of(&turns[i]);

		if (rest == NM_REST_NONE || rest == NM_REST_DISK)
			return rest;
	}
	return nm_sleep_wakes() == wakes ? NM_REST_ASLEEP : NM_REST_NONE;
}

static void settle(void)
{
	const struct vki_timespec pause = {0, PAUSE_NANOSECONDS};
	Int patience = PATIENCE;

	while (patience > 0) {
		enum nm_rest rest = __atomic_load_n(&coming, __ATOMIC_SEQ_CST) ? NM_REST_NONE : rest_of_all();

		if (rest == NM_REST_ASLEEP)
			return;
		patience -= rest == NM_REST_DISK ? DISK : 1;
		unlock_turns();
		if (patience > PATIENCE - YIELDS)
			nm_syscall(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
		else
			nm_syscall(__NR_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
		lock_turns();
		if (holder != 0)
			return;
	}
}

/* The waiting thread whose number comes next after the last holder's, round and round. */
static struct turn *next_turn(void)
{
	struct turn *lowest = NULL, *next = NULL;
	UInt i;

	for (i = 0; i < turns_used; i++) {
		struct turn *turn = &turns[i];

		if (turn->thread == 0 || !turn->waiting)
			continue;
		if (lowest == NULL || turn->thread < lowest->thread)
			lowest = turn;
		if (turn->thread > last && (next == NULL || turn->thread < next->thread))
			next = turn;
	}
	return next != NULL ? next : lowest;
}

static void call(struct turn *turn)
{
	__atomic_fetch_add(&turn->called, 1, __ATOMIC_SEQ_CST);
	nm_syscall(__NR_futex, (long)&turn->called, NM_FUTEX_WAKE, 1, 0, 0, 0);
}

static void wait_for_turn(void)
{
	Int me = VG_(gettid)();
	struct turn *mine;
	UInt called;

	lock_turns();
	mine = enter(me);
	nm_sleep_after_syscall(&mine->sleep);
	__atomic_store_n(&mine->waiting, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		called = mine->called;
		if (holder == 0) {
			settle();
			if (holder == 0) {
				struct turn *next = next_turn();

				holder = last = next->thread;
				if (next != mine)
					call(next);
			}
		}
		if (holder == me)
			break;
		unlock_turns();
		nm_syscall(__NR_futex, (long)&mine->called, NM_FUTEX_WAIT, called, 0, 0, 0);
		lock_turns();
	}
	__atomic_store_n(&mine->waiting, 0, __ATOMIC_SEQ_CST);
	unlock_turns();
}

void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock)
{
	if (several)
		wait_for_turn();
	__real_vgModuleLocal_acquire_sched_lock(lock);
}

void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock)
{
	struct turn *next;

	if (!several) {
		__real_vgModuleLocal_release_sched_lock(lock);
		return;
	}
	__real_vgModuleLocal_release_sched_lock(lock);
	lock_turns();
	holder = 0;
	next = next_turn();
	if (next != NULL)
		call(next); /* to decide who is next */
	unlock_turns();
}

/* At the start, and again in a forked child, which has one thread. */
struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void)
{
	UInt i;

	for (i = 0; i < turns_used; i++)
		nm_sleep_forget(&turns[i].sleep);
	VG_(memset)(turns, 0, turns_used * sizeof turns[0]);
	turns_used = coming = mutex = 0;
	holder = last = 0;
	several = False;
	return __real_vgModuleLocal_create_sched_lock();
}

/* The creating thread holds the lock. */
void nm_turns_thread_created(ThreadId parent, ThreadId child)
{
	if (not_begun == NULL)
		not_begun = VG_(calloc)("nm.turns", VG_N_THREADS, sizeof *not_begun);
	if (parent == VG_INVALID_THREADID)
		return;
	lock_turns();
	if (!several) {
		several = True;
		holder = last = VG_(gettid)();
		enter(holder);
	}
	not_begun[child] = True;
	__atomic_fetch_add(&coming, 1, __ATOMIC_SEQ_CST);
	unlock_turns();
}

void nm_turns_thread_begins(ThreadId thread) { not_begun[thread] = False; }

/* Also called for a thread that could not be created. */
void nm_turns_thread_ends(ThreadId thread)
{
	if (not_begun[thread] && coming > 0)
		__atomic_fetch_sub(&coming, 1, __ATOMIC_SEQ_CST);
	not_begun[thread] = False;
}
