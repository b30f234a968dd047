/* SPDX-License-Identifier: MIT
 *
 * symbols.c - variables and inlined calls for the tests of symbols to find. tests/unit/symbol knows their
 * names, types and lines: keep them in step.
 */
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *next;
	int value;
};

int matrix[1000][1000];
struct node *heads[512];
int unused[100000]; /* a linker may leave it out */
double (*table)[100];
int (*callbacks[4])(int, struct node *);
const char *const words[] = {"near", "miss"};
static unsigned long bits[3];
_Thread_local int depth = 3;
static _Thread_local long history[7];

static inline __attribute__((always_inline)) int leaf(int x) { return matrix[x][x] + 1; /* line of leaf */ }

static inline __attribute__((always_inline)) int middle(int x) { return leaf(x) * 3; /* line of middle */ }

__attribute__((noinline)) int work(int n)
{
	static int calls;
	static long seen[16];
	int sum = 0;
	calls++;
	seen[n & 15]++;
	history[n & 3]++;
	depth += n;
	for (int i = 0; i < n; i++)
		sum += middle(i); /* line of work */
	return sum + calls;
}

__attribute__((cold, noinline)) static void fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

int main(int argc, char **argv)
{
	if (argc > 1000)
		fail(argv[0]);
	heads[argc] = malloc(sizeof(struct node));
	bits[argc & 1]++;
	fprintf(stdout, "%d %s\n", work(argc) + (heads[argc] != NULL), words[argc & 1]);
	return 0;
}

struct padded {
	_Alignas(64) long sum;
};
struct padded paddeds[2];
_Alignas(128) long sums[4];
