/* SPDX-License-Identifier: MIT
 *
 * tree.c - bitonic sort over a binary tree of small heap nodes, built recursively.
 *
 * After Bilardi and Nicolau, "Adaptive Bitonic Sorting" (1989): the values of a tree's in-order walk are
 * sorted by swaps of values and of subtrees. Argument: the tree has 2^N nodes.
 */
#include "lots.h"

struct node {
	int value;
	struct node *left, *right;
};

static struct node *build(unsigned levels)
{
	struct node *n;

	if (!levels)
		return NULL;
	n = (struct node *)need(malloc(sizeof *n));
	n->value = (int)(draw() & 0x3fffffff);
	n->left = build(levels - 1);
	n->right = build(levels - 1);
	return n;
}

static void swap_values(struct node *a, struct node *b)
{
	int value = a->value;

	a->value = b->value;
	b->value = value;
}

static void swap_left(struct node *a, struct node *b)
{
	struct node *left = a->left;

	a->left = b->left;
	b->left = left;
}

static void swap_right(struct node *a, struct node *b)
{
	struct node *right = a->right;

	a->right = b->right;
	b->right = right;
}

/* Sorts a bitonic tree and the value behind it, which is returned; down: in falling order. */
static int merge(struct node *root, int spare, int down)
{
	struct node *l, *r;
	int right_wrong, wrong;

	if ((root->value > spare) != down) {
		int value = root->value;

		root->value = spare;
		spare = value;
		right_wrong = 1;
	} else {
		right_wrong = 0;
	}
	for (l = root->left, r = root->right; l;) {
		wrong = (l->value > r->value) != down;
		if (wrong) {
			swap_values(l, r);
			if (right_wrong)
				swap_left(l, r);
			else
				swap_right(l, r);
		}
		if (wrong == right_wrong) {
			l = l->right;
			r = r->right;
		} else {
			l = l->left;
			r = r->left;
		}
	}
	if (root->left) {
		root->value = merge(root->left, root->value, down);
		spare = merge(root->right, spare, down);
	}
	return spare;
}

static int sort(struct node *root, int spare, int down)
{
	if (!root->left) {
		if ((root->value > spare) != down) {
			int value = root->value;

			root->value = spare;
			return value;
		}
		return spare;
	}
	root->value = sort(root->left, root->value, down);
	spare = sort(root->right, spare, !down);
	return merge(root, spare, down);
}

static long sum_up(const struct node *n)
{
	return n ? n->value % 7 + sum_up(n->left) - 2 * sum_up(n->right) : 0;
}

int main(int argc, char **argv)
{
	struct node *root = build((unsigned)argument(argc, argv, 1));
	int spare = sort(root, 12345, 0);

	printf("%d %ld\n", spare, sum_up(root));
	return 0;
}
