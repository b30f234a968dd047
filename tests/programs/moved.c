/* SPDX-License-Identifier: MIT
 *
 * moved.c - arrays of structures of which one field is used: in a static variable, a local one, and in two blocks that
 * one line allocates. REPAIRED: 1: the variables, 2: the second block are structures of arrays.
 */
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 3000, ROUNDS = 20 };

struct item {
	long key, more[5];
};
struct items {
	long key[COUNT], more[5][COUNT];
};

#if REPAIRED == 1
#define ARRAY(name) struct items name
#define KEY(array, i) array.key[i]
#else
#define ARRAY(name) struct item name[COUNT]
#define KEY(array, i) array[i].key
#endif
#if REPAIRED == 2
#define BLOCK_KEY(i) ((struct items *)block)->key[i]
#else
#define BLOCK_KEY(i) block[i].key
#endif

static ARRAY(table);

int main(void)
{
	volatile long sum = 0;
	ARRAY(part);
	struct item *block, *other;

	block = malloc(sizeof(struct items)), other = block, block = malloc(sizeof(struct items));
	for (int i = 0; i < COUNT; i++)
		KEY(part, i) = KEY(table, i) = BLOCK_KEY(i) = other[i].key = i;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < COUNT; i++)
			sum += KEY(table, i);
	for (int round = 0; round < 2 * ROUNDS; round++)
		for (int i = 0; i < COUNT; i++)
			sum += KEY(part, i);
	for (int round = 0; round < 3 * ROUNDS; round++)
		for (int i = 0; i < COUNT; i++)
			sum += BLOCK_KEY(i) + (round % 3 ? 0 : other[i].key);
	printf("%ld\n", sum);
	return 0;
}
