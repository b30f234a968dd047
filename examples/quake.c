/* SPDX-License-Identifier: MIT
 *
 * quake.c - waves in a block of ground: a sparse matrix of 3 x 3 blocks times a vector, step after step.
 *
 *     gcc -g -O1 -o quake quake.c                      as first written: double ***, a malloc for every row
 *     gcc -g -O1 -DREPAIRED=1 -o quake-packed quake.c  the same pointers, into arrays in one piece
 *     gcc -g -O1 -DREPAIRED=2 -o quake-arrays quake.c  arrays of three dimensions, no pointers
 *     nearmiss record -- ./quake [EDGE [STEPS]]
 *
 * The ground is a lattice of EDGE x EDGE x EDGE nodes; each node moves in three directions and pulls at its
 * neighbours. The stiffness matrix is symmetric: a node's row holds its own block and those of the up to
 * seven neighbours with higher numbers. All versions print the same numbers.
 *
 * A row of three doubles has 24 bytes, and so has a row of three pointers; malloc makes 32 of each. A block
 * of 72 bytes of numbers so takes 128 bytes of memory. docs/case-studies/quake.md tells how that shows.
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef REPAIRED
#define REPAIRED 0
#endif

#if REPAIRED == 2
typedef double (*blocks_t)[3][3];
typedef double (*vectors_t)[3];
#else
typedef double ***blocks_t;
typedef double **vectors_t;
#endif

struct ground {
	long edge, nodes;
	long *first;  /* [nodes + 1]: where a node's row starts in column and stiffness */
	long *column; /* of each block; a row's first one is the node itself */
	blocks_t stiffness;
	vectors_t displacement[3]; /* after the coming step, now, before the last step */
	vectors_t mass, force;
};

static void *checked(void *memory)
{
	if (!memory) {
		fprintf(stderr, "quake: out of memory\n");
		exit(1);
	}
	return memory;
}

/* ---- three ways to lay out the same matrix and vectors ----------------------------------------- */

#if REPAIRED == 0

static vectors_t make_vectors(long count)
{
	double **rows = checked(malloc(count * sizeof *rows));

	for (long i = 0; i < count; i++)
		rows[i] = checked(calloc(3, sizeof(double)));
	return rows;
}

static blocks_t make_blocks(long count)
{
	double ***blocks = checked(malloc(count * sizeof *blocks));

	for (long i = 0; i < count; i++) {
		blocks[i] = checked(malloc(3 * sizeof(double *)));
		for (int j = 0; j < 3; j++)
			blocks[i][j] = checked(calloc(3, sizeof(double))); /* @row */
	}
	return blocks;
}

#elif REPAIRED == 1

static vectors_t make_vectors(long count)
{
	double *numbers = checked(calloc(count * 3, sizeof *numbers));
	double **rows = checked(malloc(count * sizeof *rows));

	for (long i = 0; i < count; i++)
		rows[i] = numbers + 3 * i;
	return rows;
}

static blocks_t make_blocks(long count)
{
	double *numbers = checked(calloc(count * 9, sizeof *numbers));
	double **rows = checked(malloc(count * 3 * sizeof *rows));
	double ***blocks = checked(malloc(count * sizeof *blocks));

	for (long i = 0; i < count * 3; i++)
		rows[i] = numbers + 3 * i;
	for (long i = 0; i < count; i++)
		blocks[i] = rows + 3 * i;
	return blocks;
}

#else

static vectors_t make_vectors(long count) { return checked(calloc(count, sizeof(double[3]))); }
static blocks_t make_blocks(long count) { return checked(calloc(count, sizeof(double[3][3]))); }

#endif

/* ---- the computation, in the words of all three ------------------------------------------------- */

/* Lists a node's higher neighbours: the other corners of the cube between it and (x+1, y+1, z+1). */
static void connect(struct ground *g)
{
	long blocks = 0, e = g->edge;

	for (long node = 0; node < g->nodes; node++) {
		long x = node % e, y = node / e % e, z = node / (e * e);

		g->first[node] = blocks;
		for (int corner = 0; corner < 8; corner++) {
			int dx = corner & 1, dy = corner >> 1 & 1, dz = corner >> 2;

			if (x + dx < e && y + dy < e && z + dz < e)
				g->column[blocks++] = node + dx + dy * e + dz * e * e;
		}
	}
	g->first[g->nodes] = blocks;
}

static void fill(struct ground *g)
{
	g->stiffness = make_blocks(g->first[g->nodes]);
	for (long node = 0; node < g->nodes; node++) {
		for (long a = g->first[node]; a < g->first[node + 1]; a++)
			for (int j = 0; j < 3; j++)
				for (int k = 0; k < 3; k++)
					g->stiffness[a][j][k] = a == g->first[node] ? (j == k ? 4.0 : 0.25)
								: j == k            ? -0.25
										    : -0.0625;
		for (int j = 0; j < 3; j++)
			g->mass[node][j] = 1.0 + (node % 7) * 0.125;
	}
}

static void make(struct ground *g, long edge)
{
	g->edge = edge;
	g->nodes = edge * edge * edge;
	g->first = checked(malloc((g->nodes + 1) * sizeof *g->first));
	g->column = checked(malloc(g->nodes * 8 * sizeof *g->column));
	for (int t = 0; t < 3; t++)
		g->displacement[t] = make_vectors(g->nodes);
	g->mass = make_vectors(g->nodes);
	g->force = make_vectors(g->nodes);
	connect(g);
	fill(g);
}

/* force = stiffness x now. Only the upper half is stored, so each block is used for its mirror image too. */
static void multiply(const struct ground *g, const vectors_t now, const vectors_t force)
{
	const blocks_t k = g->stiffness;

	for (long node = 0; node < g->nodes; node++) {
		long a = g->first[node];
		double x = now[node][0], y = now[node][1], z = now[node][2];
		double fx = k[a][0][0] * x + k[a][0][1] * y + k[a][0][2] * z;
		double fy = k[a][1][0] * x + k[a][1][1] * y + k[a][1][2] * z;
		double fz = k[a][2][0] * x + k[a][2][1] * y + k[a][2][2] * z;

		for (a++; a < g->first[node + 1]; a++) {
			long other = g->column[a];
			double ox = now[other][0], oy = now[other][1], oz = now[other][2];

			fx += k[a][0][0] * ox + k[a][0][1] * oy + k[a][0][2] * oz; /* @block */
			fy += k[a][1][0] * ox + k[a][1][1] * oy + k[a][1][2] * oz;
			fz += k[a][2][0] * ox + k[a][2][1] * oy + k[a][2][2] * oz; /* @third */
			force[other][0] += k[a][0][0] * x + k[a][1][0] * y + k[a][2][0] * z;
			force[other][1] += k[a][0][1] * x + k[a][1][1] * y + k[a][2][1] * z;
			force[other][2] += k[a][0][2] * x + k[a][1][2] * y + k[a][2][2] * z;
		}
		force[node][0] += fx;
		force[node][1] += fy;
		force[node][2] += fz;
	}
}

/* Central differences in time; what was the past becomes the room for the future. */
static void step(struct ground *g, double dt)
{
	vectors_t next = g->displacement[0], now = g->displacement[1], last = g->displacement[2];

	for (long node = 0; node < g->nodes; node++)
		for (int j = 0; j < 3; j++)
			g->force[node][j] = 0.0;
	multiply(g, now, g->force);
	for (long node = 0; node < g->nodes; node++)
		for (int j = 0; j < 3; j++)
			next[node][j] = 2.0 * now[node][j] - last[node][j] -
					dt * dt * g->force[node][j] / g->mass[node][j];
	g->displacement[0] = last;
	g->displacement[1] = next;
	g->displacement[2] = now;
}

int main(int argc, char **argv)
{
	long edge = argc > 1 ? atol(argv[1]) : 20, steps = argc > 2 ? atol(argv[2]) : 10;
	struct ground g = {0};
	double energy = 0.0;

	if (edge < 2 || edge > 400) {
		fprintf(stderr, "quake: EDGE must be from 2 to 400\n");
		return 2;
	}
	make(&g, edge);
	g.displacement[1][g.nodes / 2][2] = 1.0; /* the shock */
	for (long t = 0; t < steps; t++)
		step(&g, 0.25);
	for (long node = 0; node < g.nodes; node++)
		for (int j = 0; j < 3; j++)
			energy += g.displacement[1][node][j] * g.displacement[1][node][j];
	printf("%ld nodes, %ld blocks, %ld steps, sum of squares %.12e\n", g.nodes, g.first[g.nodes], steps,
	       energy);
	return 0;
}
