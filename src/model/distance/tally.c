/* SPDX-License-Identifier: MIT
 *
 * tally.c - see tally.h.
 */
#include "tally.h"

#include <stdlib.h>

#include "bins.h"
#include "errors.h"
#include "map.h"

enum { CACHE_BITS = 12, FIRST_ROOM = 1 << 12, QUEUE = 16 };

/* A combination of the cache. */
struct recent {
	uint64_t who; /* key and previous */
	uint32_t bins;
	uint32_t count; /* 0: free */
};

struct nm_tally {
	struct recent cache[1 << CACHE_BITS];
	struct recent queue[QUEUE]; /* that have left the cache; their rows are being fetched */
	uint32_t queued;
	struct nm_tally_row *rows;
	size_t count, mask;      /* mask + 1 slots, a power of two */
	struct nm_touch pending; /* the last reference's; its number is 0 at first */
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
	if (t)
		free(t->rows);
	free(t);
}

static size_t home_of(const struct nm_tally_row *r, size_t mask)
{
	return nm_mix64(((uint64_t)r->key << 32 | r->previous) ^
			((uint64_t)r->unit << 16 | r->bin) * 0x9e3779b97f4a7c15ull) &
	       mask;
}

static struct nm_tally_row *slot_of(struct nm_tally_row *rows, size_t mask, const struct nm_tally_row *r)
{
	size_t i = home_of(r, mask);

	while (rows[i].used && (rows[i].key != r->key || rows[i].previous != r->previous ||
				rows[i].bin != r->bin || rows[i].unit != r->unit))
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

static int add_row(struct nm_tally *t, struct nm_tally_row row)
{
	struct nm_tally_row *slot = slot_of(t->rows, t->mask, &row);

	if (slot->used) {
		slot->count += row.count;
		return 0;
	}
	row.used = 1;
	*slot = row;
	return ++t->count > t->mask / 4 * 3 ? grow(t) : 0;
}

/* The two rows of a combination. */
static void rows_of(const struct recent *r, struct nm_tally_row ret[2])
{
	ret[0] = (struct nm_tally_row){.key = (uint32_t)(r->who >> 32),
				       .previous = (uint32_t)r->who,
				       .bin = (uint16_t)(r->bins >> 16),
				       .unit = NM_DISTANCE_LINES,
				       .count = r->count};
	ret[1] = (struct nm_tally_row){
	    .key = ret[0].key, .bin = (uint16_t)r->bins, .unit = NM_DISTANCE_REFERENCES, .count = r->count};
}

static int add_combination(struct nm_tally *t, const struct recent *r)
{
	struct nm_tally_row rows[2];

	if (!r->count)
		return 0;
	rows_of(r, rows);
	return add_row(t, rows[0]) || add_row(t, rows[1]) ? NM_ENOMEM : 0;
}

/* Adds a combination to the table some combinations later, when its rows are there. */
static int enqueue(struct nm_tally *t, const struct recent *r)
{
	struct recent *place = &t->queue[t->queued++ % QUEUE];
	struct nm_tally_row rows[2];
	const int status = add_combination(t, place);

	rows_of(r, rows);
	__builtin_prefetch(&t->rows[home_of(&rows[0], t->mask)], 1);
	__builtin_prefetch(&t->rows[home_of(&rows[1], t->mask)], 1);
	*place = *r;
	return status;
}

static unsigned bin_of(uint64_t distance)
{
	return distance == NM_STACK_COLD     ? NM_BIN_COLD
	       : distance == NM_STACK_BEYOND ? NM_BIN_BEYOND
					     : nm_bin_of(distance);
}

static int count(struct nm_tally *t, const struct nm_touch *touch)
{
	const uint64_t who = (uint64_t)touch->key << 32 | touch->previous;
	const uint32_t bins = bin_of(touch->stack) << 16 | bin_of(touch->reuse);
	struct recent *r = &t->cache[(who ^ who >> 29 ^ bins) * 0x9e3779b97f4a7c15ull >> (64 - CACHE_BITS)];

	if (r->who == who && r->bins == bins && r->count && r->count < UINT32_MAX) {
		r->count++;
		return 0;
	}
	if (r->count && enqueue(t, r))
		return NM_ENOMEM;
	*r = (struct recent){who, bins, 1};
	return 0;
}

int nm_tally_add(struct nm_tally *t, const struct nm_touch *touches, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct nm_touch *touch = &touches[i];

		if (touch->reference == t->pending.reference) {
			if (touch->stack > t->pending.stack)
				t->pending = *touch;
			continue;
		}
		if (t->pending.reference && count(t, &t->pending))
			return NM_ENOMEM;
		t->pending = *touch;
	}
	return 0;
}

int nm_tally_rows(struct nm_tally *t, struct nm_tally_row **ret_rows, size_t *ret_count)
{
	size_t n = 0;

	if (t->pending.reference && count(t, &t->pending))
		return NM_ENOMEM;
	for (size_t i = 0; i < sizeof t->cache / sizeof *t->cache; i++)
		if (add_combination(t, &t->cache[i]))
			return NM_ENOMEM;
	for (size_t i = 0; i < QUEUE; i++)
		if (add_combination(t, &t->queue[i]))
			return NM_ENOMEM;
	for (size_t i = 0; i <= t->mask; i++)
		if (t->rows[i].used)
			t->rows[n++] = t->rows[i];
	*ret_rows = t->rows;
	*ret_count = n;
	return 0;
}
