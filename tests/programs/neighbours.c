/* SPDX-License-Identifier: MIT
 *
 * neighbours.c - two threads add to neighbours of one line, 64,000 times each, behind a barrier.
 */
#include <pthread.h>
#include <stdio.h>

enum { TIMES = 64000 };

static _Alignas(64) volatile long counters[8]; // @counters
static pthread_barrier_t barrier;

static void *work(void *arg)
{
	volatile long *counter = arg;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < TIMES; i++)
		*counter += 1; // @add
	return NULL;
}

int main(void)
{
	pthread_t first, second;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&first, NULL, work, (void *)&counters[0]);
	pthread_create(&second, NULL, work, (void *)&counters[1]);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	printf("%ld\n", counters[0] + counters[1]);
}
