/* SPDX-License-Identifier: MIT
 *
 * border.c - a power of two as leading dimension: the left border of a grid is refreshed, over and over.
 *
 *     gcc -g -O1 -o border border.c                  gcc -g -O1 -DREPAIRED=1 -o border-padded border.c
 *     nearmiss record --sets --cache L1d=32K,8,64:L2=1M,16,64 -- ./border
 *     nearmiss evictions --sets --evictor grid --victim grid
 *
 * The border has 64 cells, one a row: 64 lines of 64 bytes, 4 KiB in all, an eighth of the cache. A row of 1024 doubles
 * is 8 KiB, and lines that lie 4 KiB or a multiple of it apart share a set of a cache of 64 sets: all of the border wants
 * the 8 ways of one set. With a row that is a line longer they spread over all sets.
 */
#include <stdio.h>

enum { ROWS = 64, COLUMNS = 1024, ROUNDS = 1000 };

#ifdef REPAIRED
enum { LEADING = COLUMNS + 8 };
#else
enum { LEADING = COLUMNS };
#endif

static _Alignas(64) double grid[ROWS][LEADING];

static void refresh(double value)
{
	for (int i = 0; i < ROWS; i++)
		grid[i][0] = value; /* @border */
}

int main(void)
{
	for (int round = 0; round < ROUNDS; round++)
		refresh(round);
	printf("%g\n", grid[ROWS - 1][0]);
	return 0;
}
