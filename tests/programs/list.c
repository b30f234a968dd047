/* SPDX-License-Identifier: MIT
 *
 * list.c - a linked list whose nodes come through two layers of allocation wrappers.
 *
 * 20,000 nodes of 64 bytes are walked eight times: 1.28 MB of nodes plus malloc's headers pass through a
 * first level of 32 KiB, so every node misses in every walk. The bucket must bear the name of the caller
 * that matters, make_node, and not those of xmalloc and xnew, which only forward.
 */
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 20000, WALKS = 8 };

struct node {
	struct node *next;
	long value;
	char rest[48];
};

static __attribute__((noinline)) void *xmalloc(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

static __attribute__((noinline)) void *xnew(size_t count, size_t bytes)
{
	if (bytes && count > (size_t)-1 / bytes) {
		fprintf(stderr, "too much memory asked for\n");
		exit(1);
	}
	return xmalloc(count * bytes);
}

static __attribute__((noinline)) struct node *make_node(long value, struct node *next)
{
	struct node *node = xnew(1, sizeof *node); /* @allocation */

	node->value = value;
	node->next = next;
	return node;
}

static __attribute__((noinline)) long walk(const struct node *node)
{
	long sum = 0;

	for (; node; node = node->next) /* @next */
		sum += node->value;     /* @value */
	return sum;
}

int main(void)
{
	struct node *list = NULL;
	long sum = 0;

	for (long i = 0; i < NODES; i++)
		list = make_node(i, list);
	for (int i = 0; i < WALKS; i++)
		sum += walk(list);
	printf("%ld\n", sum);
	while (list) {
		struct node *next = list->next;

		free(list);
		list = next;
	}
	return 0;
}
