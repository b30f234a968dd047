/* SPDX-License-Identifier: MIT
 *
 * counters.c - two threads, each on a processor of its own, increment a counter each: in one line, or apart.
 *
 *     gcc -O2 -pthread -o counters counters.c
 *     ./counters together|apart plain|atomic [INCREMENTS]     prints nanoseconds per increment while both run
 *     ./counters handover [ROUNDS]                            nanoseconds that a line takes from one to the other
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Alignas(128) _Atomic long counters[64];
static atomic_int ready;
static long increments;
static int is_atomic, is_handover;

struct worker {
	pthread_t thread;
	int number;
	_Atomic long *counter;
	double start, end;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count(_Atomic long *counter)
{
	volatile long *plain = (volatile long *)counter;

	for (long i = 0; i < increments; i++)
		if (is_atomic)
			atomic_fetch_add(counter, 1);
		else
			*plain += 1;
}

/* Each waits until the word has its number, and gives it to the other. */
static void hand_over(int number)
{
	for (long i = 0; i < increments; i++) {
		while (atomic_load_explicit(&counters[0], memory_order_acquire) != number)
			;
		atomic_store_explicit(&counters[0], !number, memory_order_release);
	}
}

static void *work(void *argument)
{
	struct worker *w = argument;
	cpu_set_t processor;

	CPU_ZERO(&processor);
	CPU_SET(w->number, &processor);
	pthread_setaffinity_np(pthread_self(), sizeof processor, &processor);
	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < 2)
		;
	w->start = now();
	if (is_handover)
		hand_over(w->number);
	else
		count(w->counter);
	w->end = now();
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker workers[2] = {{.number = 0}, {.number = 1}};
	double least = 1e9;
	int apart;

	is_handover = argc > 1 && !strcmp(argv[1], "handover");
	if (argc < 2 + !is_handover)
		return 2;
	apart = !strcmp(argv[1], "apart");
	is_atomic = !is_handover && !strcmp(argv[2], "atomic");
	increments = argc > 3 - is_handover ? atol(argv[3 - is_handover]) : is_handover ? 100000 : 20000000;
	for (int i = 0; i < 2; i++) {
		workers[i].counter = &counters[i * (apart ? 32 : 1)];
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(workers[i].thread, NULL);
		if (workers[i].end - workers[i].start < least)
			least = workers[i].end - workers[i].start;
	}
	printf("%.3f\n", 1e9 * least / (double)increments / (is_handover ? 2 : 1));
	return 0;
}
