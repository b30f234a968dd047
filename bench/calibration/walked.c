/* SPDX-License-Identifier: MIT
 *
 * walked.c - faults of loops and layouts, and their repairs: the same loops in another order or over other strides
 * (pairs.h).
 */
#include "pairs.h"

#define ALONG(repaired, side, one, other) \
	const size_t one = (repaired) ? (side) : 1, other = (repaired) ? 1 : (side)

/* ---- matrices: the inner loop goes by columns, or by rows ---- */

enum { SIDE = 2000, HALF = 1400, BOX = 120 };

PAIR(column_sums)
{
	ALONG(repaired, SIDE, outer, inner);
	uint64_t s = 0;

	EACH(i, SIDE) EACH(j, SIDE) s += w[(i * outer + j * inner) & mask];
	return s;
}

PAIR(stencil)
{
	ALONG(repaired, HALF, outer, inner);
	const double *a = real(w);
	double *to = real(w) + WORDS / 2;

	for (size_t i = 1; i < HALF - 1; i++)
		for (size_t j = 1; j < HALF - 1; j++) {
			const size_t k = ((i * outer + j * inner) & mask) + HALF;
			to[k] = (a[k] + a[k - 1] + a[k + 1] + a[k - HALF] + a[k + HALF]) * 0.2;
		}
	return w[HALF + 1];
}

PAIR(stencil_of_box)
{
	ALONG(repaired, BOX * BOX, outer, inner);
	const double *a = real(w);
	double *to = real(w) + WORDS / 2;

	for (size_t i = 1; i < BOX - 1; i++)
		for (size_t j = 1; j < BOX - 1; j++)
			for (size_t k = 1; k < BOX - 1; k++) {
				const double *p = a + ((i * outer + j * BOX + k * inner) & mask) + BOX * BOX;
				to[p - a] =
				    (p[-1] + p[1] + p[-BOX] + p[BOX] + p[-BOX * BOX] + p[BOX * BOX]) * 0.16;
			}
	return w[BOX * BOX + BOX + 1];
}

PAIR(matrix_by_vector)
{
	ALONG(repaired, SIDE, outer, inner);
	static double to[SIDE];
	const double *a = real(w);

	EACH(i, SIDE) EACH(j, SIDE) to[j] += a[(i * outer + j * inner) & mask] * (double)i;
	return (uint64_t)to[1];
}

/* A few rows of a product: the other matrix is stored by rows, or transposed. */
PAIR(product)
{
	const size_t down = repaired ? 1 : 1000, across = repaired ? 1000 : 1;
	const double *a = real(w), *b = a + 4000;
	double s = 0;

	EACH(i, 4) EACH(j, 1000)
	{
		double sum = 0;

		EACH(k, 1000) sum += a[(i * 1000 + k) & mask] * b[(k * down + j * across) & mask];
		s += sum * sum;
	}
	return (uint64_t)s;
}

/* Both halves are pictures; one is the other, turned by 90 degrees or not at all. */
PAIR(picture_turned)
{
	const size_t cosine = repaired, sine = !repaired;
	uint64_t *to = w + WORDS / 2;

	EACH(y, HALF) EACH(x, HALF)
	{
		const size_t u = x * cosine + (HALF - 1 - y) * sine, v = x * sine + y * cosine;
		to[(y * HALF + x) & mask] = w[(v * HALF + u) & mask];
	}
	return to[1];
}

/* Rows of a table of 32 columns from the columns, each by itself, or 512 rows at a time. */
PAIR(rows_of_columns)
{
	const size_t rows = 1 << 16, block = repaired ? 512 : rows;
	uint64_t *to = w + WORDS / 2;

	for (size_t at = 0; at < rows; at += block)
		EACH(j, 32)
	for (size_t i = at; i < at + block; i++)
		to[(i * 32 + j) & mask] = w[(j * rows + i) & mask];
	return to[1];
}

/* ---- powers of two ---- */

/* Columns of rows of 4K, or of rows that are a line longer. */
PAIR(columns_of_4k)
{
	const size_t row = repaired ? 520 : 512;
	uint64_t s = 0;

	TIMES(8) EACH(j, 512) EACH(i, 1000) s += w[(i * row + j) & mask];
	return s;
}

PAIR(transpose_of_4k)
{
	const size_t row = repaired ? 520 : 512;
	uint64_t *to = w + WORDS / 2;

	TIMES(8) EACH(i, 512) EACH(j, 512) to[(j * row + i) & mask] = w[(i * row + j) & mask];
	return to[1];
}

/* Points of 32 dimensions: an array for each, or the numbers of a point side by side. */
PAIR(dimensions_apart)
{
	const size_t points = 1 << 17, dimension = repaired ? 1 : points, point = repaired ? 32 : 1;
	const double *a = real(w);
	double s = 0;

	EACH(p, points)
	{
		double sum = 0;

		EACH(d, 32) sum += a[(p * point + d * dimension) & mask] * (double)d;
		s += sum * sum;
	}
	return (uint64_t)s;
}

/* The first words of pages, or of lines. */
PAIR(heads_of_pages)
{
	const size_t step = repaired ? LINE : 512;
	uint64_t s = 0;

	TIMES(400) EACH(i, 8192) s += w[i * step & mask];
	return s;
}

/* ---- structures ---- */

PAIR(one_field_of_64)
{
	const size_t step = repaired ? 1 : 8;
	uint64_t s = 0;

	TIMES(8) EACH(i, WORDS / 8) s += w[i * step & mask];
	return s;
}

PAIR(two_fields_of_128)
{
	const size_t step = repaired ? 2 : 16;
	double *a = real(w);

	TIMES(12) EACH(i, WORDS / 16) a[i * step & mask] += a[(i * step & mask) + 1] * 0.5;
	return w[16];
}

/* ---- passes ---- */

PAIR(passes)
{
	const size_t block = repaired ? STILL : WORDS;

	for (size_t at = 0; at < WORDS; at += block)
		TIMES(4) EACH(i, block) w[(at + i) & mask] = w[(at + i) & mask] * 3 + times;
	return w[1];
}

/* What is written is read a block later. */
PAIR(temporaries)
{
	const size_t block = repaired ? STILL : WORDS;
	uint64_t s = 0;

	TIMES(2) for (size_t at = 0; at < WORDS; at += block)
	{
		uint64_t *to = repaired ? w : w + (at & mask);

		EACH(i, block) to[i & mask] = at + i;
		EACH(i, block) s += to[i & mask] * to[i & mask];
	}
	return s;
}

/* Multiples of numbers, in all flags at once or in blocks. */
PAIR(sieve)
{
	const size_t flags = 12 << 20, block = repaired ? 1 << 14 : flags;
	uint8_t *flag = (uint8_t *)w;
	size_t next_of[32];

	EACH(p, 32) next_of[p] = p * p;
	for (size_t end = block; end <= flags; end += block)
		for (size_t p = 11; p < 32; p += 2) {
			size_t i = next_of[p];

			for (; i < end; i += p)
				flag[i & (n * 8 - 1)] = 1;
			next_of[p] = i;
		}
	return flag[121];
}

/* A queue in a ring of 32M, or of 16K. */
PAIR(ring)
{
	const size_t room = repaired ? STILL : n;
	uint64_t s = 0;

	EACH(i, 2 * (size_t)WORDS)
	{
		w[i & (room - 1)] = i;
		s += w[(i + room / 2) & (room - 1)];
	}
	return s;
}

static const struct pair pairs[] = {
    BOTH(column_sums, numbers),
    BOTH(stencil, numbers),
    BOTH(stencil_of_box, numbers),
    BOTH(matrix_by_vector, numbers),
    BOTH(product, numbers),
    BOTH(picture_turned, numbers),
    BOTH(rows_of_columns, numbers),
    BOTH(columns_of_4k, numbers),
    BOTH(transpose_of_4k, numbers),
    BOTH(dimensions_apart, numbers),
    BOTH(heads_of_pages, numbers),
    BOTH(one_field_of_64, numbers),
    BOTH(two_fields_of_128, numbers),
    BOTH(passes, numbers),
    BOTH(temporaries, numbers),
    BOTH(sieve, numbers),
    BOTH(ring, numbers),
};

int main(int argc, char **argv) { return run_pair(pairs, sizeof pairs / sizeof *pairs, argc, argv); }
