/* SPDX-License-Identifier: MIT
 *
 * unwritten.c - static arrays that the program only reads, which the compiler may keep in read-only memory.
 */
#include <stdio.h>

enum { ELEMENTS = 8192 };

static int weights[ELEMENTS] = {1, 2, 3};
static const int primes[ELEMENTS] = {2, 3, 5};
static double zeros[ELEMENTS];

static __attribute__((noinline)) double sum(const double *values)
{
	double sum = 0;

	for (int i = 0; i < ELEMENTS; i++)
		sum += values[i];
	return sum;
}

int main(void)
{
	static const int inner[ELEMENTS] = {7};
	long all = 0;

	for (int i = 0; i < ELEMENTS; i++)
		all += weights[i] + primes[i] + inner[i];
	printf("%ld %g\n", all, sum(zeros));
}
