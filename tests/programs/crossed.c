/* SPDX-License-Identifier: MIT
 *
 * crossed.c - nodes and counts of 128 bytes, used in turn: in a direct-mapped cache of 4K the first line of a node and that
 * of its count evict each other, unless the node's number lies in its second line.
 */
#include <stdio.h>

enum { NODES = 32, TURNS = 2000 };

static _Alignas(4096) struct node {
	volatile long number;
	long first[7], second[8];
} nodes[NODES];

static _Alignas(4096) struct count {
	volatile long sum;
	long unused[15];
} counts[NODES];

int main(void)
{
	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i < NODES; i++)
			counts[i].sum += nodes[i].number;
	printf("%ld\n", counts[0].sum);
	return 0;
}
