/* SPDX-License-Identifier: MIT
 *
 * sites.c - allocation sites that only their addresses tell apart when there is no debug information: three in one
 * function, of which the last is a tail call; pointers in variables with symbols; a helper that clears; nodes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 15 };

struct node {
	struct node *next;
	long value[3];
};

double *a, *b, *c;
struct {
	long n;
	double *field, *other;
} state;

__attribute__((noinline)) double *grow(long n)
{
	a = malloc(n * sizeof *a);
	b = malloc(n * sizeof *b);
	return malloc(n * sizeof *c);
}

/* Hands out memory of any size. */
__attribute__((noinline)) void *take(long n)
{
	long *block = malloc(n + 16);

	if (!block)
		exit(1);
	memset(block, 0, n + 16);
	block[0] = n;
	return block + 2;
}

/* Makes nodes, at two calls. */
__attribute__((noinline)) struct node *make(struct node *next, long value)
{
	struct node *node = malloc(sizeof *node);

	node->next = next;
	node->value[0] = value;
	return node;
}

int main(void)
{
	struct node *list = NULL;
	double *local, sum = 0;

	c = grow(N);
	state.n = N;
	state.field = take(N * sizeof(double));
	state.other = take(N * sizeof(double) / 2);
	local = take(N * sizeof(double) * 2);
	for (long i = 0; i < 1000; i++)
		list = i & 1 ? make(list, i) : make(list, -i);
	for (long i = 0; i < N; i++)
		a[i] = i, b[i] = 1, c[i] = a[i] * b[i], state.field[i] = c[i], state.other[i / 2] = c[i],
		local[i] = 1;
	for (long i = 0; i < N; i += 100)
		sum += c[i] + local[i] + state.field[i] + state.other[i / 2];
	for (; list; list = list->next)
		sum += (double)list->value[0];
	printf("%f\n", sum);
}
