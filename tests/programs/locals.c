/* SPDX-License-Identifier: MIT
 *
 * locals.c - structures on the stack: an array that other functions walk, one that its own function counts in,
 * and two that may share an address.
 *
 * The array is larger than the first level and no two elements share a line, so each visit reloads the line.
 */
#include <stdio.h>

enum { ELEMENTS = 1000, WALKS = 40, BINS = 16, COUNTS = 1000 };

/* Two lines: key is in the first, weight in the second. */
struct record {
	long key;
	char name[88];
	long weight, spare[3];
};

struct bin {
	long count, sum;
};

struct left {
	long a[12];
};

struct right {
	double b[10];
};

static __attribute__((noinline)) long weigh(const struct record *all)
{
	long sum = 0;

	for (int i = 0; i < ELEMENTS; i++)
		sum += all[i].key + all[i].weight; /* @weigh */
	__asm__ volatile("" ::: "memory");         /* or one call serves all walks */
	return sum;
}

static __attribute__((noinline)) void fill(struct record *all)
{
	for (int i = 0; i < ELEMENTS; i++)
		all[i] = (struct record){.key = i, .weight = 1};
}

/* Called from two depths. */
static __attribute__((noinline)) long count(long seed)
{
	struct bin bins[BINS] = {0};

	for (long i = 0; i < COUNTS; i++) {
		struct bin *b = &bins[(seed + i * 7) % BINS];

		b->count++;  /* @count */
		b->sum += i; /* @sum */
	}
	return bins[seed % BINS].count + bins[3].sum;
}

static __attribute__((noinline)) long deeper(long seed)
{
	volatile long room[9] = {seed};

	return count(room[0]) + room[0];
}

static __attribute__((noinline)) void touch(void *at) { *(volatile char *)at = 1; }

static __attribute__((noinline)) long share(int which)
{
	long found;

	if (which) {
		struct left left;

		touch(&left);
		found = left.a[0];
	} else {
		struct right right;

		touch(&right);
		found = (long)right.b[0];
	}
	touch(&found);
	return found;
}

static __attribute__((noinline)) long hold(void)
{
	struct record records[ELEMENTS]; /* @records */
	long sum = 0;

	fill(records);
	for (int w = 0; w < WALKS; w++)
		sum += weigh(records) + count(w) + deeper(w) + share(w & 1) % 2;
	return sum;
}

int main(void)
{
	printf("%ld\n", hold());
	return 0;
}
