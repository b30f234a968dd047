/* SPDX-License-Identifier: MIT
 *
 * later.c - faults and their repairs of other kinds than those of placed.c and walked.c (pairs.h): to see how well the
 * ends of the cost model's figures hold, which were widened in view of those two files.
 */
#include "pairs.h"

/* 0 to n - 1: shuffled, or in order. */
static void shuffled(uint64_t *a, size_t n, int in_order)
{
	uint64_t x = 7;

	EACH(i, n) a[i] = i;
	for (size_t i = n - 1; i && !in_order; i--) {
		const size_t k = (size_t)((x = next(x)) >> 33) % (i + 1);
		const uint64_t t = a[i];

		a[i] = a[k];
		a[k] = t;
	}
}

/* A tree of tables of 16 children: six steps for each key; keys come in order or not. */
static void table_tree(uint64_t *w, size_t n, int repaired)
{
	const size_t tables = n / 16;
	uint64_t x = 3;

	(void)repaired;
	EACH(i, n) w[i] = drawn(x = next(x), tables) * 16;
}
PAIR(tables_of_16)
{
	uint64_t x = 1, s = 0;

	EACH(i, MILLION / 2)
	{
		const uint64_t key = (x = next(x)) >> (repaired ? 55 : 40);
		size_t at = 0;

		EACH(k, 6) at = w[at + (key >> 4 * k & 15)];
		s += at;
	}
	return s;
}

/* Lists of edges, four for each of the nodes: next edge, node. Edges lie in the order of nodes, or anywhere. */
static void edges(uint64_t *w, size_t n, int repaired)
{
	const size_t nodes = n / 16;
	uint64_t *edge = w + n / 2, *place = w + n / 4, x = 5;

	shuffled(place, 4 * nodes, repaired);
	EACH(i, 4 * nodes)
	{
		uint64_t *e = edge + 2 * place[i];

		e[0] = i % 4 == 3 ? 0 : 2 * place[i + 1] + 1;
		e[1] = repaired ? (i + 1) & (nodes - 1) : drawn(x = next(x), nodes);
		if (i % 4 == 0)
			w[nodes + i / 4] = 2 * place[i] + 1;
	}
}
PAIR(edges_of_nodes)
{
	const size_t nodes = n / 16;
	const uint64_t *edge = w + n / 2;
	uint64_t s = 0;

	EACH(i, MILLION / 2)
	for (uint64_t e = w[nodes + (i & (nodes - 1))]; e; e = edge[e - 1])
		s += w[edge[e]];
	return s;
}

/* One digit of a radix sort: 4096 parts, or the two halves of the digit, one after the other. */
PAIR(digits)
{
	static uint64_t used[4096];
	const unsigned bits = repaired ? 6 : 12;

	TIMES(2)
	{
		EACH(k, 4096) used[k] = 0;
		EACH(i, WORDS / 2)
		{
			const size_t part = (i * 0x9e3779b97f4a7c15u) >> (64 - bits);
			w[(WORDS / 2 + (part << (21 - bits)) + used[part]++ % 512) & mask] = w[i & mask];
		}
	}
	return w[WORDS / 2 & mask];
}

/* Four neighbours in a picture at places that jump, or move along. */
PAIR(interpolated)
{
	const double *a = real(w);
	uint64_t x = 1;
	double s = 0;

	EACH(i, MILLION)
	{
		x = next(x);
		const size_t k = repaired ? i * 2 : drawn(x, WORDS);
		const double f = (double)(x & 255) / 256;

		s += (a[k & mask] * f + a[(k + 1) & mask]) * f + a[(k + 2000) & mask] * f +
		     a[(k + 2001) & mask];
	}
	return (uint64_t)s;
}

/* The order of a Fourier transform: places with their bits reversed, or the same. */
PAIR(bits_reversed)
{
	double *a = real(w);

	EACH(i, WORDS / 2)
	{
		size_t k = 0;

		for (unsigned bit = 0; bit < 7; bit++)
			k |= (i >> 3 * bit & 7) << 3 * (6 - bit);
		k = repaired ? i + (k & 1) : k;
		a[k & mask] += a[(WORDS / 2 + i) & mask];
	}
	return w[1];
}

/* Butterflies of a Fourier transform, far apart or within 16K, in all stages. */
PAIR(butterflies)
{
	double *a = real(w);

	for (unsigned stage = 0; stage < 4; stage++) {
		const size_t apart = (repaired ? 64 : WORDS / 32) << stage, block = repaired ? STILL : WORDS;

		for (size_t at = 0; at < WORDS / 4; at += block / 4)
			EACH(i, block / 4)
			{
				const size_t k = at * 2 + i;
				const double t = a[(k + apart) & mask];

				a[(k + apart) & mask] = a[k & mask] - t;
				a[k & mask] += t;
			}
	}
	return w[1];
}

/* Accounts of 32 bytes that orders lead to, each of which changes. */
static void accounts(uint64_t *w, size_t n, int repaired)
{
	numbers(w, n / 2, repaired);
	shuffled(w + n / 2, n / 8, repaired);
}
PAIR(accounts_changed)
{
	const uint64_t *order = w + n / 2;
	double *a = real(w);

	TIMES(4) EACH(i, MILLION / 2)
	{
		double *account = a + order[i & (n / 8 - 1)] * 4;

		account[0] += account[1] * 0.01;
		account[2] += 1;
	}
	return w[2];
}

/* Each element of the columns of a matrix with rows of 8K is changed, or of its rows. */
PAIR(columns_changed)
{
	const size_t outer = repaired ? 1024 : 1, inner = repaired ? 1 : 1024;
	double *a = real(w);

	TIMES(4) EACH(i, 1024) EACH(j, 1024)
	{
		const size_t k = (i * outer + j * inner) & mask;
		a[k] = a[k] * 0.5 + 1;
	}
	return w[1];
}

/* Words of a text of 32M whose marks are in a table of 8M, or of 8K. */
PAIR(marks_of_words)
{
	const size_t marks = repaired ? 1023 : MILLION - 1;
	uint64_t s = 0;

	EACH(i, 2 * MILLION)
	{
		const uint64_t word = w[(2 * MILLION + i) & mask] * 0x9e3779b97f4a7c15u;
		s += w[word >> 40 & marks & mask] & 1;
	}
	return s;
}

/* Windows of three arrays, of which each has a quarter: 16 words from each, in order or not. */
static void windows(uint64_t *w, size_t n, int repaired)
{
	numbers(w, n, repaired);
	shuffled(w, n / 64, repaired);
}
PAIR(windows_of_three)
{
	const double *a = real(w) + n / 4, *b = a + n / 4, *c = b + n / 4;
	double s = 0;

	TIMES(2) EACH(i, MILLION / 16)
	{
		const size_t k = w[i & (n / 64 - 1)] * 16;

		EACH(j, 16) s += a[k + j] * b[k + j] + c[k + j];
	}
	return (uint64_t)s;
}

static void numbered(uint64_t *w, size_t n, int repaired)
{
	(void)repaired;
	set_up(w, n, NUMBERS);
}

static const struct pair pairs[] = {
    BOTH(tables_of_16, table_tree),   BOTH(edges_of_nodes, edges),    BOTH(digits, numbered),
    BOTH(interpolated, numbers),      BOTH(bits_reversed, numbers),   BOTH(butterflies, numbers),
    BOTH(accounts_changed, accounts), BOTH(columns_changed, numbers), BOTH(marks_of_words, numbered),
    BOTH(windows_of_three, windows),
};

int main(int argc, char **argv) { return run_pair(pairs, sizeof pairs / sizeof *pairs, argc, argv); }
