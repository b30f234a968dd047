/* SPDX-License-Identifier: MIT
 *
 * growth.c - a tree or a list of as many heap nodes as is asked for, then as many steps through it.
 *
 * Arguments: "tree", "loop" (a tree that is built without recursion) or "list"; nodes; steps. A tree is
 * walked from its root down, by chance; a list's nodes follow each other by chance.
 */
#include <string.h>

#include "lots.h"

struct node {
	struct node *next[2];
	long value;
};

static struct node *new_node(void) { return (struct node *)need(calloc(1, sizeof(struct node))); }

static struct node *build(long nodes)
{
	struct node *n;

	if (!nodes)
		return NULL;
	n = new_node();
	n->value = nodes;
	n->next[0] = build((nodes - 1) / 2);
	n->next[1] = build(nodes - 1 - (nodes - 1) / 2);
	return n;
}

/* As build, but for the order of nodes. */
static struct node *build_by_loop(long nodes)
{
	struct node **all = (struct node **)need(calloc((size_t)nodes, sizeof *all)), *root;

	for (long i = 0; i < nodes; i++) {
		all[i] = new_node();
		all[i]->value = nodes - i;
		if (i)
			all[(i - 1) / 2]->next[(i - 1) % 2] = all[i];
	}
	root = all[0];
	free(all);
	return root;
}

/* A ring: Sattolo's shuffle makes one cycle of all nodes. */
static struct node *build_list(long nodes)
{
	struct node **all = (struct node **)need(calloc((size_t)nodes, sizeof *all)), *first, *other;

	for (long i = 0; i < nodes; i++) {
		all[i] = new_node();
		all[i]->value = i;
	}
	for (long i = nodes - 1; i > 0; i--) {
		uint32_t k = draw_below((uint32_t)i);

		other = all[i];
		all[i] = all[k];
		all[k] = other;
	}
	for (long i = 0; i < nodes; i++)
		all[i]->next[0] = all[(i + 1) % nodes];
	first = all[0];
	free(all);
	return first;
}

int main(int argc, char **argv)
{
	long nodes = argument(argc, argv, 2), steps = argument(argc, argv, 3), sum = 0;
	int list = !strcmp(argv[1], "list");
	struct node *root = list                       ? build_list(nodes)
			    : !strcmp(argv[1], "loop") ? build_by_loop(nodes)
						       : build(nodes);
	uint64_t lots = 0;

	for (const struct node *n = root; steps; steps--) {
		lots = lots > 1 ? lots >> 1 : draw() | 1ull << 63;
		sum += n->value;
		n = n->next[list ? 0 : lots & 1];
		n = n ? n : root;
	}
	printf("%ld\n", sum);
	return 0;
}
