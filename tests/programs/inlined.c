/* SPDX-License-Identifier: MIT
 *
 * inlined.c - allocation functions that the compiler has inlined, so that no return tells when they are over.
 *
 * get() only forwards: its blocks belong to make_point and make_line, who use them. new_leaf() fills the
 * block itself before control leaves it: its blocks are its own, wherever it was inlined.
 */
#include <stdio.h>
#include <stdlib.h>

#define INLINED static inline __attribute__((always_inline))
#define FUNCTION static __attribute__((noinline))

enum { COUNT = 100 };

struct point {
	long x, y;
};
struct line {
	long ends[6];
};
struct leaf {
	long value;
	struct leaf *next;
};

INLINED void *get(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p)
		abort();
	return p;
}

INLINED struct leaf *new_leaf(long value, struct leaf *next)
{
	struct leaf *leaf = get(sizeof *leaf); /* @leaf */

	leaf->value = value;
	leaf->next = next;
	return leaf;
}

FUNCTION struct point *make_point(long x)
{
	struct point *p = get(sizeof *p); /* @point */

	p->x = x;
	p->y = -x;
	return p;
}

FUNCTION struct line *make_line(long x)
{
	struct line *l = get(sizeof *l); /* @line */

	l->ends[0] = x;
	l->ends[5] = x + 1;
	return l;
}

FUNCTION struct leaf *odd(long x, struct leaf *next) { return new_leaf(x | 1, next); }
FUNCTION struct leaf *even(long x, struct leaf *next) { return new_leaf(x & ~1L, next); }

int main(void)
{
	struct leaf *leaves = NULL;
	long sum = 0;

	for (long i = 0; i < COUNT; i++) {
		struct point *p = make_point(i);
		struct line *l = make_line(i);

		leaves = odd(i, even(i, leaves));
		sum += p->x + l->ends[5];
	}
	for (; leaves; leaves = leaves->next)
		sum += leaves->value;
	printf("%ld\n", sum);
	return 0;
}
