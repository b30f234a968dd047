/* SPDX-License-Identifier: MIT
 *
 * loops.c - three loops pass over arrays that no cache holds, so that each finds nothing of what the one
 * before left. REPAIRED: the loops are joined.
 */
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 400000 };

static double pressure[POINTS], density[POINTS];
static float speed[POINTS];

#ifdef REPAIRED
static void step(double by)
{
	for (int i = 0; i < POINTS; i++) {
		density[i] += by;
		pressure[i] = density[i] * 1.4;
		speed[i] = (float)(pressure[i] * 0.5 + density[i]);
	}
}
#else
static void step(double by)
{
	for (int i = 0; i < POINTS; i++)
		density[i] += by;
	for (int i = 0; i < POINTS; i++)
		pressure[i] = density[i] * 1.4;
	for (int i = 0; i < POINTS; i++)
		speed[i] = (float)(pressure[i] * 0.5 + density[i]);
}
#endif

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 4;

	for (int round = 0; round < rounds; round++)
		step(round);
	printf("%g\n", speed[POINTS - 1]);
	return 0;
}
