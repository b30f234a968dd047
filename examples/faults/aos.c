/* SPDX-License-Identifier: MIT
 *
 * aos.c - an array of structures of which a loop uses one field: each line of 64 bytes is loaded for 8 of
 * them. REPAIRED: the field has an array of its own.
 */
#include <stdio.h>
#include <stdlib.h>

enum { PARTICLES = 200000 };

#ifdef REPAIRED
static long energy[PARTICLES];
#define ENERGY(i) energy[i]
#else
struct particle {
	long energy;
	double x, y, vx, vy, vz, mass, charge;
};
static struct particle particles[PARTICLES];
#define ENERGY(i) particles[i].energy
#endif

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	long sum = 0;

	for (int i = 0; i < PARTICLES; i++)
		ENERGY(i) = i % 1000;
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < PARTICLES; i++)
			sum += ENERGY(i);
	printf("%ld\n", sum);
	return 0;
}
