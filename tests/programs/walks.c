/* SPDX-License-Identifier: MIT
 *
 * walks.c - three walks over one megabyte, for prefetchers: in order, in steps of 160 bytes, and random.
 */
#include <stdio.h>

enum { ELEMENTS = 1 << 18, STEP = 40, DRAWS = 50000 };

int table[ELEMENTS] __attribute__((aligned(4096)));

static __attribute__((noinline)) int in_order(void)
{
	int sum = 0;

	for (int i = 0; i < ELEMENTS; i++)
		sum += table[i]; /* @order */
	return sum;
}

static __attribute__((noinline)) int in_steps(void)
{
	int sum = 0;

	for (int i = 0; i < ELEMENTS; i += STEP)
		sum += table[i]; /* @steps */
	return sum;
}

static __attribute__((noinline)) int at_random(void)
{
	unsigned state = 1;
	int sum = 0;

	for (int i = 0; i < DRAWS; i++) {
		state = state * 1664525u + 1013904223u;
		sum += table[state >> 14]; /* @random */
	}
	return sum;
}

int main(void)
{
	printf("%d\n", in_order() + in_steps() + at_random());
	return 0;
}
