/* SPDX-License-Identifier: MIT
 *
 * loops.c - numerical kernels over arrays, as PolyBench and SPLASH have them, written as textbooks do: nothing
 * is blocked or reordered for a cache.
 *
 * Arguments: name of the kernel, its size.
 */
#include <math.h>
#include <string.h>

#include "lots.h"

static double *doubles(long count) { return (double *)need(calloc((size_t)count, sizeof(double))); }

static double *numbers(long count)
{
	double *to = doubles(count);

	for (long i = 0; i < count; i++)
		to[i] = draw_below(1000) / 1000.0;
	return to;
}

/* C = A B. */
static double gemm(long n)
{
	const double *a = numbers(n * n), *b = numbers(n * n);
	double *c = doubles(n * n);

	for (long i = 0; i < n; i++)
		for (long k = 0; k < n; k++)
			for (long j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
	return c[n * n / 2];
}

/* Ten sweeps of five points, there and back. */
static double jacobi(long n)
{
	double *from = numbers(n * n), *to = doubles(n * n);

	for (int sweep = 0; sweep < 10; sweep++) {
		for (long i = 1; i < n - 1; i++)
			for (long j = 1; j < n - 1; j++) {
				const double *p = &from[i * n + j];

				to[i * n + j] = 0.2 * (p[0] + p[-1] + p[1] + p[-n] + p[n]);
			}

		double *swap = from;

		from = to;
		to = swap;
	}
	return from[n * n / 2];
}

/* Correlations of the columns of a matrix that is stored by rows. */
static double correlation(long rows)
{
	const long columns = rows / 8;
	double *data = numbers(rows * columns), *corr = doubles(columns * columns);

	for (long j = 0; j < columns; j++) {
		double mean = 0, deviation = 0;

		for (long i = 0; i < rows; i++)
			mean += data[i * columns + j] / (double)rows;
		for (long i = 0; i < rows; i++)
			deviation += (data[i * columns + j] - mean) * (data[i * columns + j] - mean);
		for (long i = 0; i < rows; i++)
			data[i * columns + j] = (data[i * columns + j] - mean) / sqrt(deviation);
	}
	for (long i = 0; i < columns; i++)
		for (long j = i; j < columns; j++) {
			double sum = 0;

			for (long k = 0; k < rows; k++)
				sum += data[k * columns + i] * data[k * columns + j];
			corr[i * columns + j] = corr[j * columns + i] = sum;
		}
	return corr[columns * columns / 2];
}

/* The most pairs that a folded chain of bases can form. */
static double nussinov(long n)
{
	int *most = (int *)need(calloc((size_t)(n * n), sizeof *most));
	char *base = (char *)need(malloc((size_t)n));

	for (long i = 0; i < n; i++)
		base[i] = (char)draw_below(4);
	for (long i = n - 2; i >= 0; i--)
		for (long j = i + 1; j < n; j++) {
			int best = most[(i + 1) * n + j - 1] + (base[i] + base[j] == 3 && j > i + 1);

			for (long k = i; k < j; k++) {
				const int apart = most[i * n + k] + most[(k + 1) * n + j];

				best = apart > best ? apart : best;
			}
			most[i * n + j] = best;
		}
	return most[n - 1];
}

/* Relaxes a grid by checkerboard; each row is a block of its own, and two coarser grids follow. */
static double relax(double **grid, long n)
{
	double moved = 0;

	for (int colour = 0; colour < 2; colour++)
		for (long i = 1; i < n - 1; i++)
			for (long j = 1 + (i + colour) % 2; j < n - 1; j += 2) {
				const double old = grid[i][j], to = 0.25 * (grid[i - 1][j] + grid[i + 1][j] +
									    grid[i][j - 1] + grid[i][j + 1]);

				grid[i][j] += 1.2 * (to - old);
				moved += fabs(to - old);
			}
	return moved;
}

static double ocean(long n)
{
	double **grids[3], moved = 0;

	for (int g = 0; g < 3; g++) {
		grids[g] = (double **)need(calloc((size_t)n >> g, sizeof **grids));
		for (long i = 0; i < n >> g; i++)
			grids[g][i] = numbers(n >> g);
	}
	for (int round = 0; round < 6; round++)
		for (int g = 0; g < 3; g++) {
			moved += relax(grids[g], n >> g);
			for (long i = 0; g < 2 && i < n >> (g + 1); i++)
				for (long j = 0; j < n >> (g + 1); j++)
					grids[g + 1][i][j] = grids[g][2 * i][2 * j];
		}
	return moved;
}

/* Conjugate gradients on a grid of three dimensions; each row of the matrix keeps its columns in a block. */
struct row {
	int count, column[27];
	double value[27];
};

static struct row *rows_of_cube(long n)
{
	struct row *rows = (struct row *)need(calloc((size_t)(n * n * n), sizeof *rows));

	for (long at = 0; at < n * n * n; at++)
		for (int k = 0; k < 27; k++) {
			const long x = at % n + k % 3 - 1, y = at / n % n + k / 3 % 3 - 1,
				   z = at / n / n + k / 9 - 1;
			struct row *r = &rows[at];

			if (x < 0 || x >= n || y < 0 || y >= n || z < 0 || z >= n)
				continue;
			r->value[r->count] = k == 13 ? 27 : -1;
			r->column[r->count++] = (int)(x + n * (y + n * z));
		}
	return rows;
}

static double dot(const double *a, const double *b, long n)
{
	double sum = 0;

	for (long i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static double gradients(long side)
{
	const long n = side * side * side;
	const struct row *rows = rows_of_cube(side);
	double *x = doubles(n), *r = numbers(n), *p = doubles(n), *ap = doubles(n), rr = dot(r, r, n);

	memcpy(p, r, (size_t)n * sizeof *p);
	for (int round = 0; round < 8; round++) {
		for (long i = 0; i < n; i++) {
			ap[i] = 0;
			for (int k = 0; k < rows[i].count; k++)
				ap[i] += rows[i].value[k] * p[rows[i].column[k]];
		}

		const double alpha = rr / dot(p, ap, n), before = rr;

		for (long i = 0; i < n; i++) {
			x[i] += alpha * p[i];
			r[i] -= alpha * ap[i];
		}
		rr = dot(r, r, n);
		for (long i = 0; i < n; i++)
			p[i] = r[i] + rr / before * p[i];
	}
	return rr;
}

/* Sorts keys by digits of ten bits. */
static double radix(long n)
{
	enum { DIGIT = 1024 };
	uint32_t *from = (uint32_t *)need(malloc((size_t)n * sizeof *from));
	uint32_t *to = (uint32_t *)need(malloc((size_t)n * sizeof *to));

	for (long i = 0; i < n; i++)
		from[i] = draw_below(1u << 30);
	for (int shift = 0; shift < 30; shift += 10) {
		uint32_t place[DIGIT + 1] = {0}, *swap = from;

		for (long i = 0; i < n; i++)
			place[(from[i] >> shift) % DIGIT + 1]++;
		for (int d = 0; d < DIGIT; d++)
			place[d + 1] += place[d];
		for (long i = 0; i < n; i++)
			to[place[(from[i] >> shift) % DIGIT]++] = from[i];
		from = to;
		to = swap;
	}
	return from[n / 2];
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		double (*run)(long);
	} kernels[] = {{"gemm", gemm},         {"jacobi", jacobi}, {"correlation", correlation},
		       {"nussinov", nussinov}, {"ocean", ocean},   {"gradients", gradients},
		       {"radix", radix}};
	const long n = argument(argc, argv, 2);

	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		if (!strcmp(kernels[i].name, argv[1])) {
			printf("%g\n", kernels[i].run(n));
			return 0;
		}
	fprintf(stderr, "%s: no kernel %s\n", argv[0], argv[1]);
	return 1;
}
