/* SPDX-License-Identifier: MIT
 *
 * misleading.c - loops that look like a fault which they do not have: what docs/advice.md must not say of them.
 *
 *     misleading NAME
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long state = 1;

static unsigned draw(unsigned below)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(state >> 33) % below;
}

/* The compiler knows no more what the array holds, or that nobody reads it. */
static void hide(void *array) { __asm__ volatile("" : : "r"(array) : "memory"); }

/* Rows of a power of two of bytes, but others push the lines out: the arrays begin multiples of 32K apart. */
static long arrays(void)
{
	enum { SIDE = 64 };
	static double a[SIDE][SIDE] __attribute__((aligned(32768))),
	    b[SIDE][SIDE] __attribute__((aligned(32768))), c[SIDE][SIDE] __attribute__((aligned(32768)));

	hide(a);
	hide(b);
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < SIDE; i++)
			for (int j = 0; j < SIDE; j++)
				c[i][j] += a[i][j] * b[i][j] + round;
	return (long)c[1][1];
}

/* A ring of nodes at random places, which a fully associative cache would hold: no padding helps. */
static long ring(void)
{
	enum { NODES = 4096, USED = 420 };
	static struct node {
		struct node *next;
		long value, spare[6];
	} nodes[NODES];
	static unsigned order[NODES];
	const struct node *node;
	long sum = 0;

	for (unsigned i = 0; i < NODES; i++) {
		const unsigned other = draw(i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	for (unsigned i = 0; i < USED; i++)
		nodes[order[i]].next = &nodes[order[(i + 1) % USED]];
	node = &nodes[order[0]];
	for (int i = 0; i < 200000; i++, node = node->next)
		sum += node->value;
	return sum;
}

/* A block that is written, read back and freed, again and again: all blocks together are larger than any cache. */
static long reused(void)
{
	enum { NUMBERS = 8192, ROUNDS = 600 };
	long sum = 0;

	for (int round = 0; round < ROUNDS; round++) {
		long *block = malloc(NUMBERS * sizeof *block);

		for (int i = 0; i < NUMBERS; i++)
			block[i] = i ^ round;
		for (int i = 0; i < NUMBERS; i++)
			sum += block[i];
		free(block);
	}
	return sum;
}

/* An array of numbers that are wider than most, and no structures. */
static long vectors(void)
{
	typedef float vector __attribute__((vector_size(32)));
	enum { VECTORS = 1 << 15 };
	static vector many[VECTORS];
	float sum = 0;

	hide(many);
	for (int i = 0; i < 200000; i++)
		sum += many[draw(VECTORS)][0];
	return (long)sum;
}

/* A hash table with rows: which row is next follows no order that loops could change. */
static long buckets(void)
{
	enum { ROWS = 8192, KEYS = 16 };
	static int table[ROWS][KEYS];
	long found = 0;

	for (int i = 0; i < 200000; i++) {
		const unsigned key = draw(1u << 30), row = key % ROWS;

		for (int k = 0; k < KEYS; k++) {
			if (!table[row][k])
				table[row][k] = (int)key + 1;
			if (table[row][k] == (int)key + 1 || k == 2) {
				found += k;
				break;
			}
		}
	}
	return found;
}

#define GATHER(from)                   \
	hide(from);                    \
	for (int i = 0; i < 2000; i++) \
		sum += from[draw(NUMBERS)];

/* Fourteen arrays, each with a fourteenth of the cost, at two lines each. */
static long flat(void)
{
	enum { NUMBERS = 1 << 15 };
	static long a[NUMBERS], b[NUMBERS], c[NUMBERS], d[NUMBERS], e[NUMBERS], f[NUMBERS], g[NUMBERS],
	    h[NUMBERS], k[NUMBERS], l[NUMBERS], m[NUMBERS], n[NUMBERS], o[NUMBERS], p[NUMBERS];
	long sum = 0;

	for (int round = 0; round < 10; round++) {
		GATHER(a)
		GATHER(a)
		GATHER(b)
		GATHER(b)
		GATHER(c)
		GATHER(c)
		GATHER(d)
		GATHER(d)
		GATHER(e)
		GATHER(e)
		GATHER(f)
		GATHER(f)
		GATHER(g)
		GATHER(g)
		GATHER(h)
		GATHER(h)
		GATHER(k)
		GATHER(k)
		GATHER(l)
		GATHER(l)
		GATHER(m)
		GATHER(m)
		GATHER(n)
		GATHER(n)
		GATHER(o)
		GATHER(o)
		GATHER(p)
		GATHER(p)
	}
	return sum;
}

/* A pointer is followed through itself behind a branch, but no further: each look-up begins anew. */
static long leaves(void)
{
	enum { NODES = 100000, ROUNDS = 3 };
	struct leaf {
		long value, rest[7];
	};
	struct node {
		struct leaf *leaf;
		long kind;
	};
	struct leaf *all = calloc(NODES, sizeof *all);
	struct node *nodes = calloc(NODES, sizeof *nodes);
	long sum = 0;

	for (int i = 0; i < NODES; i++)
		nodes[i] = (struct node){&all[draw(NODES)], draw(8)};
	hide(nodes);
	for (int round = 0; round < ROUNDS; round++)
		for (const struct node *n = nodes; n < nodes + NODES; n++) {
			const struct node *at = n;

			__asm__ volatile("" : "+a"(at));
			if (at->kind) {
				at = (const struct node *)at->leaf;
				__asm__ volatile("" : "+a"(at));
				sum += ((const struct leaf *)at)->value; /* @leaf */
			}
		}
	return sum;
}

/* Most of the first accesses are to `mass`, which only the first loop uses. */
static long once(void)
{
	enum { BODIES = 20000 };
	static struct body {
		double x, y, z, step, mass, spare[3];
	} bodies[BODIES];
	double sum = 0;

	for (int round = 0; round < 3; round++)
		for (int i = 0; i < BODIES; i++)
			bodies[i].mass += i;
	hide(bodies);
	for (int round = 0; round < 100; round++)
		for (int i = 0; i < BODIES; i++)
			sum += bodies[i].x += bodies[i].step;
	return (long)sum;
}

/* Each pass marks other bytes, none of which is a structure's. */
static long sieve(void)
{
	enum { NUMBERS = 4000000 };
	static unsigned char composite[NUMBERS];
	long primes = 0;

	for (long i = 2; i * i < NUMBERS; i++)
		for (long j = i * i; !composite[i] && j < NUMBERS; j += i)
			composite[j] = 1;
	for (long i = 2; i < NUMBERS; i++)
		primes += !composite[i];
	return primes;
}

/* Down the columns, with five accesses in turn: none of their loads follows the one before by the same step. */
static long stencil(void)
{
	enum { SIDE = 500 };
	static double from[SIDE][SIDE], to[SIDE][SIDE];

	for (int round = 0; round < 4; round++) {
		for (int j = 1; j < SIDE - 1; j++)
			for (int i = 1; i < SIDE - 1; i++)
				to[i][j] = from[i][j] + from[i - 1][j] + from[i + 1][j] + from[i][j - 1] +
					   from[i][j + 1];
		hide(from);
	}
	return (long)to[7][9];
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		long (*run)(void);
	} cases[] = {
	    {"arrays", arrays},   {"ring", ring},       {"reused", reused}, {"vectors", vectors},
	    {"buckets", buckets}, {"flat", flat},       {"leaves", leaves}, {"once", once},
	    {"sieve", sieve},     {"stencil", stencil},
	};

	for (unsigned i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(argv[1], cases[i].name))
			return printf("%ld\n", cases[i].run()) < 0;
	return 2;
}
