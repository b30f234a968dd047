/* SPDX-License-Identifier: MIT
 *
 * lu.c - the factors of a matrix, in blocks that threads own like the fields of a chessboard; the matrix is
 * stored by rows, so neighbouring blocks share lines where they are narrow.
 */
#include <stdio.h>

#include "crew.h"

enum { N = 128, B = 8, BLOCKS = N / B };

static _Alignas(64) double a[N][N];

static int owner(int i, int j) { return (i % 4) * 8 + j % 8; }

static void factor(int k)
{
	for (int p = k; p < k + B; p++)
		for (int i = p + 1; i < k + B; i++) {
			a[i][p] /= a[p][p];
			for (int j = p + 1; j < k + B; j++)
				a[i][j] -= a[i][p] * a[p][j];
		}
}

/* The block right of, or below, the one on the diagonal. */
static void solve(int k, int i0, int j0)
{
	for (int p = k; p < k + B; p++)
		if (i0 == k)
			for (int i = p + 1; i < k + B; i++)
				for (int j = j0; j < j0 + B; j++)
					a[i][j] -= a[i][p] * a[p][j];
		else
			for (int i = i0; i < i0 + B; i++) {
				a[i][p] /= a[p][p];
				for (int j = p + 1; j < k + B; j++)
					a[i][j] -= a[i][p] * a[p][j];
			}
}

static void update(int k, int i0, int j0)
{
	for (int i = i0; i < i0 + B; i++)
		for (int p = k; p < k + B; p++)
			for (int j = j0; j < j0 + B; j++)
				a[i][j] -= a[i][p] * a[p][j];
}

static void *work(void *id)
{
	const int own = (int)(intptr_t)id;

	for (int i = 0; i < BLOCKS; i++)
		for (int j = 0; j < BLOCKS; j++)
			for (int n = 0; owner(i, j) == own && n < B * B; n++) {
				const int y = i * B + n / B, x = j * B + n % B;

				a[y][x] = y == x ? N : (y * 7 + x * 3) % 5;
			}
	crew_wait();
	for (int k = 0; k < BLOCKS; k++) {
		if (owner(k, k) == own)
			factor(k * B);
		crew_wait();
		for (int i = k + 1; i < BLOCKS; i++) {
			if (owner(i, k) == own)
				solve(k * B, i * B, k * B);
			if (owner(k, i) == own)
				solve(k * B, k * B, i * B);
		}
		crew_wait();
		for (int i = k + 1; i < BLOCKS; i++)
			for (int j = k + 1; j < BLOCKS; j++)
				if (owner(i, j) == own)
					update(k * B, i * B, j * B);
		crew_wait();
	}
	return NULL;
}

int main(void)
{
	crew_run(work);
	printf("%.6f\n", a[N - 1][N - 1]);
	return 0;
}
