/* SPDX-License-Identifier: MIT
 *
 * layouts.c - two computations with a good and a bad order or layout, for the estimate of cost (docs/cost.md).
 *
 *     layouts rows|columns N     a five-point stencil of 1026 x 1026, N times to and fro
 *     layouts matrix|blocks N    LU of 512 x 512 in blocks of 16, N times: in the rows of the matrix, or side by side
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 1026, N = 512, BLOCK = 16, BLOCKS = N / BLOCK };

typedef double grid_row[GRID];

#define POINT(from, i, j) (0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]))

static __attribute__((noinline)) void along_rows(grid_row *from, grid_row *to)
{
	for (int i = 1; i < GRID - 1; i++)
		for (int j = 1; j < GRID - 1; j++)
			to[i][j] = POINT(from, i, j);
}

static __attribute__((noinline)) void along_columns(grid_row *from, grid_row *to)
{
	for (int j = 1; j < GRID - 1; j++)
		for (int i = 1; i < GRID - 1; i++)
			to[i][j] = POINT(from, i, j);
}

static double relax(int by_columns, int times)
{
	void (*sweep)(grid_row *, grid_row *) = by_columns ? along_columns : along_rows;
	grid_row *a = calloc(GRID, sizeof *a), *b = calloc(GRID, sizeof *b);

	for (int i = 0; i < GRID; i++)
		a[i][0] = b[i][0] = 1;
	for (; times > 0; times--) {
		sweep(a, b);
		sweep(b, a);
	}
	return a[5][5];
}

static double *matrix;

/* Block (i, j), whose rows are `stride` apart. */
static inline double *block(int stride, int i, int j)
{
	return stride == N ? matrix + i * BLOCK * N + j * BLOCK : matrix + (i * BLOCKS + j) * BLOCK * BLOCK;
}

static inline void factor(double *d, int stride)
{
	for (int p = 0; p < BLOCK; p++)
		for (int i = p + 1; i < BLOCK; i++) {
			d[i * stride + p] /= d[p * stride + p];
			for (int j = p + 1; j < BLOCK; j++)
				d[i * stride + j] -= d[i * stride + p] * d[p * stride + j];
		}
}

static inline void solve_row(double *u, const double *d, int stride)
{
	for (int p = 0; p < BLOCK; p++)
		for (int i = p + 1; i < BLOCK; i++)
			for (int j = 0; j < BLOCK; j++)
				u[i * stride + j] -= d[i * stride + p] * u[p * stride + j];
}

static inline void solve_column(double *l, const double *d, int stride)
{
	for (int i = 0; i < BLOCK; i++)
		for (int p = 0; p < BLOCK; p++) {
			l[i * stride + p] /= d[p * stride + p];
			for (int j = p + 1; j < BLOCK; j++)
				l[i * stride + j] -= l[i * stride + p] * d[p * stride + j];
		}
}

static inline void update(double *c, const double *l, const double *u, int stride)
{
	for (int i = 0; i < BLOCK; i++)
		for (int p = 0; p < BLOCK; p++)
			for (int j = 0; j < BLOCK; j++)
				c[i * stride + j] -= l[i * stride + p] * u[p * stride + j];
}

static inline __attribute__((always_inline)) void decompose(int stride)
{
	for (int k = 0; k < BLOCKS; k++) {
		factor(block(stride, k, k), stride);
		for (int i = k + 1; i < BLOCKS; i++) {
			solve_row(block(stride, k, i), block(stride, k, k), stride);
			solve_column(block(stride, i, k), block(stride, k, k), stride);
		}
		for (int i = k + 1; i < BLOCKS; i++)
			for (int j = k + 1; j < BLOCKS; j++)
				update(block(stride, i, j), block(stride, i, k), block(stride, k, j), stride);
	}
}

static __attribute__((noinline)) void decompose_matrix(void) { decompose(N); }
static __attribute__((noinline)) void decompose_blocks(void) { decompose(BLOCK); }

static double lu(int in_blocks, int times)
{
	const int stride = in_blocks ? BLOCK : N;

	matrix = aligned_alloc(4096, sizeof(double) * N * N);
	for (; times > 0; times--) {
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				block(stride, i / BLOCK, j / BLOCK)[i % BLOCK * stride + j % BLOCK] =
				    (i == j) * N + 1.0 / (i + j + 1);
		if (in_blocks)
			decompose_blocks();
		else
			decompose_matrix();
	}
	return block(stride, 3, 4)[5 * stride + 6];
}

int main(int argc, char **argv)
{
	const int times = argc > 2 ? atoi(argv[2]) : 1;
	const char *how = argc > 1 ? argv[1] : "rows";

	if (!strcmp(how, "matrix") || !strcmp(how, "blocks"))
		printf("%g\n", lu(!strcmp(how, "blocks"), times));
	else
		printf("%g\n", relax(!strcmp(how, "columns"), times));
	return 0;
}
