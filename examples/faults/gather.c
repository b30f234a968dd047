/* SPDX-License-Identifier: MIT
 *
 * gather.c - a sparse gather: values are read at places that follow each other at random.
 * REPAIRED: the places are sorted before they are used.
 */
#include <stdio.h>
#include <stdlib.h>

enum { VALUES = 1 << 20, PLACES = 1 << 18 };

static long values[VALUES];
static unsigned places[PLACES];

static unsigned long state = 1;

static unsigned long draw(void)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 33;
}

#ifdef REPAIRED
static unsigned char wanted[VALUES];

static void choose(void)
{
	unsigned n = 0;

	while (n < PLACES) {
		unsigned at = (unsigned)(draw() % VALUES);

		n += !wanted[at];
		wanted[at] = 1;
	}
	n = 0;
	for (unsigned at = 0; at < VALUES; at++)
		if (wanted[at])
			places[n++] = at;
}
#else
static void choose(void)
{
	for (unsigned n = 0; n < PLACES; n++)
		places[n] = (unsigned)(draw() % VALUES);
}
#endif

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 4;
	long sum = 0;

	for (unsigned i = 0; i < VALUES; i++)
		values[i] = i;
	choose();
	for (int round = 0; round < rounds; round++)
		for (unsigned i = 0; i < PLACES; i++)
			sum += values[places[i]];
	printf("%ld\n", sum);
	return 0;
}
