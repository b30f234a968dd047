/* SPDX-License-Identifier: MIT
 *
 * parts.c - instructions that access several data, in known parts: `take` reads 3 parts of `three`, 1 of `one` and 4 of a
 * heap block; `rate` reads 4 parts of the field `often` of a heap block, and 1 of `seldom`.
 */
#include <stdlib.h>

enum { COUNT = 1000 };

struct rated {
	long often, seldom;
};

static volatile long three[COUNT], one[COUNT];

static long take(const volatile long *from)
{
	long sum = 0;

	for (int i = 0; i < COUNT; i++)
		sum += from[i];
	return sum;
}

static long rate(const volatile long *field) { return *field; }

int main(void)
{
	volatile long *four = calloc(COUNT, sizeof *four);
	volatile struct rated *all = calloc(COUNT, sizeof *all);
	long sum = take(one);

	for (int i = 0; i < 3; i++)
		sum += take(three);
	for (int i = 0; i < 4; i++)
		sum += take(four);
	for (int i = 0; i < 5 * COUNT; i++)
		sum += rate(i % 5 < 4 ? &all[i / 5].often : &all[i / 5].seldom);
	return sum != 0;
}
