/* SPDX-License-Identifier: MIT
 *
 * fft.c - a one-dimensional transform of N * N points in six steps: each thread transforms rows of its own,
 * and takes them by columns from all others in the transposes between.
 */
#include <complex.h>
#include <math.h>
#include <stdio.h>

#include "crew.h"

enum { N = 64, ROWS = N / CREW };

static _Alignas(64) double complex a[N][N], b[N][N];

/* Radix 2, in place. */
static void transform(double complex *row)
{
	for (int i = 1, j = 0; i < N; i++) {
		int bit = N / 2;

		for (; j & bit; bit /= 2)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			const double complex t = row[i];

			row[i] = row[j];
			row[j] = t;
		}
	}
	for (int length = 2; length <= N; length *= 2)
		for (int i = 0; i < N; i++)
			if (!(i & length / 2)) {
				const double complex w = cexp(-2 * M_PI * I * (i % length) / length),
						     t = w * row[i + length / 2];

				row[i + length / 2] = row[i] - t;
				row[i] += t;
			}
}

static void transpose(double complex (*to)[N], double complex (*from)[N], int first)
{
	for (int i = first; i < first + ROWS; i++)
		for (int j = 0; j < N; j++)
			to[i][j] = from[j][i];
	crew_wait();
}

static void *work(void *id)
{
	const int first = (int)(intptr_t)id * ROWS;

	for (int i = first; i < first + ROWS; i++)
		for (int j = 0; j < N; j++)
			a[i][j] = (i * N + j) % 7;
	crew_wait();
	transpose(b, a, first);
	for (int i = first; i < first + ROWS; i++) {
		transform(b[i]);
		for (int j = 0; j < N; j++)
			b[i][j] *= cexp(-2 * M_PI * I * i * j / (N * N));
	}
	crew_wait();
	transpose(a, b, first);
	for (int i = first; i < first + ROWS; i++)
		transform(a[i]);
	crew_wait();
	transpose(b, a, first);
	return NULL;
}

int main(void)
{
	crew_run(work);
	printf("%.6f\n", creal(b[1][1]));
	return 0;
}
