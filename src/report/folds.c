/* SPDX-License-Identifier: MIT */
#include "summary_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
	SMALL = 100, /* a row that has less than this part of the cycles is */
	ALWAYS = 3   /* rows are shown if all are small */
};

static int64_t row_number(const struct nm_table *pairs, size_t row, const char *column)
{
	return nm_table_named(pairs, row, column)->integer;
}

static struct nm_rest minus_rows(struct nm_rest from, const struct nm_table *pairs, size_t rows)
{
	assert(rows <= pairs->row_count);
	from.pairs -= (int64_t)rows;
	for (size_t i = 0; i < rows; i++) {
		from.misses -= row_number(pairs, i, "misses");
		from.last_misses -= row_number(pairs, i, "last_misses");
		from.cycles -= row_number(pairs, i, "cycles");
	}
	return from;
}

static struct nm_rest plus_numbers(struct nm_rest a, struct nm_rest b)
{
	return (struct nm_rest){a.pairs + b.pairs, a.misses + b.misses, a.last_misses + b.last_misses,
				a.cycles + b.cycles};
}

static int append_row(struct nm_table *pairs, const char *name, struct nm_rest sums, double run)
{
	if (nm_table_append(pairs))
		return NM_ENOMEM;
	nm_table_set(pairs, "object", (struct nm_value){.type = NM_VALUE_TEXT, .text = name});
	nm_table_set(pairs, "function", (struct nm_value){.type = NM_VALUE_TEXT, .text = "-"});
	nm_table_set(pairs, "misses", (struct nm_value){.type = NM_VALUE_INTEGER, .integer = sums.misses});
	nm_table_set(pairs, "last_misses",
		     (struct nm_value){.type = NM_VALUE_INTEGER, .integer = sums.last_misses});
	nm_table_set(pairs, "cycles", (struct nm_value){.type = NM_VALUE_INTEGER, .integer = sums.cycles});
	if (run > 0)
		nm_table_set(
		    pairs, "run_share",
		    (struct nm_value){.type = NM_VALUE_REAL, .real = 100 * (double)sums.cycles / run});
	return 0;
}

/* The run's cycles, as the shares of the rows have them; 0: unknown. */
static double run_cycles(const struct nm_table *pairs)
{
	const double share = pairs->row_count ? nm_table_named(pairs, 0, "run_share")->real : 0;

	return share > 0 ? 100 * (double)row_number(pairs, 0, "cycles") / share : 0;
}

/* The number of rows that are shown: if none is large, the first ones. */
static size_t shown_rows(const struct nm_table *pairs, int64_t small)
{
	size_t shown = 0;

	while (shown < pairs->row_count && row_number(pairs, shown, "misses") &&
	       (row_number(pairs, shown, "cycles") >= small ||
		(shown < ALWAYS && row_number(pairs, 0, "cycles") < small)))
		shown++;
	return shown;
}

static int64_t all_cycles(const struct nm_rest rest[NM_APARTS])
{
	int64_t cycles = 0;

	for (int i = 0; i < NM_APARTS; i++)
		cycles += rest[i].cycles;
	return cycles;
}

int nm_fold_rows(const struct nm_selection *selection, struct nm_table *pairs, struct nm_error *err)
{
	static const char *const names[NM_APARTS] = {NULL, "dynamic linking", NM_WAITING_IN_MPI};
	struct nm_rest rest[NM_APARTS], *const other = &rest[NM_APART_NOT];
	int status = nm_rest_sum(selection->pairs, selection, rest);
	const int64_t small = all_cycles(rest) / SMALL;
	const double run = run_cycles(pairs);
	const size_t shown = shown_rows(pairs, small);
	char others[40];
	const char *name;

	if (status)
		return nm_fail_memory(err);
	*other = minus_rows(*other, pairs, shown);
	nm_table_cut(pairs, shown);
	for (int i = NM_APART_NOT + 1; i < NM_APARTS; i++)
		if (rest[i].cycles < small) {
			*other = plus_numbers(*other, rest[i]);
			rest[i] = (struct nm_rest){0};
		}
	snprintf(others, sizeof others, "others (%lld)", (long long)other->pairs);
	name = nm_intern(&pairs->pool, others);
	if (!name)
		return nm_fail_memory(err);
	for (int i = 0; i < NM_APARTS; i++)
		if (rest[i].misses && append_row(pairs, i ? names[i] : name, rest[i], run))
			return nm_fail_memory(err);
	return 0;
}
