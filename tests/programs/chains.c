/* SPDX-License-Identifier: MIT
 *
 * chains.c - blocks that one function allocates for many: only the whole chain of calls tells what they are
 * for. Each caller asks for as many blocks of 64 bytes as stands in its comment, and writes to each once.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 64, DEEP = 30 };

struct node {
	struct node *next;
	long words[7];
};

static struct node *kept;

static __attribute__((noinline)) void *safe_malloc(size_t bytes)
{
	void *block = malloc(bytes);

	if (!block)
		abort();
	return block;
}

static __attribute__((noinline)) struct node *new_node(void)
{
	struct node *node = safe_malloc(sizeof *node); /* @node */

	node->next = kept;
	kept = node;
	return node;
}

static __attribute__((noinline)) void fill(int count)
{
	for (int i = 0; i < count; i++)
		new_node()->words[0] = i; /* @fill */
}

static __attribute__((noinline)) void left(void) /* 100 */
{
	fill(100); /* @left */
	kept->words[1]++;
}

static __attribute__((noinline)) void right(void) /* 200 and 300, two lines */
{
	fill(200);
	fill(300);
	kept->words[1]++;
}

/* 400: deeper than any list of frames that is cut. */
static __attribute__((noinline)) void descend(int depth, void (*last)(void))
{
	if (depth)
		descend(depth - 1, last);
	else
		last();
	kept->words[2]++;
}

static __attribute__((noinline)) void bottom(void)
{
	fill(400);
	kept->words[1]++;
}

static __attribute__((noinline)) void other_bottom(void) /* 500, from as deep */
{
	fill(500);
	kept->words[1]++;
}

/* 10: cleared before anybody knows their address. */
static __attribute__((noinline)) void *cleared(void) { return calloc(1, 4096); }

static __attribute__((noinline)) void clear_some(int count)
{
	for (int i = 0; i < count; i++)
		memset((char *)cleared() + 64, 1, 64);
}

static __attribute__((noinline)) void first(void) { clear_some(4); }
static __attribute__((noinline)) void second(void) { clear_some(6); }

static __attribute__((noinline)) void alone(void) { *(volatile char *)malloc(BYTES) = 1; } /* 1 */

int main(void)
{
	pid_t child;

	left();
	right();
	descend(DEEP, bottom);
	descend(DEEP, other_bottom);
	first();
	second();
	alone();
	child = fork();
	if (!child) {
		left(); /* in a tree of its own */
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}
