/* SPDX-License-Identifier: MIT
 *
 * eviction_sets.c - the sets that lose lines of one pair of objects, or of all.
 *
 * Lines that collide because of their addresses leave few sets, over and over, while capacity evictions are
 * spread over all sets. So the report also gives the number of sets that have half of the evictions.
 */
#include <stdlib.h>
#include <string.h>

#include "evictions_priv.h"
#include "selection.h"

static const struct nm_column columns[] = {
    {.name = "cache_set", .title = "set", .kind = NM_COLUMN_NUMBER},
    {.name = "lines", .title = "lines", .kind = NM_COLUMN_NUMBER},
    {.name = "share", .title = "share %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "share_of_set", .title = "of set %", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 2},
    {.name = "loads", .title = "loads", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "evictor", .title = "mostly by", .kind = NM_COLUMN_NAME},
    {.name = "victim", .title = "victim", .kind = NM_COLUMN_NAME},
    {.name = "pair", .title = "pair %", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 1},
};

enum { SET, LINES, SHARE, OF_SET, LOADS, EVICTOR, VICTIM, PAIR, COLUMNS };
_Static_assert(sizeof columns / sizeof *columns == COLUMNS, "a name for each column");

/* e: lines by set and pair; p: those of the chosen objects, the most frequent pair of a set first. */
static char *query_of(const struct nm_selection *selection)
{
	char *sql;

	if (asprintf(
		&sql,
		"WITH e AS MATERIALIZED (SELECT cache_set, coalesce(object, '?') AS evictor, "
		"coalesce(victim, '?') AS victim, sum(count) AS count FROM events WHERE level = ?1 AND "
		"event IN ('replace', 'invalidate') AND cache_set IS NOT NULL AND (?2 IS NULL OR process = ?2) "
		"GROUP BY 1, 2, 3), "
		"s AS (SELECT cache_set, sum(loads) AS loads, sum(evictions) AS evictions FROM sets "
		"WHERE level = ?1 AND (?2 IS NULL OR process = ?2) GROUP BY 1), "
		"p AS MATERIALIZED (SELECT *, sum(count) OVER (PARTITION BY cache_set) AS lines, "
		"row_number() OVER (PARTITION BY cache_set ORDER BY count DESC, evictor, victim) AS rank "
		"FROM e WHERE (?4 IS NULL OR evictor %s ?4) AND (?5 IS NULL OR victim %s ?5)) "
		"SELECT p.cache_set AS cache_set, p.lines AS lines, "
		"100.0 * p.lines / (SELECT sum(count) FROM p) AS share, "
		"100.0 * p.lines / s.evictions AS share_of_set, s.loads AS loads, p.evictor AS evictor, "
		"p.victim AS victim, 100.0 * p.count / p.lines AS pair "
		"FROM p JOIN s ON s.cache_set = p.cache_set WHERE p.rank = 1",
		selection->object.pattern ? selection->object.operator_ : "=",
		selection->function.pattern ? selection->function.operator_ : "=") < 0)
		return NULL;
	return sql;
}

static int downwards(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

/* The least number of sets that lost half of all lines, or -1: out of memory. */
static int64_t sets_of_half(const struct nm_table *table)
{
	int64_t *lines = malloc((table->row_count + 1) * sizeof *lines), all = 0, some = 0;
	size_t n = 0;

	if (!lines)
		return -1;
	for (size_t i = 0; i < table->row_count; i++)
		all += lines[i] = nm_table_at(table, i, LINES)->integer;
	qsort(lines, table->row_count, sizeof *lines, downwards);
	while (2 * some < all)
		some += lines[n++];
	free(lines);
	return (int64_t)n;
}

static int print_title(struct nm_profile *profile, const struct nm_selection *selection,
		       const struct nm_table *table, unsigned width, FILE *out, struct nm_error *err)
{
	char some[NM_GROUPED_ROOM], all[NM_GROUPED_ROOM], more[2 * NM_GROUPED_ROOM + 48] = "";
	int64_t half = sets_of_half(table), sets = 0;
	struct nm_rows *rows = NULL;
	int status =
	    half < 0 ? nm_fail_memory(err)
		     : nm_profile_query(profile, "SELECT max(sets) FROM levels WHERE level = ?1", &rows, err);

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, selection->request.level);
	status = nm_rows_next(rows, err);
	if (status > 0)
		sets = nm_rows_bounded(rows, 0);
	nm_rows_free(rows);
	nm_format_grouped(half, some);
	nm_format_grouped(sets, all);
	if (half)
		snprintf(more, sizeof more, "; half of them from %s of its %s set%s", some, all,
			 sets == 1 ? "" : "s");
	return status < 0 ? status : nm_eviction_title(profile, selection, more, width, out, err);
}

/* What is in the title needs no column, and neither does the pair where it is the only one. */
static void choose_columns(struct nm_column *list, const struct nm_selection *selection)
{
	const int evictor = selection->object.pattern && selection->object.operator_[0] == '=';
	const int victim = selection->function.pattern && selection->function.operator_[0] == '=';

	list[EVICTOR].hidden = evictor;
	list[VICTIM].hidden = victim;
	list[PAIR].hidden = evictor && victim;
	list[OF_SET].hidden = !selection->object.pattern && !selection->function.pattern;
}

int nm_eviction_sets(struct nm_profile *profile, struct nm_selection *selection, const struct nm_style *style,
		     FILE *out, struct nm_error *err)
{
	int64_t limit = selection->request.limit;
	char *sql = query_of(selection);
	struct nm_report report = {.name = "eviction sets",
				   .columns = columns,
				   .column_count = COLUMNS,
				   .sort = "lines",
				   .ties = "cache_set",
				   .sql = sql};
	struct nm_report_table filled = {.table = {0}};
	int status = nm_profile_has_rows(profile, "sets", err);

	if (!status)
		status = nm_fail(err, NM_EINVAL, "the profile has no counts by set: record with --sets");
	else if (status > 0)
		status = sql ? 0 : nm_fail_memory(err);
	selection->request.limit = 0; /* the title counts all */
	if (!status)
		status = nm_report_fill(&report, profile, selection, &filled, err);
	if (!status && style->format == NM_FORMAT_TEXT)
		status = print_title(profile, selection, &filled.table, style->width, out, err);
	if (limit && filled.table.row_count > (size_t)limit)
		filled.table.row_count = (size_t)limit;
	choose_columns(filled.query.columns, selection);
	if (!status && (style->format != NM_FORMAT_TEXT || filled.table.row_count))
		status = nm_table_show(&filled.table, report.name, selection->request.level, style, out, err);
	nm_report_table_done(&filled);
	free(sql);
	return status;
}
