/* SPDX-License-Identifier: MIT
 *
 * sharing.c - four threads fit a line through points, each through a part of them. Their sums are in an array of
 * structures that share cache lines; with PADDED each has lines of its own. A second operand repeats it.
 *
 *     gcc -g -O2 -pthread -o sharing sharing.c            ./sharing 1000000
 *     gcc -g -O2 -pthread -DPADDED -o padded sharing.c    ./padded 1000000
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef PADDED
#define ALIGNED _Alignas(64)
#else
#define ALIGNED
#endif

enum { THREADS = 4 };

struct point {
	int x, y;
};

struct part {
	ALIGNED const struct point *points;
	long count, rounds;
	volatile long sum_x, sum_y, sum_xx,
	    sum_xy; /* volatile: as where the compiler cannot keep sums in registers */
};

static struct part parts[THREADS];

static void *fit(void *argument)
{
	struct part *p = argument;

	for (long round = 0; round < p->rounds; round++)
		for (long i = 0; i < p->count; i++) {
			p->sum_x += p->points[i].x;
			p->sum_y += p->points[i].y;
			p->sum_xx += (long)p->points[i].x * p->points[i].x;
			p->sum_xy += (long)p->points[i].x * p->points[i].y;
		}
	return NULL;
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 1000000, rounds = argc > 2 ? atol(argv[2]) : 1;
	struct point *points = malloc((size_t)count * sizeof *points);
	pthread_t threads[THREADS];
	long x = 0, y = 0, xx = 0, xy = 0;

	if (!points)
		return 1;
	for (long i = 0; i < count; i++)
		points[i] = (struct point){(int)(i % 1000), (int)(3 * (i % 1000) + i % 7)};
	for (int i = 0; i < THREADS; i++) {
		parts[i].points = points + i * (count / THREADS);
		parts[i].count = count / THREADS;
		parts[i].rounds = rounds;
		pthread_create(&threads[i], NULL, fit, &parts[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		x += parts[i].sum_x;
		y += parts[i].sum_y;
		xx += parts[i].sum_xx;
		xy += parts[i].sum_xy;
	}
	const double n = (double)(count / THREADS * THREADS * rounds);
	const double slope =
	    (n * (double)xy - (double)x * (double)y) / (n * (double)xx - (double)x * (double)x);

	printf("slope %.3f\n", slope);
	free(points);
	return 0;
}
