/* SPDX-License-Identifier: MIT
 *
 * multigrid.c - Poisson's equation on a cube by multigrid: 27-point stencils over three-dimensional arrays.
 *
 *     gcc -g -O3 -o multigrid multigrid.c                        one pass over whole planes after the other
 *     gcc -g -O3 -DREPAIRED=1 -o multigrid-tiled multigrid.c    the stencils go over tiles of eight rows
 *     gcc -g -O3 -DREPAIRED=2 -o multigrid-joined multigrid.c   three passes joined in one
 *     nearmiss record -- ./multigrid [LEVELS [CYCLES]]
 *
 * The finest grid has 2^LEVELS points a side and a rim of zeros around them. A stencil at plane k reads the
 * planes k-1, k and k+1: each plane is wanted three times, but between two of them a plane of every array
 * passes, and where that much does not fit the cache, all of it is loaded three times. In tiles of a
 * few rows it fits. The same holds for whole passes: what one leaves behind is gone when the next comes for
 * it, unless they run a plane or two behind each other. All versions do the same arithmetic on each
 * point and print the same numbers.
 *
 * u and r hold all grids, one after the other, coarse ones first; v is wanted on the finest only.
 * docs/case-studies/multigrid.md tells how that shows and what the repairs do.
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef REPAIRED
#define REPAIRED 0
#endif

#if REPAIRED != 1
#define TILE (1 << 20) /* rows: all of them */
#elif !defined TILE
#define TILE 8
#endif

enum { LEVELS_MAX = 8, TOP = (1 << LEVELS_MAX) + 2, ROOM = TOP * TOP * TOP };

static double u[ROOM + ROOM / 4]; /* the solution */
static double r[ROOM + ROOM / 4]; /* what is left of the right-hand side */
static double v[ROOM];            /* the right-hand side */

static long start[LEVELS_MAX + 2]; /* of each grid in u and r */

/* Laplace's operator and its approximate inverse: weights of the point, of faces, edges and corners. */
static const double operator[4] = {-128.0 / 30, 14.0 / 30, 3.0 / 30, 1.0 / 30};
static const double inverse[3] = {-0.2625, -0.035, -0.01};

static int points(int level) { return (1 << level) + 2; }
static int least(int a, int b) { return a < b ? a : b; }

/* The neighbours of point (j, i) of a plane: four across its sides, four across its corners. */
#define SIDES(plane) (plane[j][i - 1] + plane[j][i + 1] + plane[j - 1][i] + plane[j + 1][i])
#define CORNERS(plane) (plane[j - 1][i - 1] + plane[j - 1][i + 1] + plane[j + 1][i - 1] + plane[j + 1][i + 1])

/* r = v - operator(u) on the rows [low, high) of plane k of a grid of n points a side. */
static void residual_rows(int n, double (*to)[n][n], double (*from)[n][n], double (*x)[n][n], int k, int low,
			  int high)
{
	const double a0 = operator[0], a1 = operator[1], a2 = operator[2], a3 = operator[3];
	double(*below)[n] = x[k - 1], (*here)[n] = x[k], (*above)[n] = x[k + 1];

	for (int j = low; j < high; j++)
		for (int i = 1; i < n - 1; i++) {
			double corners = CORNERS(below) + CORNERS(above); /* @corners */
			double edges = SIDES(below) + SIDES(above) + CORNERS(here);
			double faces = SIDES(here) + below[j][i] + above[j][i]; /* @faces */

			to[k][j][i] =
			    from[k][j][i] - a0 * here[j][i] - a1 * faces - a2 * edges - a3 * corners;
		}
}

/* u += inverse(r) on the same. */
static void smooth_rows(int n, double (*x)[n][n], double (*rest)[n][n], int k, int low, int high)
{
	const double s0 = inverse[0], s1 = inverse[1], s2 = inverse[2];
	double(*below)[n] = rest[k - 1], (*here)[n] = rest[k], (*above)[n] = rest[k + 1];

	for (int j = low; j < high; j++)
		for (int i = 1; i < n - 1; i++) {
			double edges = SIDES(below) + SIDES(above) + CORNERS(here);
			double faces = SIDES(here) + below[j][i] + above[j][i];

			x[k][j][i] += s0 * here[j][i] + s1 * faces + s2 * edges;
		}
}

/* Adds the correction of the next coarser grid to plane k. */
static void prolong_plane(int n, double (*x)[n][n], int half, double (*coarse)[half][half], int k)
{
	for (int j = 1; j < n - 1; j++)
		for (int i = 1; i < n - 1; i++)
			x[k][j][i] += coarse[(k + 1) / 2][(j + 1) / 2][(i + 1) / 2];
}

static void residual(int n, double (*to)[n][n], double (*from)[n][n], double (*x)[n][n])
{
	for (int tile = 1; tile < n - 1; tile += TILE)
		for (int k = 1; k < n - 1; k++)
			residual_rows(n, to, from, x, k, tile, least(tile + TILE, n - 1));
}

/* Coarse correction, new residual, smoothing: the way up. */
static void rise(int n, double (*x)[n][n], double (*rest)[n][n], double (*right)[n][n], int half,
		 double (*coarse)[half][half])
{
#if REPAIRED == 2
	/* A plane's residual needs the corrected plane above, and is the last to need the unsmoothed one below. */
	for (int k = 1; k <= n; k++) {
		if (k < n - 1)
			prolong_plane(n, x, half, coarse, k);
		if (k > 1 && k < n)
			residual_rows(n, rest, right, x, k - 1, 1, n - 1);
		if (k > 2)
			smooth_rows(n, x, rest, k - 2, 1, n - 1);
	}
#else
	for (int k = 1; k < n - 1; k++)
		prolong_plane(n, x, half, coarse, k);
	residual(n, rest, right, x);
	for (int tile = 1; tile < n - 1; tile += TILE)
		for (int k = 1; k < n - 1; k++)
			smooth_rows(n, x, rest, k, tile, least(tile + TILE, n - 1));
#endif
}

/* The residual of a grid, averaged to the next coarser one; its unknowns start at zero. */
static void restrict_to(int n, double (*coarse)[n][n], double (*x)[n][n], int big, double (*fine)[big][big])
{
	for (int k = 1; k < n - 1; k++)
		for (int j = 1; j < n - 1; j++)
			for (int i = 1; i < n - 1; i++) {
				double sum = 0.0;

				for (int dk = 0; dk < 2; dk++)
					for (int dj = 0; dj < 2; dj++)
						for (int di = 0; di < 2; di++)
							sum += fine[2 * k - dk][2 * j - dj][2 * i - di];
				coarse[k][j][i] = 0.5 * sum; /* mean of 8, times 4: the spacing doubles */
				x[k][j][i] = 0.0;
			}
}

static void cycle(int level, double *right)
{
	int n = points(level), half = points(level - 1);
	double *rest = r + start[level], *x = u + start[level];

	if (level == 1) {
		for (int k = 1; k < n - 1; k++)
			smooth_rows(n, (void *)x, (void *)right, k, 1, n - 1);
		return;
	}
	restrict_to(half, (void *)(r + start[level - 1]), (void *)(u + start[level - 1]), n, (void *)rest);
	cycle(level - 1, r + start[level - 1]);
	rise(n, (void *)x, (void *)rest, (void *)right, half, (void *)(u + start[level - 1]));
}

static double mean_square(int n, double (*x)[n][n])
{
	double sum = 0.0;

	for (int k = 1; k < n - 1; k++)
		for (int j = 1; j < n - 1; j++)
			for (int i = 1; i < n - 1; i++)
				sum += x[k][j][i] * x[k][j][i];
	return sum / ((double)(n - 2) * (n - 2) * (n - 2));
}

/* A few charges, scattered over the cube. */
static void charge(int n, double (*x)[n][n])
{
	unsigned state = 12345;

	for (int c = 0; c < 20; c++) {
		int place[3];

		for (int d = 0; d < 3; d++) {
			state = state * 1103515245u + 12345u;
			place[d] = 1 + (int)(state >> 16) % (n - 2);
		}
		x[place[2]][place[1]][place[0]] = c % 2 ? 1.0 : -1.0;
	}
}

int main(int argc, char **argv)
{
	int levels = argc > 1 ? atoi(argv[1]) : 6, cycles = argc > 2 ? atoi(argv[2]) : 4, n;
	double *rest, *x;

	if (levels < 2 || levels > LEVELS_MAX) {
		fprintf(stderr, "multigrid: LEVELS must be from 2 to %d\n", LEVELS_MAX);
		return 2;
	}
	for (int level = 1; level <= levels; level++)
		start[level + 1] = start[level] + (long)points(level) * points(level) * points(level);
	n = points(levels);
	rest = r + start[levels];
	x = u + start[levels];
	charge(n, (void *)v);
	residual(n, (void *)rest, (void *)v, (void *)x);
	printf("%d points a side, mean square of residuals %.12e", n - 2, mean_square(n, (void *)rest));
	for (int c = 0; c < cycles; c++) {
		cycle(levels, v);
		residual(n, (void *)rest, (void *)v, (void *)x);
	}
	printf(", after %d cycles %.12e\n", cycles, mean_square(n, (void *)rest));
	return 0;
}
