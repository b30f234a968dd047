/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

/* Equal for facts of one row. Names are interned, so their addresses tell them apart. */
static const char *key_of(const struct nm_diff_names *names, const char *has, struct nm_strings *pool)
{
	char text[NM_DIFF_KEYS * 20 + 1];
	int n = 0;

	for (unsigned key = 0; key < NM_DIFF_KEYS; key++)
		if (has[key])
			n += snprintf(text + n, sizeof text - (size_t)n, "%" PRIxPTR "/",
				      key == NM_DIFF_LINE ? (uintptr_t)names->line
							  : (uintptr_t)names->text[key]);
	return nm_intern(pool, text);
}

static int add_fact(struct nm_diff_rows *rows, const struct nm_diff_fact *fact, unsigned side,
		    const char *key, struct nm_map *row_of)
{
	const size_t i = nm_map_get(row_of, (uintptr_t)key, rows->at.count);
	struct nm_diff_row *row;

	if (i == rows->at.count && (nm_vec_push(&rows->at, (struct nm_diff_row){.names = {NULL}}) ||
				    nm_map_put(row_of, (uintptr_t)key, i)))
		return NM_ENOMEM;
	row = &rows->at.at[i];
	if (!row->names[side])
		row->names[side] = &fact->own;
	for (unsigned m = 0; m < NM_DIFF_METRICS; m++)
		row->sums[side][m] += fact->sums[m];
	return 0;
}

/* References that hit change no cost: rows without misses on any side are left out too. */
static int is_changed(const struct nm_diff_row *row, unsigned count)
{
	for (unsigned side = 1; side < count; side++)
		for (unsigned m = NM_DIFF_MISSES; m < NM_DIFF_METRICS; m++)
			if (row->sums[side][m] != row->sums[0][m])
				return 1;
	return 0;
}

static void drop_unchanged(struct nm_diff_rows *rows, unsigned count)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->at.count; i++)
		if (is_changed(&rows->at.at[i], count))
			rows->at.at[kept++] = rows->at.at[i];
	rows->unchanged = rows->at.count - kept;
	rows->at.count = kept;
}

struct order {
	unsigned count;
	enum nm_diff_metric by;
};

static int descending(int64_t a, int64_t b)
{
	a = llabs(a);
	b = llabs(b);
	return (a < b) - (a > b);
}

static int in_order(const void *a, const void *b, void *self)
{
	static const enum nm_diff_metric ties[] = {NM_DIFF_CYCLES, NM_DIFF_MISSES, NM_DIFF_REFERENCES};
	const struct nm_diff_row *r = a, *y = b;
	const struct order *o = self;
	int order = descending(nm_diff_change(r, o->count, o->by), nm_diff_change(y, o->count, o->by));

	for (unsigned i = 0; !order && i < sizeof ties / sizeof *ties; i++)
		order =
		    descending(nm_diff_change(r, o->count, ties[i]), nm_diff_change(y, o->count, ties[i]));
	for (unsigned side = o->count; !order && side-- > 0;) {
		const struct nm_diff_names *d = r->names[side], *n = y->names[side];

		if (!d || !n)
			continue;
		for (unsigned key = 0; key < NM_DIFF_KEYS && !order; key++)
			order = strcmp(d->text[key] ? d->text[key] : "", n->text[key] ? n->text[key] : "");
		if (!order)
			order = (d->line > n->line) - (d->line < n->line);
	}
	return order;
}

int nm_diff_rows_make(const struct nm_diff_side *sides, unsigned count, const char *has,
		      enum nm_diff_metric by, struct nm_diff_rows *rows)
{
	struct order order = {count, by};
	struct nm_strings keys = {0};
	struct nm_map row_of = {0};
	int status = 0;

	assert(count >= 2);
	for (unsigned side = 0; side < count; side++) {
		for (size_t i = 0; i < sides[side].facts.count && !status; i++) {
			const struct nm_diff_fact *fact = &sides[side].facts.at[i];
			const char *key = key_of(&fact->common, has, &keys);

			status = key ? add_fact(rows, fact, side, key, &row_of) : NM_ENOMEM;
		}
	}
	nm_map_done(&row_of);
	nm_strings_done(&keys);
	drop_unchanged(rows, count);
	if (rows->at.count)
		qsort_r(rows->at.at, rows->at.count, sizeof *rows->at.at, in_order, &order);
	return status;
}
