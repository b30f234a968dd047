/* SPDX-License-Identifier: MIT
 *
 * ocean.c - relaxes a grid, red points and black points in turn: each thread has some rows, reads those of
 * its neighbours, and adds to a sum under a lock.
 */
#include <math.h>
#include <stdio.h>

#include "crew.h"

enum { N = 130, SWEEPS = 6 };

static _Alignas(64) double grid[N][N];
static double change;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double relax(int first, int end, int colour)
{
	double sum = 0;

	for (int i = first; i < end; i++)
		for (int j = 1 + (i + colour) % 2; j < N - 1; j += 2) {
			const double old = grid[i][j];

			grid[i][j] = (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) / 4;
			sum += fabs(grid[i][j] - old);
		}
	return sum;
}

static void *work(void *id)
{
	const int own = (int)(intptr_t)id, rows = (N - 2) / CREW, first = 1 + own * rows;

	for (int i = first; i < first + rows; i++)
		for (int j = 0; j < N; j++)
			grid[i][j] = j == 0;
	crew_wait();
	for (int sweep = 0; sweep < 2 * SWEEPS; sweep++) {
		const double sum = relax(first, first + rows, sweep % 2);

		pthread_mutex_lock(&lock);
		change += sum;
		pthread_mutex_unlock(&lock);
		crew_wait();
	}
	return NULL;
}

int main(void)
{
	crew_run(work);
	printf("%.6f\n", change);
	return 0;
}
