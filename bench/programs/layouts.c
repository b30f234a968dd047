/* SPDX-License-Identifier: MIT
 *
 * layouts.c - data that can be laid out otherwise: built with -DKIND=1 and on, one layout each is another, as somebody
 * would change the source by hand. bench/whatif.py holds what nearmiss predicts of each against its recording.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef KIND
#define KIND 0
#endif
#define REORDER 1
#define PAD 2
#define SHRINK 3
#define PARALLEL 4
#define POINTER 5
#define SOA 6
#define ALIGN 7
#define MERGE 8
#define POOL 9
#define FIRST_USE 10
#define TRANSPOSE 11
#define ROWS 12
#define OFFSET 13
enum { ITEMS = 20000, NODES = 30000, PLACES = 60000, SIDE = 256, ROOM = 8192, TURNS = 6 };

static unsigned long state = 1;

static unsigned draw(unsigned below)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(state >> 33) % below;
}

/* ---- structures ---- */

#if KIND == REORDER
struct item {
	long key;
	double weight;
	int count, flags;
	char name[40];
};
#elif KIND == PARALLEL || KIND == POINTER
struct details {
	char name[40];
	double weight;
	int flags;
};
struct item {
	long key;
	int count;
#if KIND == POINTER
	struct details *details;
#endif
};
static struct details *details;
#elif KIND == SOA
struct item {
	char (*name)[40];
	double *weight;
	long *key;
	int *count, *flags;
};
#else
struct item {
	long key;
#if KIND == SHRINK
	char name[16];
#else
	char name[40];
#endif
	int count;
	double weight;
	int flags;
#if KIND == PAD
	char padding[56];
#endif
};
#endif

#if KIND == SOA
static struct item items;
#define KEY(i) items.key[i]
#define COUNT(i) items.count[i]
#define NAME(i) items.name[i]
#define WEIGHT(i) items.weight[i]
#else
static struct item *items;
#define KEY(i) items[i].key
#define COUNT(i) items[i].count
#if KIND == PARALLEL
#define NAME(i) details[i].name
#define WEIGHT(i) details[i].weight
#elif KIND == POINTER
#define NAME(i) items[i].details->name
#define WEIGHT(i) items[i].details->weight
#else
#define NAME(i) items[i].name
#define WEIGHT(i) items[i].weight
#endif
#endif

static void make_items(void)
{
#if KIND == SOA
	items.name = calloc(ITEMS, sizeof *items.name);
	items.weight = calloc(ITEMS, sizeof *items.weight);
	items.key = calloc(ITEMS, sizeof *items.key);
	items.count = calloc(ITEMS, sizeof *items.count);
#elif KIND == ALIGN
	items = aligned_alloc(64, ITEMS * sizeof *items);
#else
	items = calloc(ITEMS, sizeof *items);
#endif
#if KIND == PARALLEL || KIND == POINTER
	details = calloc(ITEMS, sizeof *details);
#endif
	for (int i = 0; i < ITEMS; i++) {
#if KIND == POINTER
		items[i].details = &details[i];
#endif
		KEY(i) = i;
		COUNT(i) = i % 7;
		NAME(i)[0] = 'a';
	}
}

static double use_items(void)
{
	double sum = 0;

	for (int turn = 0; turn < TURNS; turn++) {
		for (int i = 0; i < ITEMS; i++)
			sum += (double)KEY(i) * COUNT(i);
		for (int i = 0; i < ITEMS / 4; i++) {
			const unsigned at = draw(ITEMS);

			WEIGHT(at) += NAME(at)[0];
		}
	}
	return sum;
}

/* ---- two arrays ---- */

#if KIND == MERGE
static struct {
	double x, y;
} both[PLACES];
#define X(i) both[i].x
#define Y(i) both[i].y
#else
static double xs[PLACES], ys[PLACES];
#define X(i) xs[i]
#define Y(i) ys[i]
#endif

static double use_arrays(void)
{
	double sum = 0;

	for (int i = 0; i < PLACES; i++)
		Y(i) = i;
	for (int i = 0; i < PLACES * 3; i++) {
		const unsigned at = draw(PLACES);

		X(at) += 1;
		sum += Y(at);
	}
	return sum;
}

/* ---- blocks ---- */

struct node {
	long value, more;
};
static struct node *nodes[NODES];
static char *texts[NODES];

static struct node *new_node(void)
{
#if KIND == POOL || KIND == FIRST_USE
	static struct node *pool;
	static int used;

	if (!pool)
		pool = malloc(NODES * sizeof *pool);
	return &pool[used++];
#else
	return malloc(sizeof(struct node));
#endif
}

static double use_nodes(void)
{
	double sum = 0;

	for (int i = 0; i < NODES; i++) {
#if KIND != FIRST_USE
		nodes[i] = new_node();
#endif
		texts[i] = malloc(40);
		texts[i][0] = 'b';
	}
	for (int i = 0; i < NODES; i++) { /* 7919 is prime to NODES: each is used first here */
		const int at = (int)((long)i * 7919 % NODES);

#if KIND == FIRST_USE
		nodes[at] = new_node();
#endif
		nodes[at]->value = at;
		nodes[at]->more = i;
	}
	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i < NODES; i++)
			sum += (double)nodes[(long)i * 7919 % NODES]->value;
	return sum;
}

/* ---- rows ---- */

static double square[SIDE][SIDE + (KIND == ROWS ? 8 : 0)];
static double u[ROOM], v[ROOM + (KIND == OFFSET ? 8 : 0)], w[ROOM + (KIND == OFFSET ? 8 : 0)],
    p[ROOM + (KIND == OFFSET ? 8 : 0)], q[ROOM];

static double use_rows(void)
{
	double sum = 0;

	for (int i = 0; i < ROOM; i++)
		u[i] = v[i] = w[i] = p[i] = i;
	for (int turn = 0; turn < TURNS; turn++)
		for (int column = 0; column < SIDE; column++)
			for (int row = 0; row < SIDE; row++)
#if KIND == TRANSPOSE
				sum += square[column][row]++;
#else
				sum += square[row][column]++;
#endif
	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i < ROOM; i++)
			q[i] += u[i] * v[i] + w[i] * p[i];
	return sum + q[5];
}

int main(void)
{
	make_items();
	printf("%g\n", use_items() + use_arrays() + use_nodes() + use_rows());
	return 0;
}
