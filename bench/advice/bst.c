/* SPDX-License-Identifier: MIT
 *
 * bst.c - a binary search tree.  Fault: nodes lie in the order in which they were inserted.  Repaired: keys are sorted in
 * an array of blocks, and an index of their first keys is searched before the block.
 */
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 100000, LOOKUPS = 200000, BLOCK = 16 };

struct node {
	struct node *left, *right;
	unsigned key;
	int value;
};

static struct node *root;
static unsigned keys[KEYS], firsts[KEYS / BLOCK + 1], state = 1;

static unsigned draw(void) { return (state = state * 1664525 + 1013904223) >> 4; }

static void insert(unsigned key)
{
	struct node **at = &root;

	while (*at)
		at = key < (*at)->key ? &(*at)->left : &(*at)->right;
	*at = malloc(sizeof **at);
	**at = (struct node){NULL, NULL, key, 1};
}

static int find(unsigned key)
{
	const struct node *n = root;

	while (n && n->key != key)
		n = key < n->key ? n->left : n->right;
	return n ? n->value : 0;
}

static int compare(const void *a, const void *b)
{
	const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

static int search(unsigned key)
{
	unsigned low = 0, high = KEYS / BLOCK;

	while (high - low > 1) {
		const unsigned middle = (low + high) / 2;

		if (firsts[middle] <= key)
			low = middle;
		else
			high = middle;
	}
	for (unsigned i = low * BLOCK; i < (low + 1) * BLOCK; i++)
		if (keys[i] == key)
			return 1;
	return 0;
}

int main(void)
{
#ifdef REPAIRED
	const int repaired = 1;
#else
	const int repaired = 0;
#endif
	long found = 0;

	for (int i = 0; i < KEYS; i++) {
		keys[i] = draw();
		if (!repaired)
			insert(keys[i]);
	}
	if (repaired) {
		qsort(keys, KEYS, sizeof *keys, compare);
		for (int i = 0; i < KEYS / BLOCK; i++)
			firsts[i] = keys[i * BLOCK];
	}
	for (int i = 0; i < LOOKUPS; i++)
		found += repaired ? search(draw()) : find(draw());
	return printf("%ld\n", found) < 0;
}
