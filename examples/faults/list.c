/* SPDX-License-Identifier: MIT
 *
 * list.c - a list linked in random order: each step waits for
 * a line from memory.
 * REPAIRED: the nodes are linked in the order of their addresses.
 */
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 100000 };

struct node {
	struct node *next;
	long value;
};

static struct node *nodes[NODES];

#ifndef REPAIRED
static unsigned long state = 1;

static unsigned long draw(void)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 33;
}

static void shuffle(void)
{
	for (unsigned long i = NODES - 1; i > 0; i--) {
		unsigned long other = draw() % (i + 1);
		struct node *node = nodes[i];

		nodes[i] = nodes[other];
		nodes[other] = node;
	}
}
#endif

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	long sum = 0;

	for (long i = 0; i < NODES; i++) {
		struct node *node = malloc(sizeof *node);

		node->value = i;
		nodes[i] = node;
	}
#ifndef REPAIRED
	shuffle();
#endif
	for (long i = 0; i < NODES; i++)
		nodes[i]->next = i + 1 < NODES ? nodes[i + 1] : NULL;
	for (int round = 0; round < rounds; round++)
		for (const struct node *node = nodes[0]; node; node = node->next)
			sum += node->value;
	printf("%ld\n", sum);
	return 0;
}
