/* SPDX-License-Identifier: MIT
 *
 * blocks.c - points of 16 bytes that are allocated one by one, with labels between them: a line holds one of
 * them. REPAIRED: the points are one array.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 60000 };

struct point {
	long x, y;
};

static char *labels[POINTS];

#ifdef REPAIRED
static struct point points[POINTS];
#define POINT(i) (&points[i])
#else
static struct point *points[POINTS];
#define POINT(i) points[i]
#endif

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	long sum = 0;

	for (int i = 0; i < POINTS; i++) {
#ifndef REPAIRED
		points[i] = malloc(sizeof *points[i]);
#endif
		POINT(i)->x = POINT(i)->y = i;
		labels[i] = strdup("a label that nobody will ever want to read again");
	}
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < POINTS; i++)
			sum += POINT(i)->x * POINT(i)->y;
	printf("%ld%s\n", sum, labels[0] ? "" : "?");
	return 0;
}
