/* SPDX-License-Identifier: MIT
 *
 * facts.c - see facts.h: sums by keys.
 */
#include "facts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts_priv.h"

int nm_facts_reserve(struct nm_facts *facts, size_t rows)
{
	size_t room = facts->room ? facts->room : 64;
	nm_fact *keys;
	int64_t *sums;

	while (room < rows)
		room *= 2;
	if (room == facts->room)
		return 0;
	keys = realloc(facts->keys, (room * facts->key_count + 1) * sizeof *keys); /* there may be no key */
	if (!keys)
		return NM_ENOMEM;
	facts->keys = keys;
	sums = realloc(facts->sums, room * facts->sum_count * sizeof *sums);
	if (!sums)
		return NM_ENOMEM;
	facts->sums = sums;
	facts->room = room;
	return 0;
}

void nm_facts_done(struct nm_facts *facts)
{
	free(facts->keys);
	free(facts->sums);
	*facts = (struct nm_facts){.key_count = 0};
}

unsigned nm_facts_key(const struct nm_facts *facts, const char *name)
{
	unsigned key = 0;

	while (key < facts->key_count && strcmp(facts->names[key], name))
		key++;
	return key;
}

/* ---- rows by their keys ---- */

/* Slots of an open hash table: a row + 1, or 0. */
struct slots {
	size_t *at, mask;
};

static size_t hash(const nm_fact *keys, unsigned count)
{
	uint64_t hash = 0;

	for (unsigned k = 0; k < count; k++)
		hash = nm_mix64(hash ^ keys[k]);
	return (size_t)hash;
}

static int grow(struct slots *slots, const struct nm_facts *rows)
{
	const size_t room = slots->at ? 2 * (slots->mask + 1) : 1024;
	size_t *at = calloc(room, sizeof *at);

	if (!at)
		return NM_ENOMEM;
	for (size_t row = 0; row < rows->row_count; row++) {
		size_t i = hash(nm_facts_keys(rows, row), rows->key_count);

		while (at[i & (room - 1)])
			i++;
		at[i & (room - 1)] = row + 1;
	}
	free(slots->at);
	slots->at = at;
	slots->mask = room - 1;
	return 0;
}

/* The row of `rows` with these keys, which is added if there is none: with sums of 0. */
static int find_row(struct slots *slots, struct nm_facts *rows, const nm_fact *keys, size_t *ret_row)
{
	const size_t bytes = rows->key_count * sizeof *keys;
	size_t i;

	if (2 * rows->row_count >= slots->mask && grow(slots, rows))
		return NM_ENOMEM;
	for (i = hash(keys, rows->key_count); slots->at[i & slots->mask]; i++) {
		*ret_row = slots->at[i & slots->mask] - 1;
		if (!memcmp(nm_facts_keys(rows, *ret_row), keys, bytes))
			return 0;
	}
	if (nm_facts_reserve(rows, rows->row_count + 1))
		return NM_ENOMEM;
	*ret_row = rows->row_count++;
	slots->at[i & slots->mask] = rows->row_count;
	memcpy(rows->keys + *ret_row * rows->key_count, keys, bytes);
	memset(nm_facts_sums(rows, *ret_row), 0, rows->sum_count * sizeof *rows->sums);
	return 0;
}

static int meets(const nm_fact *keys, const struct nm_fact_condition *conditions, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (keys[conditions[i].key] != conditions[i].value)
			return 0;
	return 1;
}

/* Adds the rows of `from` to those with the same keys. */
static int add_rows(struct slots *slots, struct nm_facts *to, const struct nm_facts *from, const unsigned *by,
		    const struct nm_fact_condition *conditions, unsigned condition_count)
{
	nm_fact keys[NM_FACT_KEYS];
	size_t row;

	for (size_t i = 0; i < from->row_count; i++) {
		const nm_fact *all = nm_facts_keys(from, i);
		const int64_t *sums = nm_facts_sums(from, i);

		if (!meets(all, conditions, condition_count))
			continue;
		for (unsigned k = 0; k < to->key_count; k++)
			keys[k] = all[by[k]];
		if (find_row(slots, to, keys, &row))
			return NM_ENOMEM;
		int64_t *total = nm_facts_sums(to, row);

		for (unsigned s = 0; s < from->sum_count; s++)
			total[s] = nm_facts_add(total[s], sums[s]);
	}
	return 0;
}

int nm_facts_sum(struct nm_facts *ret_facts, const struct nm_facts *facts, const unsigned *by,
		 unsigned by_count, const struct nm_fact_condition *conditions, unsigned condition_count)
{
	struct nm_facts rows = {.key_count = by_count, .sum_count = facts->sum_count};
	struct slots slots = {NULL, 0};
	int status;

	assert(by_count <= NM_FACT_KEYS);
	for (unsigned k = 0; k < by_count; k++) {
		assert(by[k] < facts->key_count);
		rows.names[k] = facts->names[by[k]];
		rows.numbers |= (facts->numbers >> by[k] & 1) << k;
	}
	status = add_rows(&slots, &rows, facts, by, conditions, condition_count);
	free(slots.at);
	if (status)
		nm_facts_done(&rows);
	*ret_facts = rows;
	return status;
}

int nm_fact_compare(nm_fact a, nm_fact b, int are_numbers)
{
	if (a == b)
		return 0;
	return are_numbers || !a || !b ? (a > b) - (a < b) : strcmp(nm_fact_text(a), nm_fact_text(b));
}

int nm_facts_compare(const struct nm_facts *facts, size_t a, size_t b)
{
	const nm_fact *x = nm_facts_keys(facts, a), *y = nm_facts_keys(facts, b);

	for (unsigned k = 0; k < facts->key_count; k++) {
		const int order = nm_fact_compare(x[k], y[k], facts->numbers >> k & 1);

		if (order)
			return order;
	}
	return 0;
}

static int by_rank(const void *a, const void *b, void *facts)
{
	const struct nm_ranked *x = a, *y = b;

	if (isnan(x->value) != isnan(y->value))
		return isnan(x->value) ? 1 : -1;
	if (x->value < y->value || x->value > y->value)
		return x->value < y->value ? 1 : -1;
	return nm_facts_compare(facts, x->row, y->row);
}

void nm_facts_rank(const struct nm_facts *facts, struct nm_ranked *list, size_t count)
{
	if (count)
		qsort_r(list, count, sizeof *list, by_rank, (void *)facts);
}
