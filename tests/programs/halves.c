/* SPDX-License-Identifier: MIT
 *
 * halves.c - elements that are filled once and copied once as a whole, and of which two loops use one half each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4000, WALKS = 10 };

struct body {
	long x, y, dx, dy;
	long mass, heat, light, age;
};

static struct body *fill(void)
{
	struct body *all = malloc(N * sizeof *all);

	for (long i = 0; all && i < N; i++)
		all[i] = (struct body){i, -i, i % 7, i % 5, 1 + i, i % 100, i % 10, 0};
	return all;
}

static void step(struct body *bodies)
{
	for (long i = 0; i < N; i++) {
		bodies[i].x += bodies[i].dx;
		bodies[i].y += bodies[i].dy;
	}
}

static long weigh(struct body *bodies)
{
	long sum = 0;

	for (long i = 0; i < N; i++) {
		bodies[i].age += bodies[i].heat > 50;
		sum += bodies[i].mass * bodies[i].light;
	}
	return sum;
}

int main(void)
{
	struct body *first = fill(), *bodies = malloc(N * sizeof *bodies);
	long sum = 0;

	if (!first || !bodies)
		return 1;
	memcpy(bodies, first, N * sizeof *bodies); /* as a vector does that grows */
	for (int i = 0; i < WALKS; i++) {
		step(bodies);
		sum += weigh(bodies);
	}
	printf("%ld\n", sum + bodies[N / 2].x);
	free(first);
	free(bodies);
	return 0;
}
