/* SPDX-License-Identifier: MIT
 *
 * team.c - four threads: `team stencil` shares rows of a grid by OpenMP, `team queue` hands numbers on under
 * a mutex.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, SIDE = 512, SWEEPS = 6, ITEMS = 40000, ROOM = 64 };

static double grid[2][SIDE][SIDE];

static double stencil(void)
{
	for (int s = 0; s < SWEEPS; s++) {
#pragma omp parallel for num_threads(THREADS)
		for (int i = 1; i < SIDE - 1; i++)
			for (int j = 1; j < SIDE - 1; j++)
				grid[!(s & 1)][i][j] =
				    0.25 * (grid[s & 1][i - 1][j] + grid[s & 1][i + 1][j] +
					    grid[s & 1][i][j - 1] + grid[s & 1][i][j + 1]) +
				    1;
	}
	return grid[0][SIDE / 2][SIDE / 2];
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static long ring[ROOM], head, tail, sum;

static void *consume(void *arg)
{
	long mine = 0, item;

	do {
		pthread_mutex_lock(&mutex);
		while (head == tail)
			pthread_cond_wait(&filled, &mutex);
		item = ring[tail++ % ROOM];
		pthread_cond_signal(&emptied);
		pthread_mutex_unlock(&mutex);
		for (int i = 0; i < 200; i++)
			mine += item ^ i;
	} while (item >= 0);
	pthread_mutex_lock(&mutex);
	sum += mine;
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void produce(long item)
{
	pthread_mutex_lock(&mutex);
	while (head - tail == ROOM)
		pthread_cond_wait(&emptied, &mutex);
	ring[head++ % ROOM] = item;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&mutex);
}

static double queue(void)
{
	pthread_t threads[THREADS - 1];

	for (int i = 0; i < THREADS - 1; i++)
		pthread_create(&threads[i], NULL, consume, NULL);
	for (long i = 0; i < ITEMS; i++)
		produce(i);
	for (int i = 0; i < THREADS - 1; i++)
		produce(-1);
	for (int i = 0; i < THREADS - 1; i++)
		pthread_join(threads[i], NULL);
	return (double)sum;
}

int main(int argc, char **argv)
{
	printf("%g\n", argc > 1 && !strcmp(argv[1], "queue") ? queue() : stencil());
}
