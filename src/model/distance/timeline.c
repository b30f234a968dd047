/* SPDX-License-Identifier: MIT
 *
 * timeline.c - see timeline.h.
 */
#include "timeline.h"

#include <assert.h>
#include <string.h>

#include "errors.h"
#include "lazy_array.h"

enum { FIRST_TIME = 1, WORD_BITS = 6, MIN_TIMES = 1 << NM_BRANCH_BITS };

/* Nodes of a height: all that the trunks have. */
static uint64_t nodes(const struct nm_timeline *t, unsigned bits)
{
	return (((uint64_t)t->room >> NM_TRUNK_BITS) + 1) << (NM_TRUNK_BITS - bits);
}

int nm_timeline_new(struct nm_timeline *ret, uint64_t times)
{
	struct nm_timeline t = {.next = FIRST_TIME};

	if (times > UINT32_MAX - MIN_TIMES)
		return NM_ENOMEM;
	t.room = (uint32_t)(times + MIN_TIMES - 1) / MIN_TIMES * MIN_TIMES;
	t.bits = nm_lazy_array(nodes(&t, WORD_BITS), sizeof *t.bits);
	t.leaves = nm_lazy_array(nodes(&t, NM_LEAF_BITS), sizeof *t.leaves);
	t.branches = nm_lazy_array(nodes(&t, NM_BRANCH_BITS), sizeof *t.branches);
	t.trunks = nm_lazy_array(nodes(&t, NM_TRUNK_BITS), sizeof *t.trunks);
	if (!t.bits || !t.leaves || !t.branches || !t.trunks) {
		nm_timeline_free(&t);
		return NM_ENOMEM;
	}
	*ret = t;
	return 0;
}

void nm_timeline_free(struct nm_timeline *t)
{
	nm_lazy_array_free(t->bits, nodes(t, WORD_BITS), sizeof *t->bits);
	nm_lazy_array_free(t->leaves, nodes(t, NM_LEAF_BITS), sizeof *t->leaves);
	nm_lazy_array_free(t->branches, nodes(t, NM_BRANCH_BITS), sizeof *t->branches);
	nm_lazy_array_free(t->trunks, nodes(t, NM_TRUNK_BITS), sizeof *t->trunks);
	memset(t, 0, sizeof *t);
}

uint64_t nm_timeline_bytes(const struct nm_timeline *t)
{
	return nodes(t, WORD_BITS) * sizeof *t->bits + nodes(t, NM_LEAF_BITS) * sizeof *t->leaves +
	       nodes(t, NM_BRANCH_BITS) * sizeof *t->branches + nodes(t, NM_TRUNK_BITS) * sizeof *t->trunks;
}

static void add(struct nm_timeline *t, uint32_t time, uint32_t more)
{
	t->leaves[time >> NM_LEAF_BITS] = (uint16_t)(t->leaves[time >> NM_LEAF_BITS] + more);
	t->branches[time >> NM_BRANCH_BITS] += more;
	t->trunks[time >> NM_TRUNK_BITS] += more;
	t->live += more;
}

uint32_t nm_timeline_add(struct nm_timeline *t)
{
	uint32_t time = t->next++;

	assert(time < t->room);
	t->bits[time >> WORD_BITS] |= 1ull << (time & 63);
	add(t, time, 1);
	return time;
}

void nm_timeline_fill(struct nm_timeline *t, uint32_t count)
{
	assert(t->next == FIRST_TIME && count < t->room);
	while (t->next <= count)
		nm_timeline_add(t);
}

void nm_timeline_remove(struct nm_timeline *t, uint32_t time)
{
	assert(t->bits[time >> WORD_BITS] >> (time & 63) & 1);
	t->bits[time >> WORD_BITS] &= ~(1ull << (time & 63));
	add(t, time, UINT32_MAX); /* one less */
}

/* The popcount of processors that have no instruction for it. */
static uint32_t ones(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555ull;
	x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (uint32_t)(x * 0x0101010101010101ull >> 56);
}

/* Behind the last node of height `low` in the parent, of height `high`, that a time is in. */
static uint32_t end_of(uint32_t time, unsigned low, unsigned high)
{
	return ((time >> high) + 1) << (high - low);
}

uint32_t nm_timeline_later(const struct nm_timeline *t, uint32_t time)
{
	const uint32_t trunks = (t->next >> NM_TRUNK_BITS) + 1;
	uint32_t n = ones(t->bits[time >> WORD_BITS] >> (time & 63)) - 1, i;

	for (i = (time >> WORD_BITS) + 1; i < end_of(time, WORD_BITS, NM_LEAF_BITS); i++)
		n += ones(t->bits[i]);
	for (i = (time >> NM_LEAF_BITS) + 1; i < end_of(time, NM_LEAF_BITS, NM_BRANCH_BITS); i++)
		n += t->leaves[i];
	for (i = (time >> NM_BRANCH_BITS) + 1; i < end_of(time, NM_BRANCH_BITS, NM_TRUNK_BITS); i++)
		n += t->branches[i];
	for (i = (time >> NM_TRUNK_BITS) + 1; i < trunks; i++)
		n += t->trunks[i];
	return n;
}
