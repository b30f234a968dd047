/* SPDX-License-Identifier: MIT
 *
 * columns.c - means of the columns of a table in one block.  Fault: each column is walked by itself, in rows of 4,096
 * bytes.  Repaired: row by row.
 */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1000, COLUMNS = 1024 };

int main(void)
{
	float *table = malloc(sizeof(float) * ROWS * COLUMNS), mean[COLUMNS] = {0};

	for (int i = 0; i < ROWS * COLUMNS; i++)
		table[i] = (float)(i % 10);
#ifdef REPAIRED
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			mean[j] += table[i * COLUMNS + j] / ROWS;
#else
	for (int j = 0; j < COLUMNS; j++)
		for (int i = 0; i < ROWS; i++)
			mean[j] += table[i * COLUMNS + j] / ROWS;
#endif
	printf("%g %g\n", mean[0], mean[COLUMNS - 1]);
	free(table);
}
