/* SPDX-License-Identifier: MIT
 *
 * matrix.c - the same sum in two orders: along the rows, as the matrix lies in memory, or down the columns.
 *
 *     gcc -g -O1 -o matrix matrix.c
 *     nearmiss record -- ./matrix columns
 *     nearmiss report
 *
 * The matrix has 4,000,000 bytes = 62,500 lines of 64 bytes. Along the rows each line is loaded once
 * and serves 16 integers. Down the columns 1000 lines come between two uses of a line; a first-level
 * cache of 32 KiB holds 512, so nearly every one of the 1,000,000 references loads a line for 4 bytes.
 */
#include <stdio.h>
#include <string.h>

enum { N = 1000 };

static _Alignas(64) int matrix[N][N];

static long sum_rows(void)
{
	long sum = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			sum += matrix[i][j]; /* @row */
	return sum;
}

static long sum_columns(void)
{
	long sum = 0;

	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
			sum += matrix[i][j]; /* @column */
	return sum;
}

int main(int argc, char **argv)
{
	long (*sum)(void) = argc > 1 && strcmp(argv[1], "columns") == 0 ? sum_columns : sum_rows;

	matrix[N - 1][N - 1] = 1; /* @store */
	printf("sum %ld\n", sum());
	return 0;
}
