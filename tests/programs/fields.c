/* SPDX-License-Identifier: MIT
 *
 * fields.c - partly used structures: in an array, on the heap, in a structure; one is split over two lines.
 *
 * ELEMENTS elements, far more than the first level holds, are visited WALKS times; each visit reloads their lines.
 */
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS = 4000, WALKS = 10 };

struct place {
	double x, y;
};

/* Two lines: key is in the first, weight in the second. */
struct record {
	long key;
	char name[88];
	long weight;
	struct place place;
	unsigned seen : 3, kept : 5;
};

/* A line, of which a quarter is used. */
struct item {
	long count;
	long price;
	char text[48];
};

struct holder {
	long used;
	struct item items[ELEMENTS];
};

static struct record records[ELEMENTS] __attribute__((aligned(64)));
static struct holder holder __attribute__((aligned(64)));

static __attribute__((noinline)) struct item *make_items(long count)
{
	struct item *all;

	all = calloc(count, sizeof *all);
	if (!all)
		exit(1);
	all->price = 1; /* else it only forwards */
	return all;
}

static __attribute__((noinline)) long weigh(void)
{
	long sum = 0;

	for (int i = 0; i < ELEMENTS; i++)
		sum += records[i].key + records[i].weight; /* @weigh */
	return sum;
}

static __attribute__((noinline)) long buy(struct item *items)
{
	long sum = 0;

	for (int i = 0; i < ELEMENTS; i++) {
		items[i].count++;      /* @count */
		sum += items[i].price; /* @price */
	}
	return sum;
}

int main(void)
{
	struct item *items = make_items(ELEMENTS);
	long sum = 0;

	for (int w = 0; w < WALKS; w++)
		sum += weigh() + buy(items) + buy(holder.items);
	records[1].place.y = 1;
	printf("%ld %d\n", sum, records[1].seen);
	free(items);
	return 0;
}
