/* SPDX-License-Identifier: MIT
 *
 * sparse.c - conjugate gradients on a sparse matrix in compressed rows, whose columns lie anywhere.
 *
 * Arguments: rows, entries beside the diagonal in half of each, steps.
 */
#include <math.h>

#include "lots.h"

struct matrix {
	uint32_t rows, *start, *column;
	double *value;
};

/* A symmetric matrix: entries are drawn below the diagonal, counted, and entered on both sides. */
static struct matrix make_matrix(uint32_t rows, uint32_t each)
{
	size_t pairs = (size_t)rows * each, entries = 2 * pairs + rows;
	struct matrix m = {rows, (uint32_t *)need(calloc(rows + 2ul, sizeof *m.start)),
			   (uint32_t *)need(malloc(entries * sizeof *m.column)),
			   (double *)need(malloc(entries * sizeof *m.value))};
	uint32_t *other = (uint32_t *)need(malloc(pairs * sizeof *other));

	for (uint32_t r = 0; r < rows; r++) {
		m.start[r + 2]++;
		for (uint32_t k = 0; k < each; k++) {
			uint32_t c = draw_below(rows);

			other[(size_t)r * each + k] = c;
			m.start[r + 2]++;
			m.start[c + 2]++;
		}
	}
	for (uint32_t r = 0; r < rows; r++)
		m.start[r + 2] += m.start[r + 1];
	for (uint32_t r = 0; r < rows; r++) {
		m.column[m.start[r + 1]] = r;
		m.value[m.start[r + 1]++] = 4.0 * each;
		for (uint32_t k = 0; k < each; k++) {
			uint32_t c = other[(size_t)r * each + k];
			double v = -1.0 / (1 + (r ^ c) % 7);

			m.column[m.start[r + 1]] = c;
			m.value[m.start[r + 1]++] = v;
			m.column[m.start[c + 1]] = r;
			m.value[m.start[c + 1]++] = v;
		}
	}
	free(other);
	return m;
}

static void multiply(const struct matrix *m, const double *x, double *y)
{
	for (uint32_t r = 0; r < m->rows; r++) {
		double sum = 0;

		for (uint32_t i = m->start[r]; i < m->start[r + 1]; i++)
			sum += m->value[i] * x[m->column[i]];
		y[r] = sum;
	}
}

static double dot(const double *a, const double *b, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void add_scaled(double *to, double factor, const double *from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] += factor * from[i];
}

static double *vector_of(uint32_t n) { return (double *)need(calloc(n, sizeof(double))); }

int main(int argc, char **argv)
{
	uint32_t n = (uint32_t)argument(argc, argv, 1);
	struct matrix m = make_matrix(n, (uint32_t)argument(argc, argv, 2));
	double *x = vector_of(n), *residual = vector_of(n), *direction = vector_of(n),
	       *product = vector_of(n);
	double norm;

	for (uint32_t i = 0; i < n; i++)
		residual[i] = direction[i] = 1 + i % 5;
	norm = dot(residual, residual, n);
	for (long steps = argument(argc, argv, 3); steps; steps--) {
		double alpha, before = norm;

		multiply(&m, direction, product);
		alpha = norm / dot(direction, product, n);
		add_scaled(x, alpha, direction, n);
		add_scaled(residual, -alpha, product, n);
		norm = dot(residual, residual, n);
		for (uint32_t i = 0; i < n; i++)
			direction[i] = residual[i] + norm / before * direction[i];
	}
	printf("%.6g %.6g\n", sqrt(norm), dot(x, x, n));
	return 0;
}
