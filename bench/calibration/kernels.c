/* SPDX-License-Identifier: MIT
 *
 * kernels.c - small loops that execute the same instructions over much memory and over little (loops.h). The cost
 * model's figures were chosen in view of them (docs/evaluation/cost.md).
 */
#include "loops.h"

/* ---- walks in order ---- */

KERNEL(sum)
{
	uint64_t s = 0;
	STEPS(i) s += w[i & (n - 1)];
	return s;
}
KERNEL(sum_back)
{
	uint64_t s = 0;
	STEPS(i) s += w[-i & (n - 1)];
	return s;
}
KERNEL(one_word_of_a_line)
{
	uint64_t s = 0;
	STEPS(i) s += w[i * LINE & (n - 1)];
	return s;
}
KERNEL(steps_of_256)
{
	uint64_t s = 0;
	STEPS(i) s += w[(i * 32 + i * 32 / n) & (n - 1)];
	return s;
}
KERNEL(steps_of_1k)
{
	uint64_t s = 0;
	STEPS(i) s += w[(i * 128 + i * 128 / n * 8) & (n - 1)];
	return s;
}
KERNEL(steps_of_pages)
{
	uint64_t s = 0;
	STEPS(i) s += w[(i * 520) & (n - 1)];
	return s;
}
KERNEL(fill)
{
	STEPS(i) w[i & (n - 1)] = i;
	return w[1];
}
KERNEL(increment)
{
	STEPS(i) w[i & (n - 1)]++;
	return w[1];
}
KERNEL(prefix_sums)
{
	uint64_t s = 0;
	STEPS(i) w[i & (n - 1)] = s += w[i & (n - 1)];
	return s;
}

KERNEL(copy)
{
	STEPS(i) w[n / 2 + (i & (n / 2 - 1))] = w[i & (n / 2 - 1)];
	return w[n - 1];
}

KERNEL(triad)
{
	double *a = real(w), *b = a + n / 4, *c = a + n / 2;

	STEPS(i)
	{
		const size_t k = i & (n / 4 - 1);
		a[k] = b[k] + 3 * c[k];
	}
	return w[1];
}

KERNEL(sixteen_streams)
{
	uint64_t s = 0;

	STEPS(i) s += w[(i & 15) * (n / 16) + (i >> 4 & (n / 16 - 1))];
	return s;
}

KERNEL(merge)
{
	size_t a = 0, b = 0, half = n / 2;
	uint64_t s = 0;

	STEPS(i)
	{
		const uint64_t x = w[a & (half - 1)], y = w[half + (b & (half - 1))];

		s += x < y ? x : y;
		a += x < y;
		b += x >= y;
	}
	return s;
}

KERNEL(two_fields_of_64)
{
	uint64_t s = 0;
	STEPS(i) s += w[i * LINE & (n - 1)] & w[(i * LINE & (n - 1)) + 3];
	return s;
}

KERNEL(stencil_of_rows)
{
	double *a = real(w);

	STEPS(i)
	{
		const size_t k = (i & (n / 2 - 1)) + 64;
		a[k] = (a[k - 64] + a[k] + a[k + 64]) / 3;
	}
	return w[70];
}

/* ---- matrices, as long as they are wide ---- */

/* The side of a square matrix of n words: n is a power of four, or twice one. */
static unsigned side_bits(size_t n) { return (unsigned)__builtin_ctzll(n) / 2; }

KERNEL(column_sums)
{
	const unsigned bits = side_bits(n);
	const size_t side = (size_t)1 << bits;
	uint64_t s = 0;

	STEPS(i) s += w[((i & (side - 1)) << bits | (i >> bits & (side - 1)))];
	return s;
}

KERNEL(transpose)
{
	const unsigned bits = side_bits(n / 2);
	const size_t side = (size_t)1 << bits;
	uint64_t *to = w + n / 2;

	STEPS(i) to[(i & (side - 1)) << bits | (i >> bits & (side - 1))] = w[i & (n / 2 - 1)];
	return to[1];
}

KERNEL(stencil_of_columns)
{
	const unsigned bits = side_bits(n / 2);
	const size_t side = (size_t)1 << bits;
	double *a = real(w);

	STEPS(i)
	{
		const size_t k = ((i & (side - 1)) << bits | (i >> bits & (side - 1))) + side;

		a[k] = (a[k - side] + a[k - 1] + a[k] + a[k + 1]) / 4;
	}
	return w[3];
}

/* ---- places drawn at random ---- */

KERNEL(gather)
{
	uint64_t s = 0, x = 1;
	STEPS(i) s += w[drawn(x = next(x), n)];
	return s;
}
KERNEL(scatter)
{
	uint64_t x = 1;
	STEPS(i) w[drawn(x = next(x), n)] = i;
	return w[1];
}
KERNEL(histogram)
{
	uint64_t x = 1;
	STEPS(i) w[drawn(x = next(x), n)]++;
	return w[1];
}

KERNEL(gather_and_compute)
{
	uint64_t x = 1;
	double s = 0;

	STEPS(i)
	{
		double d = (double)(w[drawn(x = next(x), n)] & 1023);

		for (int k = 0; k < 6; k++)
			d = d * 0.5 + 3;
		s += d;
	}
	return (uint64_t)s;
}

KERNEL(gather_and_branch)
{
	uint64_t s = 0, x = 1;

	STEPS(i) if (w[drawn(x = next(x), n)] & 1) s += x;
	else s ^= i;
	return s;
}

KERNEL(bits)
{
	uint64_t s = 0, x = 1;

	STEPS(i)
	{
		x = next(x);
		s += w[drawn(x, n)] >> (x & 63) & 1;
	}
	return s;
}

KERNEL(names)
{
	uint64_t s = 0, x = 1;

	STEPS(i)
	{
		x = next(x);
		s += memcmp(w + drawn(x, n / 2) * 2, w, 16) < 0;
	}
	return s;
}

KERNEL(blocks_of_256)
{
	uint64_t s = 0, x = 1;

	STEPS(i)
	{
		x = i & 31 ? x : next(x);
		s += w[drawn(x, n / 32) * 32 + (i & 31)];
	}
	return s;
}

KERNEL(rows_of_1k)
{
	uint64_t s = 0, x = 1;

	STEPS(i)
	{
		x = i & 127 ? x : next(x);
		s += w[drawn(x, n / 128) * 128 + (i & 127)];
	}
	return s;
}

KERNEL(probe)
{
	uint64_t s = 0, x = 1;

	STEPS(i)
	{
		size_t k = drawn(x = next(x), n / 2);

		while (w[k] & 3)
			k++;
		s += k;
	}
	return s;
}

KERNEL(swap_at_random)
{
	uint64_t x = 1;

	STEPS(i)
	{
		const size_t a = drawn(x = next(x), n), b = i & (n - 1);
		const uint64_t t = w[a];

		w[a] = w[b];
		w[b] = t;
	}
	return w[1];
}

/* ---- places that data lead to ---- */

KERNEL(chase)
{
	uint64_t p = 0;
	(void)n;
	STEPS(i) p = w[p];
	return p;
}
KERNEL(list_in_order) { return chase(w, n, steps); }
KERNEL(chase_and_add)
{
	uint64_t p = 0, s = 0;
	(void)n;
	STEPS(i)
	{
		p = w[p];
		s += w[p + 1] * 7;
	}
	return s;
}

KERNEL(chase_and_compute)
{
	uint64_t p = 0;
	double s = 0;

	(void)n;
	STEPS(i)
	{
		double d = (double)(w[p + 1] & 1023);

		for (int k = 0; k < 10; k++)
			d = d * 0.5 + 3;
		s += d;
		p = w[p];
	}
	return (uint64_t)s;
}

KERNEL(two_chases)
{
	uint64_t p = 0, q = n / 2;

	STEPS(i)
	{
		p = w[p];
		q = w[q];
	}
	return p + q;
}

KERNEL(four_chases)
{
	uint64_t p[4] = {0, n / 4, n / 2, n / 4 * 3};

	STEPS(i) for (int k = 0; k < 4; k++) p[k] = w[p[k]];
	return p[0] + p[1] + p[2] + p[3];
}

KERNEL(indices)
{
	uint64_t s = 0;
	STEPS(i) s += w[n / 2 + w[i & (n / 2 - 1)]];
	return s;
}

KERNEL(indices_of_indices)
{
	uint64_t s = 0;

	STEPS(i) s += w[n / 2 + w[w[i & (n / 2 - 1)]]];
	return s;
}

KERNEL(sum_by_index)
{
	double *to = real(w + n / 2);

	STEPS(i) to[w[i & (n / 2 - 1)]] += 0.5;
	return w[n / 2];
}

KERNEL(binary_search)
{
	uint64_t s = 0, x = 1;

	for (uint64_t i = 0; i < steps;) {
		const uint64_t key = drawn(x = next(x), n);
		size_t low = 0;

		for (size_t half = n / 2; half; half /= 2, i++)
			low += w[low + half - 1] < key ? half : 0;
		s += low;
	}
	return s;
}

KERNEL(tree)
{
	uint64_t s = 0, x = 1;

	for (uint64_t i = 0; i < steps;) {
		size_t node = 1;

		x = next(x);
		for (uint64_t turns = x >> 20; node < n; turns >>= 1, i++)
			node = 2 * node + ((turns ^ w[node]) & 1);
		s += node;
	}
	return s;
}

KERNEL(chains_of_two)
{
	uint64_t s = 0, x = 1;

	STEPS(i) s += w[w[drawn(x = next(x), n / 8) * 8] + 1];
	return s;
}

static const struct loop loops[] = {
    ROW(sum, 240, NUMBERS),
    ROW(sum_back, 240, NUMBERS),
    ROW(one_word_of_a_line, 60, NUMBERS),
    ROW(steps_of_256, 30, NUMBERS),
    ROW(steps_of_1k, 30, NUMBERS),
    ROW(steps_of_pages, 30, NUMBERS),
    ROW(fill, 240, NUMBERS),
    ROW(increment, 240, NUMBERS),
    ROW(prefix_sums, 240, NUMBERS),
    ROW(copy, 180, NUMBERS),
    ROW(triad, 180, REALS),
    ROW(sixteen_streams, 180, NUMBERS),
    ROW(merge, 120, NUMBERS),
    ROW(two_fields_of_64, 60, NUMBERS),
    ROW(stencil_of_rows, 150, REALS),
    ROW(column_sums, 40, NUMBERS),
    ROW(transpose, 40, NUMBERS),
    ROW(stencil_of_columns, 40, REALS),
    ROW(gather, 40, NUMBERS),
    ROW(scatter, 40, NUMBERS),
    ROW(histogram, 40, NUMBERS),
    ROW(gather_and_compute, 30, NUMBERS),
    ROW(gather_and_branch, 30, NUMBERS),
    ROW(bits, 40, NUMBERS),
    ROW(names, 30, NUMBERS),
    ROW(blocks_of_256, 150, NUMBERS),
    ROW(rows_of_1k, 200, NUMBERS),
    ROW(probe, 30, SMALL),
    ROW(swap_at_random, 30, NUMBERS),
    ROW(chase, 6, LINKED),
    ROW(list_in_order, 60, LINKED_IN_ORDER),
    ROW(chase_and_add, 6, LINKED),
    ROW(chase_and_compute, 6, LINKED),
    ROW(two_chases, 8, LINKED_HALVES),
    ROW(four_chases, 6, LINKED_QUARTERS),
    ROW(indices, 40, LINKED_HALF),
    ROW(indices_of_indices, 30, LINKED_HALF),
    ROW(sum_by_index, 40, LINKED_HALF),
    ROW(binary_search, 40, SORTED),
    ROW(tree, 40, NUMBERS),
    ROW(chains_of_two, 25, LINKED),
};

int main(int argc, char **argv) { return run_loop(loops, sizeof loops / sizeof *loops, argc, argv); }
