/* SPDX-License-Identifier: MIT
 *
 * join.c - the probe of a hash join: each key of a long relation is looked up in a table without pointers. Built with
 * -DDISTANCE=N, it prefetches N look-ups ahead (docs/howto/what-if.md).
 *
 * join SLOTS PROBES: a power of two; a number.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct slot {
	uint64_t key, value;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 27;
}

static uint64_t probe(const struct slot *table, uint64_t mask, const uint32_t *keys, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t key = keys[i];
		const struct slot *s = &table[mix(key) & mask];

#ifdef DISTANCE
		if (i + DISTANCE < count)
			__builtin_prefetch(&table[mix(keys[i + DISTANCE]) & mask]);
#endif
		if (s->key == key) /* the look-up */
			sum += s->value;
	}
	return sum;
}

int main(int argc, char **argv)
{
	const uint64_t slots = argc > 1 ? strtoull(argv[1], NULL, 10) : 1 << 16;
	const size_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1 << 18;
	struct slot *table = calloc(slots, sizeof *table);
	uint32_t *keys = malloc(count * sizeof *keys);

	if (!table || !keys)
		return 1;
	for (uint64_t k = 0; k < slots; k += 2)
		table[mix(k) & (slots - 1)] = (struct slot){k, k + 1};
	for (size_t i = 0; i < count; i++)
		keys[i] = (uint32_t)(mix(i + 12345) >> 20) & (uint32_t)(slots - 1);
	printf("%llu\n", (unsigned long long)probe(table, slots - 1, keys, count));
	return 0;
}
