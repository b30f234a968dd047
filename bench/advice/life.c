/* SPDX-License-Identifier: MIT
 *
 * life.c - the game of life.  Fault: a cell, which is 0 or 1, is an int.  Repaired: it is a char.
 */
#include <stdio.h>

#ifdef REPAIRED
typedef unsigned char cell;
#else
typedef int cell;
#endif

enum { SIZE = 700, STEPS = 8 };
static cell boards[2][SIZE + 2][SIZE + 2];

static void step(cell (*from)[SIZE + 2], cell (*to)[SIZE + 2])
{
	for (int y = 1; y <= SIZE; y++)
		for (int x = 1; x <= SIZE; x++) {
			int n = from[y - 1][x - 1] + from[y - 1][x] + from[y - 1][x + 1] + from[y][x - 1] +
				from[y][x + 1] + from[y + 1][x - 1] + from[y + 1][x] + from[y + 1][x + 1];

			to[y][x] = (cell)(n == 3 || (n == 2 && from[y][x]));
		}
}

int main(void)
{
	long alive = 0;

	for (int y = 1; y <= SIZE; y++)
		for (int x = 1; x <= SIZE; x++)
			boards[0][y][x] = (cell)((x * 7 + y * 13) % 5 < 2);
	for (int i = 0; i < STEPS; i++)
		step(boards[i % 2], boards[1 - i % 2]);
	for (int y = 1; y <= SIZE; y++)
		for (int x = 1; x <= SIZE; x++)
			alive += boards[0][y][x];
	return printf("%ld\n", alive) < 0;
}
