/* SPDX-License-Identifier: MIT
 *
 * distances.c - two fields that miss the first level alike, but only one of them the second.
 *
 * Each lies in a line of its own, near in even lines and far in odd ones, so they share no sets. A turn comes
 * to NEAR elements' near again and again, more than the even sets of 32K hold and fewer than those of 128K;
 * and to all elements' far, more than either holds.
 */
#include <stdio.h>

enum { ELEMENTS = 8192, NEAR = 600, TURNS = 10 };

struct element {
	long near;
	char gap[56];
	long far;
	char rest[56];
};

struct element table[ELEMENTS] __attribute__((aligned(128)));

int main(void)
{
	long sum = 0;

	for (int i = 0; i < ELEMENTS * TURNS; i++)
		sum += table[i % NEAR].near + table[i % ELEMENTS].far; /* @both */
	printf("%ld\n", sum);
	return 0;
}
