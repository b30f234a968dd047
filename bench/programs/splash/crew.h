/* SPDX-License-Identifier: MIT
 *
 * crew.h - threads that work on one problem in phases: for the kernels of this folder, which are the ones
 * that the study of coherence protocols in docs/evaluation/sharing.md uses, written anew and small.
 */
#ifndef CREW_H
#define CREW_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { CREW = 32 };

static pthread_barrier_t crew_barrier;

static inline void crew_wait(void) { pthread_barrier_wait(&crew_barrier); }

/* A number of [0, n), the same in each run. */
static inline uint32_t crew_random(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)*state * n >> 32);
}

/* Runs work(0) to work(CREW - 1) at once. */
static inline void crew_run(void *(*work)(void *))
{
	pthread_t threads[CREW];

	pthread_barrier_init(&crew_barrier, NULL, CREW);
	for (intptr_t i = 1; i < CREW; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			abort();
	work(NULL);
	for (int i = 1; i < CREW; i++)
		pthread_join(threads[i], NULL);
}

#endif
