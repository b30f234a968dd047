/* SPDX-License-Identifier: MIT
 *
 * water.c - molecules that attract each other: a thread computes the forces between its own and half of the
 * others, and adds them to both under a lock for each molecule.
 */
#include <math.h>
#include <stdio.h>

#include "crew.h"

enum { MOLECULES = 128, OWN = MOLECULES / CREW, STEPS = 2 };

struct molecule {
	double place[3], speed[3], force[3];
	pthread_mutex_t lock;
};

static struct molecule molecules[MOLECULES];

static void add_force(struct molecule *m, const double force[3], double sign)
{
	pthread_mutex_lock(&m->lock);
	for (int d = 0; d < 3; d++)
		m->force[d] += sign * force[d];
	pthread_mutex_unlock(&m->lock);
}

static void attract(struct molecule *a, struct molecule *b)
{
	double force[3], square = 1;

	for (int d = 0; d < 3; d++) {
		force[d] = b->place[d] - a->place[d];
		square += force[d] * force[d];
	}
	for (int d = 0; d < 3; d++)
		force[d] /= square * sqrt(square);
	add_force(a, force, 1);
	add_force(b, force, -1);
}

static void move(struct molecule *m)
{
	for (int d = 0; d < 3; d++) {
		m->speed[d] += m->force[d] * 0.01;
		m->place[d] += m->speed[d];
		m->force[d] = 0;
	}
}

static void *work(void *id)
{
	const int first = (int)(intptr_t)id * OWN;
	uint32_t state = (uint32_t)first + 1;

	for (int i = first; i < first + OWN; i++) {
		pthread_mutex_init(&molecules[i].lock, NULL);
		for (int d = 0; d < 3; d++)
			molecules[i].place[d] = crew_random(&state, 1000) / 100.0;
	}
	crew_wait();
	for (int step = 0; step < STEPS; step++) {
		for (int i = first; i < first + OWN; i++)
			for (int n = 1; n <= MOLECULES / 2; n++)
				attract(&molecules[i], &molecules[(i + n) % MOLECULES]);
		crew_wait();
		for (int i = first; i < first + OWN; i++)
			move(&molecules[i]);
		crew_wait();
	}
	return NULL;
}

int main(void)
{
	crew_run(work);
	printf("%.6f\n", molecules[0].place[0]);
	return 0;
}
