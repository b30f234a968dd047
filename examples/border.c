/* SPDX-License-Identifier: MIT
 *
 * border.c - a power of two as leading dimension: the left border of a grid is refreshed, over and over.
 *
 *     gcc -g -O1 -o border border.c                  gcc -g -O1 -DREPAIRED=1 -o border-padded border.c
 *     nearmiss record --sets --cache L1d=32K,8,64:L2=1M,16,64 -- ./border
 *     nearmiss evictions --sets --evictor grid --victim grid
 *
 * The border has 64 cells, one per row: 64 lines of 64 bytes, an eighth of the cache. A row of 1024 doubles has
 * 8 KiB, and lines that are a multiple of 4 KiB apart share one of the 64 sets: the whole border competes for
 * the 8 ways of one set. If rows are one line longer, the border spreads over all sets.
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
