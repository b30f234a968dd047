/* SPDX-License-Identifier: MIT
 *
 * policy_plru.c - approximations of LRU in hardware, with at most one bit per way.
 *
 * tree-plru: a binary tree over the ways, whose every node points to the half that was not touched last; the
 * victim is where the pointers lead. Where the ways are no power of two the tree is that of the next power,
 * and a half without ways is never entered. bit-plru: a bit per way, set by a touch; when the last is set all
 * others are cleared; the victim is the first way without. nru: a bit per way, cleared by a touch; the victim
 * is the first way whose bit is set; where none is, all are set first (as in Jaleel et al., ISCA 2010).
 */
#include <string.h>

#include "policy.h"

/* `state` holds the nodes of the tree as a heap does, from 1 on; 1: the upper half was touched last. */
static uint32_t leaf_count(uint32_t ways) { return ways < 2 ? 1 : 1u << (32 - __builtin_clz(ways - 1)); }

static void point_away(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	unsigned char *nodes = nm_replacement_state(r, set);

	for (uint32_t node = way + leaf_count(r->ways); node > 1; node /= 2)
		nodes[node / 2] = node & 1;
}

static uint32_t follow_tree(struct nm_replacement *r, uint64_t set)
{
	const unsigned char *nodes = nm_replacement_state(r, set);
	uint32_t node = 1, way = 0;

	for (uint32_t half = leaf_count(r->ways) / 2; half; half /= 2) {
		unsigned upper = !nodes[node] && way + half < r->ways;

		node = 2 * node + upper;
		way += upper * half;
	}
	return way;
}

/* bit-plru: byte `ways` and those after it count the bits that are set. */
static void mark_bit(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	unsigned char *bits = nm_replacement_state(r, set);
	uint32_t count;

	memcpy(&count, bits + r->ways, sizeof count);
	count += !bits[way];
	bits[way] = 1;
	if (count == r->ways && r->ways > 1) {
		memset(bits, 0, r->ways);
		bits[way] = 1;
		count = 1;
	}
	memcpy(bits + r->ways, &count, sizeof count);
}

static int bits_are_valid(const struct nm_replacement *r, uint64_t set)
{
	const unsigned char *bits = nm_replacement_state(r, set);
	uint32_t count, marked = 0;

	memcpy(&count, bits + r->ways, sizeof count);
	for (uint32_t way = 0; way < r->ways; way++)
		marked += bits[way];
	return count == marked && count <= r->ways;
}

static uint32_t first_without(struct nm_replacement *r, uint64_t set)
{
	const unsigned char *bits = nm_replacement_state(r, set), *way = memchr(bits, 0, r->ways);

	return way ? (uint32_t)(way - bits) : 0;
}

/* nru keeps 1 where a line was touched. */
static void set_used(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	((unsigned char *)nm_replacement_state(r, set))[way] = 1;
}

static uint32_t first_unused(struct nm_replacement *r, uint64_t set)
{
	unsigned char *used = nm_replacement_state(r, set), *way = memchr(used, 0, r->ways);

	if (way)
		return (uint32_t)(way - used);
	memset(used, 0, r->ways);
	return 0;
}

const struct nm_policy nm_policy_tree_plru = {
    .name = "tree-plru", .way_bytes = 2, .touch = point_away, .load = point_away, .victim = follow_tree};
const struct nm_policy nm_policy_bit_plru = {.name = "bit-plru",
					     .way_bytes = 1,
					     .set_bytes = sizeof(uint32_t),
					     .touch = mark_bit,
					     .load = mark_bit,
					     .victim = first_without,
					     .is_valid = bits_are_valid};
const struct nm_policy nm_policy_nru = {
    .name = "nru", .way_bytes = 1, .touch = set_used, .load = set_used, .victim = first_unused};
