/* SPDX-License-Identifier: MIT
 *
 * hash.c - a hash table with chains of heap nodes, whose keys are texts of their own: counts made-up words.
 *
 * Arguments: number of different words, of look-ups. The table doubles as it fills; a tenth of the words are
 * removed.
 */
#include <string.h>

#include "lots.h"

struct entry {
	struct entry *next;
	char *key;
	uint32_t hash, count;
};

struct table {
	struct entry **chains;
	uint32_t mask, entries;
};

static uint32_t hash_of(const char *key)
{
	uint32_t hash = 2166136261u;

	for (; *key; key++)
		hash = (hash ^ (uint8_t)*key) * 16777619u;
	return hash ^ hash >> 15;
}

static void grow(struct table *t)
{
	uint32_t mask = t->mask * 2 + 1;
	struct entry **chains = (struct entry **)need(calloc(mask + 1u, sizeof *chains)), *next;

	for (uint32_t i = 0; t->chains && i <= t->mask; i++)
		for (struct entry *e = t->chains[i]; e; e = next) {
			next = e->next;
			e->next = chains[e->hash & mask];
			chains[e->hash & mask] = e;
		}
	free(t->chains);
	t->chains = chains;
	t->mask = mask;
}

static struct entry **find(struct table *t, const char *key, uint32_t hash)
{
	struct entry **link = &t->chains[hash & t->mask];

	while (*link && ((*link)->hash != hash || strcmp((*link)->key, key) != 0))
		link = &(*link)->next;
	return link;
}

static void count_word(struct table *t, const char *key)
{
	uint32_t hash = hash_of(key);
	struct entry **link = find(t, key, hash), *e = *link;

	if (e) {
		e->count++;
		return;
	}
	e = (struct entry *)need(malloc(sizeof *e));
	*e = (struct entry){NULL, (char *)need(strdup(key)), hash, 1};
	*link = e;
	if (++t->entries > t->mask)
		grow(t);
}

static void remove_word(struct table *t, const char *key)
{
	struct entry **link = find(t, key, hash_of(key)), *e = *link;

	if (!e)
		return;
	*link = e->next;
	free(e->key);
	free(e);
	t->entries--;
}

/* The n-th word. */
static void spell(uint32_t n, char *key)
{
	uint64_t x = n * 0x9e3779b97f4a7c15ull;
	unsigned length = 5 + n % 11;

	for (unsigned i = 0; i < length; i++, x = x >> 5 | x << 59)
		key[i] = (char)('a' + (x & 15));
	key[length] = '\0';
}

int main(int argc, char **argv)
{
	uint32_t words = (uint32_t)argument(argc, argv, 1);
	struct table t = {NULL, 511, 0};
	uint64_t sum = 0;
	char key[32];

	grow(&t);
	for (long n = argument(argc, argv, 2); n; n--) {
		spell(draw_below(words), key);
		if (n % 10)
			count_word(&t, key);
		else
			remove_word(&t, key);
	}
	for (uint32_t i = 0; i <= t.mask; i++)
		for (const struct entry *e = t.chains[i]; e; e = e->next)
			sum += e->count * (uint64_t)e->key[0];
	printf("%u %llu\n", t.entries, (unsigned long long)sum);
	return 0;
}
