/* SPDX-License-Identifier: MIT
 *
 * oneline.c - types of blocks: two calls of one line, and a mapping as long as its structures, up to the end of
 * its last page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { N = 10000 };

struct row {
	long count;
	int cells[];
};
struct item {
	long key, value;
	double weight;
};

int main(void)
{
	const int mode = MAP_PRIVATE | MAP_ANONYMOUS;
	struct item *items = mmap(NULL, N * sizeof *items, PROT_READ | PROT_WRITE, mode, -1, 0); /* @items */
	struct row *row;
	double *list, sum = 0;

	if (!(row = malloc(sizeof *row + N * sizeof(int))) || !(list = malloc(N * sizeof *list))) /* @both */
		return 1;
	if (items == MAP_FAILED)
		return 1;
	for (int i = 0; i < N; i++) {
		row->cells[i] = i;
		list[i] = i;
		items[i].value = i;
	}
	for (int i = 0; i < N; i++)
		sum += row->cells[i] * list[i] + (double)items[i].value;
	printf("%g\n", sum);
	return 0;
}
