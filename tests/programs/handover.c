/* SPDX-License-Identifier: MIT
 *
 * handover.c - one thread writes to `data` and another reads it, in turn, 200 times. What keeps them in turn
 * is HOW: C11 threads and atomics, barriers of OpenMP, or a raw futex.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

enum { C11, OPENMP, FUTEX, ROUNDS = 200 };

static _Alignas(64) volatile long data;
static _Alignas(64) _Atomic unsigned turn; /* even: the writer's */
static _Alignas(64) long sum;

static void wait_for(unsigned wanted)
{
	unsigned seen;

	while ((seen = atomic_load(&turn)) != wanted)
		if (HOW == FUTEX)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		else
			sched_yield();
}

static void pass_on(unsigned next)
{
	atomic_store(&turn, next);
	if (HOW == FUTEX)
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static int writer(void *unused)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		wait_for(2 * i);
		data = i;
		pass_on(2 * i + 1);
	}
	(void)unused;
	return 0;
}

static int reader(void *unused)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		wait_for(2 * i + 1);
		sum += data;
		pass_on(2 * i + 2);
	}
	(void)unused;
	return 0;
}

static void by_barriers(void)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(2)
	for (unsigned i = 0; i < ROUNDS; i++) {
#pragma omp master
		data = i;
#pragma omp barrier
		if (omp_get_thread_num())
			sum += data;
#pragma omp barrier
	}
#endif
}

int main(void)
{
	thrd_t thread;

	if (HOW == OPENMP) {
		by_barriers();
	} else {
		thrd_create(&thread, reader, NULL);
		writer(NULL);
		thrd_join(thread, NULL);
	}
	return sum != (long)ROUNDS * (ROUNDS - 1) / 2;
}
