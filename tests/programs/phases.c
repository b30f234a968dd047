/* SPDX-License-Identifier: MIT
 *
 * phases.c - four phases of known length, each with an object of its own: sweeps over `wide` (2 MB), random
 * visits of `table` (256 KB), sums that stay in the first level, and sweeps again.
 */
#include <stdio.h>

enum { WIDE = 1 << 18, TABLE = 1 << 16, SMALL = 1 << 10 };

static double wide[WIDE];
static int table[TABLE], small[SMALL];

static __attribute__((noinline)) double sweep(int times)
{
	double sum = 0;

	for (int k = 0; k < times; k++)
		for (int i = 0; i < WIDE; i += 8)
			sum += wide[i]++; /* @sweep */
	return sum;
}

static __attribute__((noinline)) long visit(int times)
{
	unsigned x = 1;
	long sum = 0;

	for (int k = 0; k < times; k++) {
		x = x * 1103515245u + 12345;
		sum += table[x >> 8 & (TABLE - 1)]++; /* @visit */
	}
	return sum;
}

static __attribute__((noinline)) long stay(int times)
{
	long sum = 0;

	for (int k = 0; k < times; k++)
		sum += small[k & (SMALL - 1)]++;
	return sum;
}

int main(void)
{
	double sum = sweep(20);

	sum += (double)visit(600000);
	sum += (double)stay(1200000);
	sum += sweep(10);
	printf("%.0f\n", sum);
	return 0;
}
