/* SPDX-License-Identifier: MIT
 *
 * join.c - the probe side of a hash join: looks up random keys in a table with open addressing, and prefetches the
 * slot of a key that comes later.
 *
 * Arguments: log2 of the table's bytes, probes, how many probes ahead it prefetches (0: it does not).
 */
#include "lots.h"

struct slot {
	uint64_t key, payload; /* key 0: free */
};

struct table {
	struct slot *slots;
	unsigned shift; /* 64 - log2 of their number */
};

static inline uint64_t home(const struct table *t, uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull >> t->shift;
}

static struct slot *find(const struct table *t, uint64_t key)
{
	const uint64_t mask = ~0ull >> t->shift;
	uint64_t i = home(t, key);

	while (t->slots[i].key && t->slots[i].key != key)
		i = (i + 1) & mask;
	return &t->slots[i];
}

static __attribute__((noinline)) uint64_t join(const struct table *t, const uint64_t *keys, uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += find(t, keys[i])->payload;
	return sum;
}

/* `keys` has `ahead` more, which are only prefetched. */
static __attribute__((noinline)) uint64_t join_ahead(const struct table *t, const uint64_t *keys,
						     uint64_t count, uint64_t ahead)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		__builtin_prefetch(&t->slots[home(t, keys[i + ahead])]);
		sum += find(t, keys[i])->payload;
	}
	return sum;
}

int main(int argc, char **argv)
{
	const long bits = argument(argc, argv, 1), probes = argument(argc, argv, 2),
		   ahead = argument(argc, argv, 3);
	const uint64_t slots = (1ull << bits) / sizeof(struct slot), count = (uint64_t)probes;
	struct table t = {need(calloc(slots, sizeof(struct slot))), (unsigned)(64 - bits + 4)};
	uint64_t *keys = need(malloc((count + (uint64_t)ahead) * sizeof *keys));

	for (uint64_t key = 1; key <= slots / 2; key++)
		*find(&t, key) = (struct slot){key, key};
	for (uint64_t i = 0; i < count + (uint64_t)ahead; i++)
		keys[i] = 1 + draw_below((uint32_t)(slots / 2));
	printf("%llu\n", (unsigned long long)(ahead ? join_ahead(&t, keys, count, (uint64_t)ahead)
						    : join(&t, keys, count)));
	free(keys);
	free(t.slots);
	return 0;
}
