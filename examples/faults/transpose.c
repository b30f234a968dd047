/* SPDX-License-Identifier: MIT
 *
 * transpose.c - rows of a power of two of bytes: the lines of a column meet in few sets and push each other
 * out. REPAIRED: rows are a line longer than what is used of them.
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef REPAIRED
enum { N = 256, ROW = N + 8 };
#else
enum { N = 256, ROW = N };
#endif

static double from[N][ROW], to[N][ROW];

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 8;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			from[i][j] = i - j;
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				to[j][i] = from[i][j] + round;
	printf("%g\n", to[1][0]);
	return 0;
}
