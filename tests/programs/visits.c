/* SPDX-License-Identifier: MIT
 *
 * visits.c - a list whose nodes are allocated in one order and linked in another. REPAIRED: the first sum copies the
 * nodes into an array, in the order of the list.
 */
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 30000, STEP = 7919 /* prime to NODES */, TURNS = 20 };

struct node {
	long value;
	struct node *next;
	long unused[2];
};

static struct node *nodes[NODES];

static struct node *make_list(void)
{
	for (long i = 0; i < NODES; i++) {
		nodes[i] = malloc(sizeof *nodes[i]);
		*nodes[i] = (struct node){.value = i};
	}
	for (long i = 0; i + 1 < NODES; i++)
		nodes[i * STEP % NODES]->next = nodes[(i + 1) * STEP % NODES];
	return nodes[0];
}

#ifdef REPAIRED
static long sum_and_copy(struct node **list)
{
	struct node *all = malloc(NODES * sizeof *all), *to = all;
	long sum = 0;

	for (const struct node *from = *list; from; from = from->next, to++) {
		*to = *from;
		to->next = from->next ? to + 1 : NULL;
		sum += to->value;
	}
	*list = all;
	return sum;
}
#endif

static long sum_list(const struct node *first)
{
	long sum = 0;

	for (; first; first = first->next)
		sum += first->value;
	return sum;
}

int main(void)
{
	struct node *first = make_list();
	long sum = 0;
	int turn = 0;

#ifdef REPAIRED
	sum += sum_and_copy(&first);
	turn++;
#endif
	for (; turn < TURNS; turn++)
		sum += sum_list(first);
	printf("%ld\n", sum);
	return 0;
}
