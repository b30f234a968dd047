/* SPDX-License-Identifier: MIT
 *
 * lookups.c - looks words up in a table of pointers to entries of their own: a benchmark whose misses
 * docs/howto/ci.md guards.
 */
#include <stdio.h>
#include <stdlib.h>

enum { ENTRIES = 4000, ROUNDS = 4 };

struct entry {
	long key, rest[4];
};

static struct entry *entries[ENTRIES];
static long weights[ENTRIES];

static long look_up(void)
{
	long sum = 0;

	for (int i = 0; i < ENTRIES; i++)
		sum += entries[i]->key * weights[i];
	return sum;
}

int main(void)
{
	long sum = 0;

	for (int i = 0; i < ENTRIES; i++) {
		entries[i] = calloc(1, sizeof *entries[i]);
		if (!entries[i])
			return 1;
		entries[i]->key = weights[i] = i;
	}
	for (int round = 0; round < ROUNDS; round++)
		sum += look_up();
	printf("%ld\n", sum);
	return 0;
}
