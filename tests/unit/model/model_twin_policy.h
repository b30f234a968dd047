/* SPDX-License-Identifier: MIT
 *
 * model_twin_policy.h - replacement and index of the twin (model_twin.h): every victim is found by looking at
 * all that ever happened to the ways of a set, every set by its definition.
 */
#ifndef NM_MODEL_TWIN_POLICY_H
#define NM_MODEL_TWIN_POLICY_H

#include <stdint.h>
#include <string.h>

#include "machine.h"
#include "policy.h"

/* Of a way, whatever line it holds. */
struct twin_way {
	uint64_t touched, loaded; /* when last */
	int bit, interval;
};

struct twin_choice {
	struct nm_level_spec spec;
	uint64_t clock, random;
	int duel;
	struct twin_way *ways; /* spec.ways a set */
};

static inline uint64_t twin_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static inline uint32_t twin_draw(struct twin_choice *c, uint32_t n)
{
	c->random += 0x9e3779b97f4a7c15ull;
	return (uint32_t)((twin_mix(c->random) / (1ull << 32)) * n / (1ull << 32));
}

static inline int twin_parity(uint64_t address, const unsigned char *bits)
{
	int parity = 0;
	while (*bits)
		parity ^= (int)(address >> *bits++ & 1);
	return parity;
}

static inline uint64_t twin_set(const struct nm_level_spec *spec, uint64_t line)
{
	static const unsigned char bits[3][20] = {
	    {6, 10, 12, 14, 16, 17, 18, 20, 22, 24, 25, 26, 27, 28, 30, 32, 33, 35, 36},
	    {7, 11, 13, 15, 17, 19, 20, 21, 22, 23, 24, 26, 28, 29, 31, 33, 34, 35, 37},
	    {8, 12, 13, 16, 19, 22, 23, 26, 27, 30, 31, 34, 35, 36, 37}};
	uint64_t sets = spec->sets, set = line % sets, slice = 0;

	if (spec->index == NM_INDEX_XOR)
		return set ^ line / sets % sets;
	if (spec->index == NM_INDEX_PRIME) {
		for (uint64_t d = 2; d < sets; d++)
			if (sets % d == 0) {
				sets--;
				d = 1;
			}
		return line % sets;
	}
	if (spec->index == NM_INDEX_SLICES) {
		for (unsigned b = 0; 1u << b < spec->slices; b++)
			slice += (uint64_t)twin_parity(line * spec->line, bits[b]) << b;
		return slice * (sets / spec->slices) + line % (sets / spec->slices);
	}
	return set;
}

static inline int twin_is(const struct twin_choice *c, const char *policy)
{
	return !strcmp(nm_level_policy(&c->spec)->name, policy);
}

static inline void twin_set_bit(struct twin_choice *c, struct twin_way *ways, uint32_t way)
{
	uint32_t set = 0;

	ways[way].bit = 1;
	if (!twin_is(c, "bit-plru"))
		return;
	for (uint32_t w = 0; w < c->spec.ways; w++)
		set += (uint32_t)ways[w].bit;
	for (uint32_t w = 0; w < c->spec.ways && set == c->spec.ways; w++)
		ways[w].bit = w == way;
}

static inline void twin_hit(struct twin_choice *c, uint64_t set, uint32_t way)
{
	struct twin_way *ways = c->ways + set * c->spec.ways;

	ways[way].touched = ++c->clock;
	ways[way].interval = 0;
	twin_set_bit(c, ways, way);
}

static inline void twin_loaded(struct twin_choice *c, uint64_t set, uint32_t way)
{
	struct twin_way *ways = c->ways + set * c->spec.ways;
	uint64_t period = c->spec.sets > 64 ? c->spec.sets / 32 : 2;
	int bimodal = twin_is(c, "brrip");

	ways[way].touched = ways[way].loaded = ++c->clock;
	twin_set_bit(c, ways, way);
	if (twin_is(c, "drrip")) {
		if (set % period == 0 && c->duel < 1023)
			c->duel++;
		if (set % period == 1 && c->duel > 0)
			c->duel--;
		bimodal = set % period == 0 ? 0 : set % period == 1 ? 1 : c->duel >= 512;
	}
	ways[way].interval = bimodal && twin_draw(c, 32) != 0 ? 3 : 2;
}

/* Of the ways from `from` on: that of tree-plru in a subtree of `leaves` ways, some of which may not be
 * there. */
static inline uint32_t twin_tree(const struct twin_way *ways, uint32_t count, uint32_t from, uint32_t leaves)
{
	uint64_t latest[2] = {0, 0};
	uint32_t half = leaves / 2;

	if (leaves == 1)
		return from;
	for (uint32_t w = from; w < from + leaves && w < count; w++)
		if (ways[w].touched > latest[w >= from + half])
			latest[w >= from + half] = ways[w].touched;
	if (latest[1] > latest[0] || from + half >= count)
		return twin_tree(ways, count, from, half);
	return twin_tree(ways, count, from + half, half);
}

static inline uint32_t twin_first(const struct twin_choice *c, const struct twin_way *ways, int bit,
				  int interval)
{
	for (uint32_t w = 0; w < c->spec.ways; w++)
		if ((bit >= 0 && ways[w].bit == bit) || ways[w].interval == interval)
			return w;
	return UINT32_MAX;
}

static inline uint32_t twin_victim_random(struct twin_choice *c, struct twin_way *ways)
{
	(void)ways;
	return twin_draw(c, c->spec.ways);
}

static inline uint32_t twin_victim_tree(struct twin_choice *c, struct twin_way *ways)
{
	uint32_t leaves = 1;

	while (leaves < c->spec.ways)
		leaves *= 2;
	return twin_tree(ways, c->spec.ways, 0, leaves);
}

static inline uint32_t twin_victim_bit(struct twin_choice *c, struct twin_way *ways)
{
	return c->spec.ways == 1 ? 0 : twin_first(c, ways, 0, -1);
}

static inline uint32_t twin_victim_nru(struct twin_choice *c, struct twin_way *ways)
{
	uint32_t found = twin_first(c, ways, 0, -1);

	for (uint32_t w = 0; w < c->spec.ways && found == UINT32_MAX; w++)
		ways[w].bit = 0;
	return found == UINT32_MAX ? 0 : found;
}

static inline uint32_t twin_victim_rrip(struct twin_choice *c, struct twin_way *ways)
{
	while (twin_first(c, ways, -1, 3) == UINT32_MAX)
		for (uint32_t w = 0; w < c->spec.ways; w++)
			ways[w].interval++;
	return twin_first(c, ways, -1, 3);
}

static inline uint32_t twin_victim_lru(struct twin_choice *c, struct twin_way *ways)
{
	uint32_t found = 0;

	for (uint32_t w = 0; w < c->spec.ways; w++)
		if (ways[w].touched < ways[found].touched)
			found = w;
	return found;
}

static inline uint32_t twin_victim_fifo(struct twin_choice *c, struct twin_way *ways)
{
	uint32_t found = 0;

	for (uint32_t w = 0; w < c->spec.ways; w++)
		if (ways[w].loaded < ways[found].loaded)
			found = w;
	return found;
}

/* One row for each policy: the victim in a set whose ways all hold lines. (opt looks ahead: model_twin.h.) */
static const struct twin_policy {
	const char *name;
	uint32_t (*victim)(struct twin_choice *c, struct twin_way *ways);
} twin_policies[] = {
    {"lru", twin_victim_lru},        {"fifo", twin_victim_fifo},    {"random", twin_victim_random},
    {"tree-plru", twin_victim_tree}, {"bit-plru", twin_victim_bit}, {"nru", twin_victim_nru},
    {"srrip", twin_victim_rrip},     {"brrip", twin_victim_rrip},   {"drrip", twin_victim_rrip},
};

static inline uint32_t twin_victim(struct twin_choice *c, uint64_t set)
{
	for (unsigned i = 0; i < sizeof twin_policies / sizeof *twin_policies; i++)
		if (twin_is(c, twin_policies[i].name))
			return twin_policies[i].victim(c, c->ways + set * c->spec.ways);
	fail_msg("model_twin_policy.h has no twin of policy %s", nm_level_policy(&c->spec)->name);
	return 0;
}

#endif
