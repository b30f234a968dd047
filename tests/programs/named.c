/* SPDX-License-Identifier: MIT
 *
 * named.c - blocks that the program names alike: the nodes of a list in random order, larger than L1d.
 */
#include <nearmiss/client.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 3000, WALKS = 20, STEP = 1103 /* prime to NODES */ };

struct node {
	struct node *next;
	long key;
	char text[48];
};

int main(void)
{
	static struct node *all[NODES];
	long sum = 0;

	for (int i = 0; i < NODES; i++) {
		all[i] = calloc(1, sizeof *all[i]);
		NEARMISS_NAME(all[i], sizeof *all[i], "nodes");
	}
	for (long i = 0; i < NODES; i++)
		all[i * STEP % NODES]->next = all[(i + 1) * STEP % NODES];
	for (int w = 0; w < WALKS; w++)
		for (struct node *n = all[0], *end = NULL; n != end; n = n->next, end = all[0])
			sum += n->key; /* @follow */
	printf("%ld\n", sum);
	return 0;
}
