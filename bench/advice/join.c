/* SPDX-License-Identifier: MIT
 *
 * join.c - a hash join: orders look up their customers in a table of chained buckets.  Fault: each look-up follows a
 * pointer from node to node.  Repaired: keys and values lie in one table with open addressing.
 */
#include <stdio.h>
#include <stdlib.h>

enum { CUSTOMERS = 200000, ORDERS = 600000, BUCKETS = 1 << 16, SLOTS = 1 << 19 };

struct customer {
	struct customer *next;
	unsigned key;
	int region;
};

struct slot {
	unsigned key; /* 0: empty */
	int region;
};

static struct customer *buckets[BUCKETS];
static struct slot slots[SLOTS];

static unsigned hash(unsigned key) { return key * 2654435761u; }

static void insert(unsigned key, int region)
{
#ifdef REPAIRED
	unsigned i = hash(key) >> 13;

	while (slots[i].key)
		i = (i + 1) % SLOTS;
	slots[i] = (struct slot){key, region};
#else
	struct customer *c = malloc(sizeof *c), **bucket = &buckets[hash(key) >> 16];

	*c = (struct customer){*bucket, key, region};
	*bucket = c;
#endif
}

static int region_of(unsigned key)
{
#ifdef REPAIRED
	for (unsigned i = hash(key) >> 13; slots[i].key; i = (i + 1) % SLOTS)
		if (slots[i].key == key)
			return slots[i].region;
#else
	for (struct customer *c = buckets[hash(key) >> 16]; c; c = c->next)
		if (c->key == key)
			return c->region;
#endif
	return 0;
}

int main(void)
{
	unsigned state = 1;
	long sum = 0;

	for (unsigned i = 1; i <= CUSTOMERS; i++)
		insert(i, (int)(i % 7));
	for (int i = 0; i < ORDERS; i++) {
		state = state * 1664525 + 1013904223;
		sum += region_of(1 + (state >> 8) % CUSTOMERS);
	}
	return printf("%ld\n", sum) < 0;
}
