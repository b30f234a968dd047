/* SPDX-License-Identifier: MIT
 *
 * tally.c - see tally.h.
 */
#include "tally.h"

#include <stdlib.h>

#include "bins.h"
#include "errors.h"
#include "map.h"
#include "vector.h"

enum {
	CACHE_BITS = 12,
	FIRST_ROOM = 1 << 12,
	QUEUE = 16,
	SHORT_STACK = 16, /* distances below it are short */
	SHORT_BINS = NM_BINS_SINGLE + 4 * NM_BINS_OCTAVE
};

/* Counts of short distances. One that overflows has been 2^16, which becomes a row. */
struct pair_counts {
	uint64_t who; /* key and previous */
	uint16_t at[SHORT_STACK];
};

struct key_counts {
	uint16_t at[SHORT_BINS]; /* by bin of the reuse distance */
};

/* Where a pair was found last. */
struct found {
	uint64_t who; /* 0: free; no key is 0 */
	uint32_t index;
};

struct nm_tally {
	struct found found[1 << CACHE_BITS];
	struct nm_map pair_index; /* who -> index in pairs */
	struct nm_vec(struct pair_counts) pairs;
	struct nm_vec(struct key_counts) keys;
	struct nm_tally_row cache[1 << CACHE_BITS];
	struct nm_tally_row queue[QUEUE]; /* that have left the cache; their slots are being fetched */
	uint32_t queued;
	struct nm_tally_row *rows;
	size_t count, mask; /* mask + 1 slots, a power of two */
};

struct nm_tally *nm_tally_new(void)
{
	struct nm_tally *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	t->rows = calloc(FIRST_ROOM, sizeof *t->rows);
	t->mask = FIRST_ROOM - 1;
	if (!t->rows) {
		free(t);
		return NULL;
	}
	return t;
}

void nm_tally_free(struct nm_tally *t)
{
	if (!t)
		return;
	nm_map_done(&t->pair_index);
	nm_vec_free(&t->pairs);
	nm_vec_free(&t->keys);
	free(t->rows);
	free(t);
}

/* ---- rows ---- */

static int is_same(const struct nm_tally_row *a, const struct nm_tally_row *b)
{
	return a->key == b->key && a->previous == b->previous && a->bin == b->bin && a->unit == b->unit;
}

static uint64_t hash(uint32_t key, uint32_t previous, unsigned unit, unsigned bin)
{
	return nm_mix64(((uint64_t)key << 32 | previous) ^ ((uint64_t)unit << 16 | bin) * 0x9e3779b97f4a7c15);
}

static size_t home_of(const struct nm_tally_row *r, size_t mask)
{
	return hash(r->key, r->previous, r->unit, r->bin) & mask;
}

static struct nm_tally_row *slot_of(struct nm_tally_row *rows, size_t mask, const struct nm_tally_row *r)
{
	size_t i = home_of(r, mask);

	while (rows[i].used && !is_same(&rows[i], r))
		i = (i + 1) & mask;
	return &rows[i];
}

static int grow(struct nm_tally *t)
{
	const size_t mask = 2 * t->mask + 1;
	struct nm_tally_row *rows = calloc(mask + 1, sizeof *rows);

	if (!rows)
		return NM_ENOMEM;
	for (size_t i = 0; i <= t->mask; i++)
		if (t->rows[i].used)
			*slot_of(rows, mask, &t->rows[i]) = t->rows[i];
	free(t->rows);
	t->rows = rows;
	t->mask = mask;
	return 0;
}

static int add_row(struct nm_tally *t, const struct nm_tally_row *row)
{
	struct nm_tally_row *slot = slot_of(t->rows, t->mask, row);

	if (slot->used) {
		slot->count += row->count;
		return 0;
	}
	*slot = *row;
	return ++t->count > t->mask / 4 * 3 ? grow(t) : 0;
}

/* Adds a row some rows later, when its slot is there. */
static int enqueue(struct nm_tally *t, const struct nm_tally_row *row)
{
	struct nm_tally_row *place = &t->queue[t->queued++ % QUEUE], last = *place;

	*place = *row;
	__builtin_prefetch(&t->rows[home_of(row, t->mask)], 1);
	return last.used ? add_row(t, &last) : 0;
}

static int count_row(struct nm_tally *t, uint32_t key, uint32_t previous, enum nm_distance_unit unit,
		     unsigned bin, uint64_t count)
{
	struct nm_tally_row *r = &t->cache[hash(key, previous, unit, bin) >> (64 - CACHE_BITS)];

	if (r->key != key || r->previous != previous || r->bin != bin || r->unit != unit) {
		if (r->used && enqueue(t, r))
			return NM_ENOMEM;
		r->key = key;
		r->previous = previous;
		r->bin = (uint16_t)bin;
		r->unit = (uint8_t)unit;
		r->used = 1;
		r->count = 0;
	}
	r->count += count;
	return 0;
}

static int count_stack_row(struct nm_tally *t, uint64_t who, unsigned bin, uint64_t count)
{
	return count_row(t, (uint32_t)(who >> 32), (uint32_t)who, NM_DISTANCE_LINES, bin, count);
}

static int count_reuse_row(struct nm_tally *t, uint32_t key, unsigned bin, uint64_t count)
{
	return count_row(t, key, 0, NM_DISTANCE_REFERENCES, bin, count);
}

/* ---- touches ---- */

static int find_pair(struct nm_tally *t, uint64_t who, struct found *found)
{
	const uint64_t index = nm_map_get(&t->pair_index, who, t->pairs.count);

	if (index == t->pairs.count && (nm_vec_push(&t->pairs, (struct pair_counts){.who = who}) ||
					nm_map_put(&t->pair_index, who, index)))
		return NM_ENOMEM;
	*found = (struct found){who, (uint32_t)index};
	return 0;
}

static unsigned bin_of(uint64_t distance)
{
	return distance == NM_STACK_COLD     ? NM_BIN_COLD
	       : distance == NM_STACK_BEYOND ? NM_BIN_BEYOND
					     : nm_bin_of(distance);
}

static int count_stack(struct nm_tally *t, uint64_t who, uint64_t distance)
{
	struct found *found = &t->found[who * 0x9e3779b97f4a7c15 >> (64 - CACHE_BITS)];

	if (distance >= SHORT_STACK)
		return count_stack_row(t, who, bin_of(distance), 1);
	if (found->who != who && find_pair(t, who, found))
		return NM_ENOMEM;
	if (!++t->pairs.at[found->index].at[distance])
		return count_stack_row(t, who, (unsigned)distance, UINT16_MAX + 1);
	return 0;
}

static int count_reuse(struct nm_tally *t, uint32_t key, unsigned bin)
{
	if (bin >= SHORT_BINS)
		return count_reuse_row(t, key, bin, 1);
	if (key >= t->keys.count && nm_vec_reach(&t->keys, (size_t)key + 1))
		return NM_ENOMEM;
	if (!++t->keys.at[key].at[bin])
		return count_reuse_row(t, key, bin, UINT16_MAX + 1);
	return 0;
}

int nm_tally_add(struct nm_tally *t, const struct nm_touch *touches, size_t n)
{
	for (size_t i = 0; i < n;) {
		const struct nm_touch *most = &touches[i];

		for (i++; i < n && touches[i].first == most->first; i++)
			if (touches[i].stack > most->stack)
				most = &touches[i];
		if (count_stack(t, (uint64_t)most->key << 32 | most->previous, most->stack) ||
		    count_reuse(t, most->key, bin_of(most->reuse)))
			return NM_ENOMEM;
	}
	return 0;
}

/* Turns what was counted elsewhere into rows. */
static int settle(struct nm_tally *t)
{
	int status = 0;

	for (size_t i = 0; i < t->pairs.count; i++) {
		const struct pair_counts *counts = &t->pairs.at[i];

		for (unsigned d = 0; d < SHORT_STACK && !status; d++)
			if (counts->at[d])
				status = count_stack_row(t, counts->who, d, counts->at[d]);
	}
	for (size_t key = 0; key < t->keys.count; key++)
		for (unsigned bin = 0; bin < SHORT_BINS && !status; bin++)
			if (t->keys.at[key].at[bin])
				status = count_reuse_row(t, (uint32_t)key, bin, t->keys.at[key].at[bin]);
	for (size_t i = 0; i < sizeof t->cache / sizeof *t->cache && !status; i++)
		status = t->cache[i].used ? add_row(t, &t->cache[i]) : 0;
	for (size_t i = 0; i < QUEUE && !status; i++)
		status = t->queue[i].used ? add_row(t, &t->queue[i]) : 0;
	return status;
}

int nm_tally_rows(struct nm_tally *t, struct nm_tally_row **ret_rows, size_t *ret_count)
{
	size_t n = 0;

	if (settle(t))
		return NM_ENOMEM;
	for (size_t i = 0; i <= t->mask; i++)
		if (t->rows[i].used)
			t->rows[n++] = t->rows[i];
	*ret_rows = t->rows;
	*ret_count = n;
	return 0;
}
