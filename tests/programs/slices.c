/* SPDX-License-Identifier: MIT
 *
 * slices.c - arrays of which each part is used another number of times: row or element i is visited i + 1 times, and
 * of a visited row each element once.
 */
#include <stdlib.h>

enum { ROWS = 16, COLUMNS = 32 };

struct item {
	long count, price;
	char text[48];
};

static int grid[ROWS][COLUMNS] __attribute__((aligned(64)));

/* Released and allocated again, at other places too. */
static __attribute__((noinline)) struct item *make_items(void)
{
	struct item *items = malloc(ROWS * sizeof *items);

	if (!items)
		exit(1);
	return items;
}

static __attribute__((noinline)) void visit_grid(void)
{
	for (int i = 0; i < ROWS; i++)
		for (int times = 0; times <= i; times++)
			for (int j = 0; j < COLUMNS; j++)
				*(volatile int *)&grid[i][j] = j;
}

static __attribute__((noinline)) void visit_items(void)
{
	struct item *items = make_items();

	for (int i = 0; i < ROWS; i++)
		for (int times = 0; times <= i; times++)
			*(volatile long *)&items[i].price = times;
	free(items);
}

static __attribute__((noinline)) void visit_flat(double *flat)
{
	for (int i = 0; i < ROWS; i++)
		for (int times = 0; times <= i; times++)
			for (int j = 0; j < COLUMNS; j++)
				*(volatile double *)&flat[i * COLUMNS + j] = j;
}

int main(void)
{
	double *flat = malloc(ROWS * COLUMNS * sizeof *flat);
	void *gap;

	if (!flat)
		return 1;
	visit_grid();
	visit_items();
	gap = malloc(40);
	visit_items();
	visit_flat(flat);
	free(gap);
	free(flat);
	return 0;
}
