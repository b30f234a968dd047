/* SPDX-License-Identifier: MIT
 *
 * hash.c - a hash table with a chain of separately allocated entries in each slot: a look-up loads the slot
 * and then a line for each entry, one after the other. REPAIRED: keys and values stand in the table itself,
 * and a look-up goes on to the next place (open addressing).
 */
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 1 << 17 };

static unsigned long state = 1;

static unsigned long draw(void)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 33;
}

static unsigned long hash(unsigned long key) { return key * 0x9e3779b97f4a7c15ul >> 40; }

#ifdef REPAIRED
enum { PLACES = 2 * KEYS };
static struct place {
	unsigned long key, value;
} table[PLACES];

static void insert(unsigned long key, unsigned long value)
{
	unsigned long at = hash(key) % PLACES;

	while (table[at].key && table[at].key != key)
		at = (at + 1) % PLACES;
	table[at].key = key;
	table[at].value = value;
}

static unsigned long look_up(unsigned long key)
{
	unsigned long at = hash(key) % PLACES;

	while (table[at].key && table[at].key != key)
		at = (at + 1) % PLACES;
	return table[at].value;
}
#else
enum { SLOTS = KEYS / 4 };
struct entry {
	struct entry *next;
	unsigned long key, value;
};
static struct entry *table[SLOTS];

static void insert(unsigned long key, unsigned long value)
{
	struct entry *entry = malloc(sizeof *entry);

	*entry = (struct entry){table[hash(key) % SLOTS], key, value};
	table[hash(key) % SLOTS] = entry;
}

static unsigned long look_up(unsigned long key)
{
	const struct entry *entry = table[hash(key) % SLOTS];

	while (entry && entry->key != key)
		entry = entry->next;
	return entry ? entry->value : 0;
}
#endif

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 2;
	unsigned long sum = 0;

	for (unsigned long i = 1; i <= KEYS; i++)
		insert(i, i * 3);
	for (int round = 0; round < rounds; round++)
		for (unsigned long i = 0; i < KEYS; i++)
			sum += look_up(draw() % KEYS + 1);
	printf("%lu\n", sum);
	return 0;
}
