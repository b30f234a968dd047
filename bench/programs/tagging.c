/* SPDX-License-Identifier: MIT
 *
 * tagging.c - three kernels whose misses are known, for the rules by which a processor samples (bench/pmu.py). Arrays that
 * nobody writes are external, so that their loads stay.
 *
 *   loop N      of each 16 iterations one loads a line of `far` and one stores to a line of `out`; the others hit
 *   chase N     follows N pointers through `nodes`, in an order that is all over it, and reads `weights` beside each
 *   product N   c = a b, naively, of N rows
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, LINES = 1 << 16, ROWS = 400 };

char far[LINES * LINE], out[LINES * LINE];
unsigned near[256];

struct node {
	struct node *next;
	char rest[LINE - sizeof(struct node *)];
} nodes[LINES];
unsigned weights[LINES];

double a[ROWS][ROWS], b[ROWS][ROWS], c[ROWS][ROWS];

static unsigned loop(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) {
		sum += near[i % 256];
		if (i % 16 == 3)
			sum += (unsigned char)far[i / 16 % LINES * LINE];
		if (i % 16 == 11)
			out[i / 16 % LINES * LINE] = (char)sum;
	}
	return sum;
}

static unsigned chase(unsigned n)
{
	struct node *at = nodes;
	unsigned sum = 0;

	for (unsigned i = 0; i < LINES; i++)
		nodes[i].next = &nodes[(i * 40501u + 12345) % LINES];
	for (unsigned i = 0; i < n; i++, at = at->next)
		sum += weights[at - nodes];
	return sum;
}

static unsigned product(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++)
			for (unsigned j = 0; j < n; j++)
				c[i][k] += a[i][j] * b[j][k];
	return (unsigned)c[n - 1][n - 1];
}

int main(int argc, char **argv)
{
	const unsigned n = argc == 3 ? (unsigned)atoi(argv[2]) : 0;

	if (!n || n > 100000000 || (!strcmp(argv[1], "product") && n > ROWS))
		return 2;
	printf("%u\n", !strcmp(argv[1], "loop")    ? loop(n)
		       : !strcmp(argv[1], "chase") ? chase(n)
						   : product(n));
	return 0;
}
