/* SPDX-License-Identifier: MIT
 *
 * unions.c - joins sets of points with a forest of parents, in random order.  Fault: each look-up goes up through parents
 * all over the array.  No repair is known that would fit a line; pairs that lie near each other may be joined first.
 */
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 500000, JOINS = 500000 };

static int find(int *parent, int i)
{
	while (parent[i] != i)
		i = parent[i];
	return i;
}

int main(void)
{
	int *parent = malloc(sizeof *parent * POINTS), *rank = calloc(POINTS, sizeof *rank), sets = POINTS;
	unsigned long state = 1;

	for (int i = 0; i < POINTS; i++)
		parent[i] = i;
	for (int n = 0; n < JOINS; n++) {
		int a, b;

		state = state * 6364136223846793005ul + 1442695040888963407ul;
		a = find(parent, (int)((state >> 33) % POINTS));
		state = state * 6364136223846793005ul + 1442695040888963407ul;
		b = find(parent, (int)((state >> 33) % POINTS));
		if (a == b)
			continue;
		if (rank[a] < rank[b]) {
			int t = a;

			a = b;
			b = t;
		}
		parent[b] = a;
		rank[a] += rank[a] == rank[b];
		sets--;
	}
	return printf("%d\n", sets) < 0;
}
