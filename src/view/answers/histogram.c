/* SPDX-License-Identifier: MIT
 *
 * histogram.c - the distribution of counts over the sets of a cache, lines of memory, or reuse distances.
 *
 * Places are numbered: sets by their index, lines of memory by rank of address among the touched
 * lines. Neighbours are merged into at most `bins` bins of the same number of places. `from` and `to`
 * select a part of the places, whose bins are narrower, down to one place each.
 */
#include <stdlib.h>
#include <string.h>

#include "memstream.h"
#include "selection.h"
#include "view_json.h"

/* A query that returns a row for each place: its number or address, its object, and named values. */
struct places {
	const char *of, *unit, *view, *without; /* without: the message if the profile lacks the view */
	const char *count;                      /* a query for the number of places; ?1 is the level */
	const char *sql;                        /* NULL: served_sql() makes it */
};

static const struct places kinds[] = {
    {"set", "set", "sets", "counts of sets: record with --sets",
     "SELECT max(sets) FROM levels WHERE level = ?1",
     "SELECT cache_set, NULL, sum(loads) AS loads, sum(evictions) AS evictions, sum(prefetches) AS prefetches "
     "FROM sets WHERE level = ?1 GROUP BY 1 ORDER BY 1"},
    {"memory_line", "line", "events", "events by address: nearmiss monitor --profile writes them",
     "SELECT count(DISTINCT address) FROM events WHERE level = ?1",
     "SELECT address, object, sum((event = 'hit') * count) AS hits, sum((event = 'miss') * count) AS misses, "
     "sum((event = 'load') * count) AS loads, sum((event IN ('replace', 'invalidate')) * count) AS evictions "
     "FROM events WHERE level = ?1 AND address IS NOT NULL GROUP BY 1 ORDER BY 1"},
    {"served", "line", "events", "events by address: nearmiss monitor --histogram=line --profile writes them",
     "SELECT count(DISTINCT address) FROM events WHERE ?1 IS NOT NULL", NULL},
};

/* Distances have their own bins, on a logarithmic scale. */
static const char distances_sql[] =
    "SELECT low AS \"from\", high AS \"to\", sum(count) AS \"references\" FROM distances WHERE unit = ?1 "
    "GROUP BY low, high ORDER BY low IS NULL, low LIMIT 2048";

/* ---- the levels that serve a line ---- */

/* Writes a name as an SQL identifier. */
static void write_name(const char *name, FILE *sql)
{
	fputc('"', sql);
	for (; *name; name++)
		fprintf(sql, *name == '"' ? "\"\"" : "%c", *name);
	fputc('"', sql);
}

/* How many accesses of each line every level served, and the memory: Tao and Karl's combined access histogram
 * ("CacheIn", figure 3). */
static int served_sql(struct nm_profile *profile, char **ret_sql, struct nm_error *err)
{
	struct nm_rows *levels = NULL;
	FILE *sql = nm_memstream_open(ret_sql, NULL);
	int status = sql ? nm_profile_query(
			       profile,
			       "SELECT DISTINCT level FROM levels WHERE level IS NOT NULL AND side <> 'code' "
			       "ORDER BY position",
			       &levels, err)
			 : nm_fail_memory(err);

	if (!status)
		fputs("SELECT address, object", sql);
	while (!status && (status = nm_rows_next(levels, err)) > 0) {
		const char *level = nm_rows_text(levels, 0);

		fputs(", sum((level = ", sql);
		nm_sql_text(level, sql);
		fputs(" AND event = 'hit') * count) AS ", sql);
		write_name(level, sql);
		status = 0;
	}
	if (!status)
		fputs(", sum((level = 'memory') * count) AS memory FROM events "
		      "WHERE ?1 IS NOT NULL AND address IS NOT NULL GROUP BY 1 ORDER BY 1",
		      sql);
	nm_rows_free(levels);
	if (sql && nm_memstream_close(sql, ret_sql) && !status)
		status = nm_fail_memory(err);
	return status;
}

/* ---- bins ---- */

enum { AT, OBJECT, VALUES }; /* columns */

struct bins {
	int64_t low, high; /* the places that are shown */
	int64_t width;     /* places of a bin */
	int are_lines;     /* places are numbered in the order of rows, which have addresses */
	json_t *list;
};

static json_t *empty_bin(int64_t from, int64_t to, const struct nm_rows *rows)
{
	json_t *values = json_object();

	for (unsigned i = VALUES; i < nm_rows_columns(rows); i++)
		json_object_set_new(values, nm_rows_name(rows, i), json_integer(0));
	return json_pack("{sI sI so}", "from", (json_int_t)from, "to", (json_int_t)to, "values", values);
}

static void add_row(json_t *bin, const struct nm_rows *rows, int is_line)
{
	json_t *values = json_object_get(bin, "values");

	for (unsigned i = VALUES; i < nm_rows_columns(rows); i++) {
		json_t *value = json_object_get(values, nm_rows_name(rows, i));

		json_integer_set(value, json_integer_value(value) + nm_rows_bounded(rows, i));
	}
	if (is_line && !json_object_get(bin, "address")) {
		json_object_set_new(bin, "address", json_integer(nm_rows_integer(rows, AT)));
		json_object_set_new(bin, "object", nm_view_text(nm_rows_text(rows, OBJECT)));
	}
}

static int read_bins(struct nm_rows *rows, const struct bins *bins, struct nm_error *err)
{
	int64_t number = 0;
	int status;

	for (int64_t at = bins->low; at <= bins->high; at += bins->width) {
		const int64_t end = at + bins->width - 1;

		json_array_append_new(bins->list, empty_bin(at, end < bins->high ? end : bins->high, rows));
	}
	while ((status = nm_rows_next(rows, err)) > 0) {
		const int64_t at = bins->are_lines ? number++ : nm_rows_bounded(rows, AT);

		if (at >= bins->low && at <= bins->high)
			add_row(json_array_get(bins->list, (size_t)((at - bins->low) / bins->width)), rows,
				bins->are_lines);
	}
	return status;
}

/* ---- the answers ---- */

static int count_places(struct nm_profile *profile, const char *sql, const char *level, int64_t *ret_count,
			struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, sql, &rows, err);

	*ret_count = 0;
	if (!status)
		nm_rows_bind_text(rows, 1, level);
	if (!status && (status = nm_rows_next(rows, err)) > 0) {
		*ret_count = nm_rows_integer(rows, 0);
		status = 0;
	}
	nm_rows_free(rows);
	return status;
}

/* Selects the places to show, and the number of places in a bin. */
static int choose_places(struct bins *bins, const struct nm_request *request, int64_t count,
			 struct nm_error *err)
{
	int64_t most = 0;
	int status = nm_request_number(request, "bins", 1, NM_VIEW_BINS, 256, &most, err);

	if (!status)
		status = nm_request_number(request, "from", 0, count ? count - 1 : 0, 0, &bins->low, err);
	if (!status)
		status = nm_request_number(request, "to", bins->low, count - 1, count - 1, &bins->high, err);
	if (!status)
		bins->width = bins->high < bins->low ? 1 : (bins->high - bins->low) / most + 1;
	return status;
}

static int of_places(const struct places *kind, struct nm_profile *profile, const struct nm_request *request,
		     const char *level, json_t *answer, struct nm_error *err)
{
	struct bins bins = {.are_lines = !strcmp(kind->unit, "line"),
			    .list = json_object_get(answer, "bins")};
	struct nm_rows *rows = NULL;
	char *served = NULL;
	int64_t count = 0;
	int status = nm_profile_has_rows(profile, kind->view, err);

	if (status > 0)
		status = count_places(profile, kind->count, level, &count, err);
	else if (!status)
		status = nm_fail(err, NM_EINVAL, "the profile has no %s", kind->without);
	if (!status && !count && bins.are_lines)
		status = nm_fail(err, NM_EINVAL, "the profile has no %s", kind->without);
	if (!status)
		status = choose_places(&bins, request, count < INT32_MAX ? count : INT32_MAX, err);
	if (!status && !kind->sql)
		status = served_sql(profile, &served, err);
	if (!status)
		status = nm_profile_query(profile, kind->sql ? kind->sql : served, &rows, err);
	if (!status) {
		json_object_set_new(answer, "places", json_integer((json_int_t)count));
		nm_rows_bind_text(rows, 1, level);
		status = read_bins(rows, &bins, err);
	}
	nm_rows_free(rows);
	free(served);
	return status;
}

static int of_distances(struct nm_profile *profile, const char *unit, json_t *answer, struct nm_error *err)
{
	json_t *rows = NULL, *row;
	size_t i;
	int status = nm_profile_has_rows(profile, "distances", err);

	if (status <= 0)
		return status
			   ? status
			   : nm_fail(err, NM_EINVAL, "the profile has no distances: record with --distances");
	status = nm_view_select(profile, distances_sql, (const char *[]){unit}, 1, &rows, err);
	json_array_foreach(rows, i, row) json_array_append_new(
	    json_object_get(answer, "bins"),
	    json_pack("{sO sO s{sO}}", "from", json_object_get(row, "from"), "to", json_object_get(row, "to"),
		      "values", "references", json_object_get(row, "references")));
	json_decref(rows);
	return status;
}

int nm_view_histogram(const struct nm_view_profile *shown, const struct nm_request *request,
		      json_t **ret_answer, struct nm_error *err)
{
	enum { KINDS = sizeof kinds / sizeof *kinds };
	const char *of = nm_request_text(request, "of"), *unit;
	unsigned i = 0;
	char *level = NULL;
	int status = nm_view_level(shown->profile, request, &level, err);

	of = of ? of : "set";
	while (i < KINDS && strcmp(of, kinds[i].of))
		i++;
	unit = i < KINDS              ? kinds[i].unit
	       : !strcmp(of, "reuse") ? "references"
	       : !strcmp(of, "stack") ? "lines"
				      : NULL;
	if (!status && !unit)
		status = nm_fail(err, NM_EINVAL, "of must be set, memory_line, served, reuse or stack");
	if (!status) {
		*ret_answer = json_pack("{ss ss ss s[]}", "of", of, "level", level, "unit", unit, "bins");
		status = i < KINDS ? of_places(&kinds[i], shown->profile, request, level, *ret_answer, err)
				   : of_distances(shown->profile, unit, *ret_answer, err);
	}
	free(level);
	return status;
}
