/* SPDX-License-Identifier: MIT
 *
 * spring.c - bodies on a line of springs, whose steps name their parts: see docs/howto/parts.md.
 */
#include <nearmiss/client.h>
#include <stdio.h>

enum { N = 100000, STEPS = 10 };

static struct body {
	double x, v, f, mass;
} body[N];

static __attribute__((noinline)) void forces(void)
{
	NEARMISS_REGION_BEGIN("forces");
	for (int i = 1; i < N; i++)
		body[i].f = body[i - 1].x - body[i].x;
	NEARMISS_REGION_END("forces");
}

static __attribute__((noinline)) void move(void)
{
	for (int i = 0; i < N; i++)
		body[i].x += body[i].v += body[i].f;
}

int main(void)
{
	for (int i = 0; i < N; i++)
		body[i].x = i % 7;
	for (int step = 0; step < STEPS; step++) {
		NEARMISS_REGION_BEGIN("step");
		forces();
		move();
		NEARMISS_REGION_END("step");
	}
	printf("%g\n", body[9].x);
	return 0;
}
