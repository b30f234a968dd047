/* SPDX-License-Identifier: MIT
 *
 * others.c - loops of other kinds than those of kernels.c (loops.h): written after the cost model's figures were
 * chosen, to see how well these hold.
 */
#include "loops.h"

/* Counts keys, which are read in order, in a table of half of the memory. */
KERNEL(count_keys)
{
	uint64_t *counts = w + n / 2;
	STEPS(i) counts[w[i & (n / 2 - 1)] & (n / 2 - 1)]++;
	return counts[1];
}

/* A sparse matrix of 8 entries a row: columns, values, x and y are a quarter each. */
KERNEL(sparse_rows)
{
	const size_t part = n / 4;
	const uint64_t *columns = w, *values = w + part, *x = w + 2 * part;
	uint64_t *y = w + 3 * part;

	for (uint64_t i = 0; i < steps; i += 8) {
		uint64_t sum = 0;

		for (size_t k = i & (part - 1), end = k + 8; k < end; k++)
			sum += values[k] * x[columns[k] & (part - 1)];
		y[i / 8 & (part - 1)] = sum;
	}
	return y[1];
}

/* 8 x 8 words at a time. */
KERNEL(transpose_in_blocks)
{
	const unsigned bits = (unsigned)__builtin_ctzll(n / 2) / 2;
	const size_t side = (size_t)1 << bits, blocks = side / 8;
	uint64_t *to = w + n / 2;

	for (uint64_t i = 0; i < steps; i += 64) {
		const size_t row = i / 64 / blocks * 8 & (side - 1), column = i / 64 % blocks * 8;

		for (size_t r = row; r < row + 8; r++)
			for (size_t c = column; c < column + 8; c++)
				to[c << bits | r] = w[r << bits | c];
	}
	return to[1];
}

/* Merges two runs of a quarter each into the other half. */
KERNEL(merge_runs)
{
	const size_t part = n / 4;
	uint64_t *to = w + n / 2;
	size_t a = 0, b = 0;

	STEPS(i)
	{
		const uint64_t x = w[a & (part - 1)], y = w[part + (b & (part - 1))];

		to[i & (n / 2 - 1)] = x <= y ? x : y;
		a += x <= y;
		b += x > y;
	}
	return to[1];
}

/* Places of a word of two bytes in a text. */
KERNEL(search_text)
{
	const char *text = (const char *)w;
	uint64_t found = 0;

	STEPS(i)
	{
		const size_t k = i & (n * 8 - 2);
		found += text[k] == 'a' && text[k + 1] == 'b';
	}
	return found;
}

/* Look-ups in a table, 8 at a time: first all slots, then all comparisons. */
KERNEL(probe_in_batches)
{
	uint64_t x = 1, found = 0;

	for (uint64_t i = 0; i < steps; i += 8) {
		const uint64_t *slots[8];

		for (int k = 0; k < 8; k++) {
			x = next(x);
			slots[k] = &w[drawn(x, n)];
			__builtin_prefetch(slots[k]);
		}
		for (int k = 0; k < 8; k++)
			found += *slots[k] == x >> 40;
	}
	return found;
}

/* A list of nodes of a line: one at random moves to its front. Words: the next node, the one before. */
KERNEL(move_to_front)
{
	uint64_t x = 1;

	STEPS(i)
	{
		const size_t node = (drawn(x = next(x), n / LINE) | 1) * LINE, head = 0;
		const size_t after = w[node], before = w[node + 1], first = w[head];

		if (first == node)
			continue;
		w[before] = after;
		w[after + 1] = before;
		w[head] = node;
		w[node] = first;
		w[node + 1] = head;
		w[first + 1] = node;
	}
	return w[0];
}

/* Three coordinates and their speeds, an eighth of the memory each. */
KERNEL(move_points)
{
	const size_t part = n / 8;
	double *d = real(w);

	STEPS(i)
	{
		const size_t k = i & (part - 1);

		d[k] += d[3 * part + k] * 0.5;
		d[part + k] += d[4 * part + k] * 0.5;
		d[2 * part + k] += d[5 * part + k] * 0.5;
	}
	return w[1];
}

/* A heap whose least key is replaced: on the way down the lesser child moves up. */
KERNEL(sift_down)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < steps;) {
		const uint64_t key = (x = next(x)) >> 33;
		size_t at = 1;

		for (; 2 * at + 1 < n; i++) {
			const size_t child = 2 * at + (w[2 * at + 1] < w[2 * at]);

			w[at] = w[child];
			at = child;
		}
		w[at] = key;
	}
	return w[1];
}

/* Follows parents, four steps from a node at random. */
KERNEL(find_roots)
{
	uint64_t x = 1, s = 0;

	for (uint64_t i = 0; i < steps; i += 4) {
		uint64_t p = drawn(x = next(x), n);

		for (int k = 0; k < 4; k++)
			p = w[p];
		s += p;
	}
	return s;
}

/* Distributes words over 64 parts of the other half, each filled in order. */
KERNEL(partition)
{
	uint64_t *to = w + n / 2;
	uint64_t used[64] = {0};
	const size_t room = n / 128;

	STEPS(i)
	{
		const uint64_t word = w[i & (n / 2 - 1)], part = word & 63;
		to[part * room + (used[part]++ & (room - 1))] = word;
	}
	return to[1];
}

/* A table that leads to tables of 16 words. */
KERNEL(two_tables)
{
	uint64_t x = 1, s = 0;

	STEPS(i)
	{
		x = next(x);
		s += w[(w[drawn(x, n / 2)] & (n / 32 - 1)) * 16 + n / 2 + (x >> 20 & 15)];
	}
	return s;
}

/* Three bits of a filter for each key. */
KERNEL(filter)
{
	uint64_t x = 1, found = 0;

	STEPS(i)
	{
		const uint64_t a = x = next(x), b = a * 0x9e3779b97f4a7c15u, c = b * 0x9e3779b97f4a7c15u;

		found +=
		    w[drawn(a, n)] >> (a & 63) & w[drawn(b, n)] >> (b & 63) & w[drawn(c, n)] >> (c & 63) & 1;
	}
	return found;
}

/* Rows of 64 words times a vector. */
KERNEL(rows_by_vector)
{
	double *a = real(w), v[64] = {1, 2, 3}, sum = 0;

	for (uint64_t i = 0; i < steps; i += 64) {
		double row = 0;

		for (size_t k = 0; k < 64; k++)
			row += a[(i & (n - 1)) + k] * v[k];
		sum += row * 0.5;
	}
	return (uint64_t)sum;
}

static const struct loop loops[] = {
    ROW(count_keys, 20, NUMBERS),   ROW(sparse_rows, 40, NUMBERS),  ROW(transpose_in_blocks, 40, NUMBERS),
    ROW(merge_runs, 25, NUMBERS),   ROW(search_text, 60, NUMBERS),  ROW(probe_in_batches, 12, NUMBERS),
    ROW(move_to_front, 4, RING),    ROW(move_points, 20, REALS),    ROW(sift_down, 12, SORTED),
    ROW(find_roots, 8, SUCCESSORS), ROW(partition, 25, NUMBERS),    ROW(two_tables, 12, NUMBERS),
    ROW(filter, 8, NUMBERS),        ROW(rows_by_vector, 60, REALS),
};

int main(int argc, char **argv) { return run_loop(loops, sizeof loops / sizeof *loops, argc, argv); }
