/* SPDX-License-Identifier: MIT */
#include "touch_times.h"

#include <assert.h>
#include <string.h>

#include "errors.h"
#include "lazy_array.h"

enum { FIRST_TIME = 1, WORD_BITS = 6, MIN_TIMES = 1 << NM_TWIG_BITS };

enum { LEAF_WORDS = 1 << (NM_LEAF_BITS - WORD_BITS), TWIG_LEAVES = 1 << (NM_TWIG_BITS - NM_LEAF_BITS) };
enum { FANOUT = 1 << (NM_BRANCH_BITS - NM_TWIG_BITS) }; /* of branches and trunks */
_Static_assert(NM_TRUNK_BITS - NM_BRANCH_BITS == NM_BRANCH_BITS - NM_TWIG_BITS, "both have the same");

/* How many nodes there are of a height: their parents, of height `next`, are complete. */
static uint64_t node_count(uint32_t room, unsigned height, unsigned next)
{
	return (((uint64_t)room >> next) + 1) << (next - height);
}

static uint64_t word_count(const struct nm_touch_times *t)
{
	return node_count(t->room, WORD_BITS, NM_LEAF_BITS);
}
static uint64_t leaf_count(const struct nm_touch_times *t)
{
	return node_count(t->room, NM_LEAF_BITS, NM_TWIG_BITS);
}
static uint64_t twig_count(const struct nm_touch_times *t)
{
	return node_count(t->room, NM_TWIG_BITS, NM_BRANCH_BITS);
}
static uint64_t branch_count(const struct nm_touch_times *t)
{
	return node_count(t->room, NM_BRANCH_BITS, NM_TRUNK_BITS);
}
static uint64_t trunk_count(const struct nm_touch_times *t)
{
	return ((uint64_t)t->room >> NM_TRUNK_BITS) + 1;
}

int touch_times_new(struct nm_touch_times *ret, uint64_t times)
{
	struct nm_touch_times t = {.next = FIRST_TIME};

	if (times > UINT32_MAX - MIN_TIMES)
		return NM_ENOMEM;
	t.room = (uint32_t)(times + MIN_TIMES - 1) / MIN_TIMES * MIN_TIMES;
	t.bits = nm_lazy_array(word_count(&t), sizeof *t.bits);
	t.leaves = nm_lazy_array(leaf_count(&t), sizeof *t.leaves);
	t.twigs = nm_lazy_array(twig_count(&t), sizeof *t.twigs);
	t.branches = nm_lazy_array(branch_count(&t), sizeof *t.branches);
	t.trunks = nm_lazy_array(trunk_count(&t), sizeof *t.trunks);
	if (!t.bits || !t.leaves || !t.twigs || !t.branches || !t.trunks) {
		touch_times_free(&t);
		return NM_ENOMEM;
	}
	*ret = t;
	return 0;
}

void touch_times_free(struct nm_touch_times *t)
{
	nm_lazy_array_free(t->bits, word_count(t), sizeof *t->bits);
	nm_lazy_array_free(t->leaves, leaf_count(t), sizeof *t->leaves);
	nm_lazy_array_free(t->twigs, twig_count(t), sizeof *t->twigs);
	nm_lazy_array_free(t->branches, branch_count(t), sizeof *t->branches);
	nm_lazy_array_free(t->trunks, trunk_count(t), sizeof *t->trunks);
	memset(t, 0, sizeof *t);
}

uint64_t touch_times_bytes(const struct nm_touch_times *t)
{
	return word_count(t) * sizeof *t->bits + leaf_count(t) * sizeof *t->leaves +
	       twig_count(t) * sizeof *t->twigs + branch_count(t) * sizeof *t->branches +
	       trunk_count(t) * sizeof *t->trunks;
}

static void add_time(struct nm_touch_times *t, uint32_t time, uint32_t more)
{
	t->leaves[time >> NM_LEAF_BITS] = (uint16_t)(t->leaves[time >> NM_LEAF_BITS] + more);
	t->twigs[time >> NM_TWIG_BITS] += more;
	t->branches[time >> NM_BRANCH_BITS] += more;
	t->trunks[time >> NM_TRUNK_BITS] += more;
	t->live += more;
}

uint32_t touch_times_add(struct nm_touch_times *t)
{
	uint32_t time = t->next++;

	assert(t->live < t->room);
	assert(time < t->room);
	t->bits[time >> WORD_BITS] |= 1ull << (time & 63);
	add_time(t, time, 1);
	return time;
}

void touch_times_fill(struct nm_touch_times *t, uint32_t count)
{
	assert(t->next == FIRST_TIME && count < t->room);
	while (t->next <= count)
		touch_times_add(t);
}

void touch_times_remove(struct nm_touch_times *t, uint32_t time)
{
	assert(t->bits[time >> WORD_BITS] >> (time & 63) & 1);
	t->bits[time >> WORD_BITS] &= ~(1ull << (time & 63));
	add_time(t, time, UINT32_MAX); /* one less */
}

/* ---- sums behind an index: all of a node is read and masked, which compilers make vectors of ---- */

/* Read from element n - 1 - at on, such a table masks all of n elements that are not behind `at`. */
static const uint64_t keep_words[2 * LEAF_WORDS] = {[LEAF_WORDS... 2 * LEAF_WORDS - 1] = UINT64_MAX};
static const uint16_t keep_leaves[2 * TWIG_LEAVES] = {[TWIG_LEAVES... 2 * TWIG_LEAVES - 1] = UINT16_MAX};
static const uint32_t keep_sums[2 * FANOUT] = {[FANOUT... 2 * FANOUT - 1] = UINT32_MAX};

/* The number of ones in each byte; not every processor has an instruction for it. */
static uint64_t byte_ones(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555;
	x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
	return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
}

/* Ones of a leaf behind a bit. */
static uint32_t ones_behind(const uint64_t *words, unsigned bit)
{
	const unsigned at = bit >> WORD_BITS;
	const uint64_t *keep = &keep_words[LEAF_WORDS - 1 - at];
	uint64_t bytes = byte_ones(words[at] >> (bit & 63) >> 1);

	for (unsigned i = 0; i < LEAF_WORDS; i++)
		bytes += byte_ones(words[i] & keep[i]);
	bytes = (bytes & 0x00ff00ff00ff00ff) + (bytes >> 8 & 0x00ff00ff00ff00ff);
	return (uint32_t)(bytes * 0x0001000100010001 >> 48);
}

static uint32_t leaves_behind(const uint16_t *leaves, unsigned at)
{
	const uint16_t *keep = &keep_leaves[TWIG_LEAVES - 1 - at];
	uint16_t sum = 0;

	for (unsigned i = 0; i < TWIG_LEAVES; i++)
		sum = (uint16_t)(sum + (leaves[i] & keep[i]));
	return sum;
}

static uint32_t sums_behind(const uint32_t *sums, unsigned at)
{
	const uint32_t *keep = &keep_sums[FANOUT - 1 - at];
	uint32_t sum = 0;

	for (unsigned i = 0; i < FANOUT; i++)
		sum += sums[i] & keep[i];
	return sum;
}

/* The first node of height `low` in the parent, of height `high`, that a time is in; its own place there. */
static uint32_t first_of(uint32_t time, unsigned low, unsigned high) { return time >> high << (high - low); }

static unsigned place_of(uint32_t time, unsigned low, unsigned high)
{
	return time >> low & ((1u << (high - low)) - 1);
}

uint32_t touch_times_later(const struct nm_touch_times *t, uint32_t time)
{
	const uint32_t end = (t->next >> NM_TRUNK_BITS) + 1;
	uint32_t n =
	    ones_behind(&t->bits[first_of(time, WORD_BITS, NM_LEAF_BITS)], time & ((1u << NM_LEAF_BITS) - 1));

	assert(time < t->next);
	n += leaves_behind(&t->leaves[first_of(time, NM_LEAF_BITS, NM_TWIG_BITS)],
			   place_of(time, NM_LEAF_BITS, NM_TWIG_BITS));
	n += sums_behind(&t->twigs[first_of(time, NM_TWIG_BITS, NM_BRANCH_BITS)],
			 place_of(time, NM_TWIG_BITS, NM_BRANCH_BITS));
	n += sums_behind(&t->branches[first_of(time, NM_BRANCH_BITS, NM_TRUNK_BITS)],
			 place_of(time, NM_BRANCH_BITS, NM_TRUNK_BITS));
	for (uint32_t i = (time >> NM_TRUNK_BITS) + 1; i < end; i++)
		n += t->trunks[i];
	return n;
}
