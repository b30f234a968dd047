/* SPDX-License-Identifier: MIT */
#include "layout_levels.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "diff_priv.h"

static const struct nm_column columns[] = {
    {.name = "candidate", .title = "candidate", .kind = NM_COLUMN_TEXT},
    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT},
    {.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},
    {.name = "change_percent", .title = "%", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "least", .title = "least", .kind = NM_COLUMN_NUMBER, .drop_order = 1},
    {.name = "greatest", .title = "greatest", .kind = NM_COLUMN_NUMBER, .drop_order = 1},
    {.name = "evictions", .title = "evictions", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "loaded_bytes", .title = "bytes loaded", .kind = NM_COLUMN_NUMBER, .drop_order = 2},
};

/* Of the levels that take data, by name and position; those of a level of all processes. */
static const char sql[] =
    "WITH r AS (SELECT level, relocation, sum(misses) AS misses FROM relocations GROUP BY 1, 2),"
    " e AS (SELECT level, min(misses) AS least, max(misses) AS greatest FROM r GROUP BY 1) "
    "SELECT l.level, sum(l.read_misses + l.write_misses), max(e.least), max(e.greatest), sum(l.evictions),"
    " sum(l.loads * l.line_size) FROM levels l LEFT JOIN e ON e.level = l.level "
    "WHERE coalesce(l.side, '') <> 'instruction' GROUP BY l.level ORDER BY min(l.position)";

static struct nm_value integer_of(const struct nm_rows *rows, unsigned column)
{
	return (struct nm_value){.type = nm_rows_type(rows, column),
				 .integer = nm_rows_bounded(rows, column)};
}

/* The misses of the level in the program as it is, from the first rows; -1: it has no such level. */
static int64_t misses_before(const struct nm_table *t, const char *level)
{
	for (size_t row = 0; row < t->row_count && !strcmp(nm_table_named(t, row, "candidate")->text, "A");
	     row++)
		if (!strcmp(nm_table_named(t, row, "level")->text, level))
			return nm_table_named(t, row, "misses")->integer;
	return -1;
}

static int add_row(struct nm_table *t, unsigned side, const struct nm_rows *rows)
{
	const char name[] = {(char)('A' + side), '\0'};
	const char *candidate = nm_intern(&t->pool, name),
		   *level = nm_intern(&t->pool, nm_rows_text(rows, 0));
	const int64_t misses = nm_rows_bounded(rows, 1), before = side ? misses_before(t, level) : -1;

	if (!candidate || !level || nm_table_append(t))
		return NM_ENOMEM;
	nm_table_set(t, "candidate", (struct nm_value){.type = NM_VALUE_TEXT, .text = candidate});
	nm_table_set(t, "level", (struct nm_value){.type = NM_VALUE_TEXT, .text = level});
	nm_table_set(t, "misses", integer_of(rows, 1));
	if (before > 0)
		nm_table_set(t, "change_percent",
			     (struct nm_value){.type = NM_VALUE_REAL,
					       .real = 100 * (double)(misses - before) / (double)before});
	nm_table_set(t, "least", integer_of(rows, 2));
	nm_table_set(t, "greatest", integer_of(rows, 3));
	nm_table_set(t, "evictions", integer_of(rows, 4));
	nm_table_set(t, "loaded_bytes", integer_of(rows, 5));
	return 0;
}

static int fill_table(struct nm_table *t, const struct nm_diff_input *inputs, unsigned count,
		      struct nm_error *err)
{
	int status = 0;

	for (unsigned side = 0; side < count && !status; side++) {
		struct nm_rows *rows = NULL;

		status = nm_profile_query(inputs[side].profile, sql, &rows, err);
		while (!status && (status = nm_rows_next(rows, err)) > 0)
			status = add_row(t, side, rows) ? nm_fail_memory(err) : 0;
		nm_rows_free(rows);
	}
	return status;
}

static int as_markdown(struct nm_table *table, const struct nm_diff_input *inputs, unsigned count, FILE *out)
{
	for (unsigned side = 1; side < count; side++) {
		fprintf(out, "%s%c: ", side > 1 ? "; " : "", 'A' + (int)side);
		nm_markdown_text(inputs[side].path, out);
	}
	fputs("\n\n", out);
	return nm_markdown_table(table, out);
}

int nm_layout_levels(const struct nm_diff_input *inputs, unsigned count, enum nm_diff_layout layout,
		     const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_table table = {
	    .columns = columns, .column_count = sizeof columns / sizeof *columns, .keys = 2};
	int status = fill_table(&table, inputs, count, err);

	assert(count >= 2);
	if (!status && layout == NM_DIFF_MARKDOWN)
		status = as_markdown(&table, inputs, count, out) ? nm_fail_memory(err) : 0;
	else if (!status)
		status = nm_table_show(&table, "whatif", NULL, style, out, err);
	nm_table_done(&table);
	return status;
}
