/* SPDX-License-Identifier: MIT
 *
 * stencil.c - heat that spreads over a plane (5 points) and through a block (7 points).
 *
 * Arguments: side of the plane, side of the block, steps.
 */
#include "lots.h"

struct grid {
	long side;
	double *now, *next;
};

static struct grid make_grid(long side, long attrs)
{
	struct grid g = {side, (double *)need(malloc((size_t)attrs * sizeof(double))),
			 (double *)need(malloc((size_t)attrs * sizeof(double)))};

	for (long i = 0; i < attrs; i++)
		g.now[i] = g.next[i] = (double)draw_below(100);
	return g;
}

static void turn(struct grid *g)
{
	double *now = g->now;

	g->now = g->next;
	g->next = now;
}

static void spread_plane(struct grid *g)
{
	const long n = g->side;
	const double *a = g->now;

	for (long y = 1; y < n - 1; y++)
		for (long x = 1; x < n - 1; x++) {
			long i = y * n + x;

			g->next[i] = 0.6 * a[i] + 0.1 * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);
		}
	turn(g);
}

static void spread_block(struct grid *g)
{
	const long n = g->side, s = n * n;
	const double *a = g->now;

	for (long z = 1; z < n - 1; z++)
		for (long y = 1; y < n - 1; y++)
			for (long x = 1; x < n - 1; x++) {
				long i = z * s + y * n + x;

				g->next[i] = 0.4 * a[i] + 0.1 * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] +
								 a[i - s] + a[i + s]);
			}
	turn(g);
}

int main(int argc, char **argv)
{
	long plane = argument(argc, argv, 1), block = argument(argc, argv, 2);
	struct grid p = make_grid(plane, plane * plane), b = make_grid(block, block * block * block);

	for (long steps = argument(argc, argv, 3); steps; steps--) {
		spread_plane(&p);
		spread_block(&b);
	}
	printf("%.9g %.9g\n", p.now[plane * plane / 2 + plane / 3], b.now[block * block * block / 2]);
	return 0;
}
