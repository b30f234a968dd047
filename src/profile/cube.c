/* SPDX-License-Identifier: MIT */
#include "cube.h"

#include <assert.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

int nm_key_is_number(const char *name)
{
	return !strcmp(name, "thread") || !strcmp(name, "address") || !strcmp(name, "context") ||
	       !fnmatch("*line", name, 0);
}

struct nm_cube nm_cube_of(const char *const *keys, unsigned sum_count)
{
	struct nm_cube cube = {.sum_count = sum_count};

	for (; *keys; keys++) {
		assert(cube.key_count < NM_CUBE_KEYS);
		cube.numbers |= (unsigned)nm_key_is_number(*keys) << cube.key_count;
		cube.names[cube.key_count++] = *keys;
	}
	return cube;
}

void nm_cube_done(struct nm_cube *cube)
{
	free(cube->keys);
	free(cube->sums);
	nm_hash_index_done(&cube->index);
	*cube = (struct nm_cube){.key_count = 0};
}

unsigned nm_cube_key(const struct nm_cube *cube, const char *name)
{
	unsigned key = 0;

	while (key < cube->key_count && strcmp(cube->names[key], name))
		key++;
	return key;
}

/* ---- names ---- */

void nm_cube_names_done(struct nm_cube_names *names)
{
	nm_strings_done(&names->pool);
	nm_map_done(&names->clean);
}

/* The text as it is shown, interned; NULL: no memory. */
static const char *shown(struct nm_cube_names *names, const char *text)
{
	const char *stored = nm_intern(&names->pool, text), *kept;
	char *clean;

	if (!stored || names->are_raw)
		return stored;
	kept = (const char *)nm_map_get(&names->clean, (uintptr_t)stored, 0);
	if (kept)
		return kept;
	clean = nm_utf8_clean(stored);
	kept = clean ? nm_intern(&names->pool, clean) : NULL;
	free(clean);
	return kept && !nm_map_put(&names->clean, (uintptr_t)stored, (uintptr_t)kept) &&
		       !nm_map_put(&names->clean, (uintptr_t)kept, (uintptr_t)kept)
		   ? kept
		   : NULL;
}

nm_key nm_key_find(struct nm_cube_names *names, const char *text)
{
	const char *stored = nm_intern(&names->pool, text);

	return stored && nm_map_get(&names->clean, (uintptr_t)stored, 0) ? (nm_key)stored : NM_KEY_UNKNOWN;
}

/* ---- rows by their keys ---- */

static uint64_t hash_keys(const nm_key *keys, unsigned count)
{
	uint64_t hash = 0;

	for (unsigned k = 0; k < count; k++)
		hash = nm_mix64(hash ^ keys[k]);
	return hash;
}

static int grow_rows(struct nm_cube *cube)
{
	const size_t room = cube->room ? 2 * cube->room : 64;
	nm_key *keys =
	    realloc(cube->keys, (room * cube->key_count + 1) * sizeof *keys); /* there may be no key */
	int64_t *sums;

	if (!keys)
		return NM_ENOMEM;
	cube->keys = keys;
	sums = realloc(cube->sums, room * cube->sum_count * sizeof *sums);
	if (!sums)
		return NM_ENOMEM;
	cube->sums = sums;
	cube->room = room;
	return 0;
}

int64_t *nm_cube_at(struct nm_cube *cube, const nm_key *keys)
{
	const size_t bytes = cube->key_count * sizeof *keys;
	const uint64_t hash = hash_keys(keys, cube->key_count);
	uint32_t row;

	for (size_t at = 0; nm_hash_index_next(&cube->index, hash, &at, &row);)
		if (!memcmp(nm_cube_keys(cube, row), keys, bytes))
			return nm_cube_sums(cube, row);
	if (cube->row_count == cube->room && grow_rows(cube))
		return NULL;
	if (cube->row_count == UINT32_MAX || nm_hash_index_add(&cube->index, hash, (uint32_t)cube->row_count))
		return NULL;
	memcpy(cube->keys + cube->row_count * cube->key_count, keys, bytes);
	return memset(nm_cube_sums(cube, cube->row_count++), 0, cube->sum_count * sizeof *cube->sums);
}

int nm_cube_add(struct nm_cube *cube, const nm_key *keys, const int64_t *sums)
{
	int64_t *total = nm_cube_at(cube, keys);

	assert(cube->sum_count > 0);
	for (unsigned s = 0; total && s < cube->sum_count; s++)
		total[s] = nm_sum_bounded(total[s], sums[s]);
	return total ? 0 : NM_ENOMEM;
}

/* A number as a key; negative ones occur in damaged profiles only. */
static nm_key key_number(const struct nm_rows *rows, unsigned column)
{
	const int64_t value = nm_rows_integer(rows, column);

	return nm_rows_type(rows, column) == NM_VALUE_NULL || value < 0 || value == INT64_MAX
		   ? 0
		   : (nm_key)value + 1;
}

int nm_cube_read_keys(const struct nm_cube *cube, struct nm_cube_names *names, const struct nm_rows *rows,
		      nm_key *keys)
{
	for (unsigned k = 0; k < cube->key_count; k++) {
		const int is_number = cube->numbers >> k & 1;
		const char *text = is_number ? NULL : nm_rows_text(rows, k);

		keys[k] = is_number ? key_number(rows, k) : text ? (nm_key)shown(names, text) : 0;
		if (text && !keys[k])
			return NM_ENOMEM;
	}
	return 0;
}

int nm_cube_read(struct nm_cube *cube, struct nm_cube_names *names, struct nm_rows *rows,
		 struct nm_error *err)
{
	int status;

	while ((status = nm_rows_next(rows, err)) > 0) {
		nm_key keys[NM_CUBE_KEYS];
		int64_t *sums = nm_cube_read_keys(cube, names, rows, keys) ? NULL : nm_cube_at(cube, keys);

		if (!sums)
			return nm_fail_memory(err);
		for (unsigned s = 0; s < cube->sum_count; s++)
			sums[s] = nm_sum_bounded(sums[s], nm_rows_bounded(rows, cube->key_count + s));
	}
	return status;
}

/* ---- sums ---- */

int nm_cube_meets(const nm_key *keys, const struct nm_cube_condition *conditions, unsigned count)
{
	assert(conditions || !count);
	for (unsigned i = 0; i < count; i++)
		if (keys[conditions[i].key] != conditions[i].value)
			return 0;
	return 1;
}

int nm_cube_group(struct nm_cube *ret_cube, const struct nm_cube *cube, const unsigned *by, unsigned by_count,
		  const struct nm_cube_condition *conditions, unsigned condition_count)
{
	struct nm_cube to = {.key_count = by_count, .sum_count = cube->sum_count};
	nm_key keys[NM_CUBE_KEYS];
	int status = 0;

	assert(by_count <= NM_CUBE_KEYS);
	for (unsigned k = 0; k < by_count; k++) {
		assert(by[k] < cube->key_count);
		to.names[k] = cube->names[by[k]];
		to.numbers |= (cube->numbers >> by[k] & 1) << k;
	}
	for (size_t row = 0; !status && row < cube->row_count; row++) {
		const nm_key *all = nm_cube_keys(cube, row);

		if (!nm_cube_meets(all, conditions, condition_count))
			continue;
		for (unsigned k = 0; k < by_count; k++)
			keys[k] = all[by[k]];
		status = nm_cube_add(&to, keys, nm_cube_sums(cube, row));
	}
	if (status)
		nm_cube_done(&to);
	*ret_cube = to;
	return status;
}

struct nm_metric_sums nm_cube_counts(const struct nm_cube *cube, size_t row)
{
	struct nm_metric_sums counts;

	assert(row < cube->row_count);
	assert(cube->sum_count == NM_COUNTS);
	memcpy(&counts, nm_cube_sums(cube, row), sizeof counts);
	return counts;
}

struct nm_metric_sums nm_cube_all_counts(const struct nm_cube *cube)
{
	struct nm_metric_sums all = {0};

	for (size_t row = 0; row < cube->row_count; row++) {
		const struct nm_metric_sums counts = nm_cube_counts(cube, row);

		nm_sums_add(&all, &counts);
	}
	return all;
}

int64_t nm_cube_misses(const struct nm_cube *cube, size_t row)
{
	const struct nm_metric_sums counts = nm_cube_counts(cube, row);

	assert(row < cube->row_count);
	return counts.read_misses + counts.write_misses;
}

/* ---- order ---- */

int nm_key_compare(nm_key a, nm_key b, int are_numbers)
{
	if (a == b)
		return 0;
	return are_numbers || !a || !b ? (a > b) - (a < b) : strcmp(nm_key_text(a), nm_key_text(b));
}

int nm_cube_compare(const struct nm_cube *cube, size_t a, size_t b)
{
	const nm_key *x = nm_cube_keys(cube, a), *y = nm_cube_keys(cube, b);

	assert(a < cube->row_count && b < cube->row_count);
	for (unsigned k = 0; k < cube->key_count; k++) {
		const int order = nm_key_compare(x[k], y[k], cube->numbers >> k & 1);

		if (order)
			return order;
	}
	return 0;
}

static int in_order(const void *a, const void *b, void *cube)
{
	return nm_cube_compare(cube, *(const size_t *)a, *(const size_t *)b);
}

size_t *nm_cube_order(const struct nm_cube *cube)
{
	size_t *order = malloc((cube->row_count + 1) * sizeof *order);

	for (size_t row = 0; order && row < cube->row_count; row++)
		order[row] = row;
	if (order)
		qsort_r(order, cube->row_count, sizeof *order, in_order, (void *)cube);
	return order;
}

static int by_rank(const void *a, const void *b, void *cube)
{
	const struct nm_ranked *r = a, *y = b;

	if (isnan(r->value) != isnan(y->value))
		return isnan(r->value) ? 1 : -1;
	if (r->value < y->value || r->value > y->value)
		return r->value < y->value ? 1 : -1;
	return nm_cube_compare(cube, r->row, y->row);
}

void nm_cube_rank(const struct nm_cube *cube, struct nm_ranked *list, size_t count)
{
	assert(count <= cube->row_count);
	if (count)
		qsort_r(list, count, sizeof *list, by_rank, (void *)cube);
}
