/* SPDX-License-Identifier: MIT
 *
 * noise.c - see noise.h. A count depends on placement as far as its greatest value is from its least. Beside it
 * stands what can make it do so: conflict misses, the object that takes most of the lines, and, if they were
 * recorded, the sets that lose them: few sets mean that addresses collide.
 */
#include "noise.h"

#include <assert.h>
#include <stdlib.h>

#include "columns.h"
#include "ranked_rows.h"
#include "ranking.h"
#include "selection.h"
#include "table.h"

#define FIGURES                                                                                        \
	{.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},                               \
	    {.name = "least", .title = "least", .kind = NM_COLUMN_NUMBER},                             \
	    {.name = "mean", .title = "mean", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 3}, \
	    {.name = "greatest", .title = "greatest", .kind = NM_COLUMN_NUMBER},                       \
	    {.name = "spread", .title = "spread", .kind = NM_COLUMN_NUMBER, .drop_order = 2},          \
	    {.name = "spread_percent", .title = "%", .kind = NM_COLUMN_REAL, .decimals = 1},           \
	    {.name = "conflict", .title = "conflict", .kind = NM_COLUMN_NUMBER, .drop_order = 4},      \
	    {.name = "evicted_by", .title = "most evicted by", .kind = NM_COLUMN_NAME, .drop_order = 1},

#define OBJECT                                                              \
	{                                                                   \
		.name = "object", .title = "object", .kind = NM_COLUMN_NAME \
	}

static const struct nm_column of_objects[] = {OBJECT, FIGURES};
static const struct nm_column of_objects_in_sets[] = {
    OBJECT,
    FIGURES{.name = "half_in_sets", .title = "half in sets", .kind = NM_COLUMN_NUMBER, .drop_order = 5},
    {.name = "sets", .title = "most in", .kind = NM_COLUMN_TEXT, .drop_order = 6}};
static const struct nm_column of_lines[] = {
    {.name = "where", .title = "line", .kind = NM_COLUMN_LOCATION, .compose = nm_compose_location},
    {.name = "file", .kind = NM_COLUMN_NAME},
    {.name = "line"},
    {.name = "function", .kind = NM_COLUMN_NAME},
    FIGURES};

/* What rows are: their columns in `relocations` and NM_RANKED, and in `evictions` those of the victim. */
struct subject {
	const char *keys, *victim, *match, *own;
	int in_sets;
	const struct nm_column *columns;
	unsigned column_count;
};
#define OF_OBJECTS "object", "victim", "e.victim IS r.object", "c.object IS r.object"

static const struct subject objects = {OF_OBJECTS, 0, of_objects, sizeof of_objects / sizeof *of_objects};
static const struct subject objects_in_sets = {OF_OBJECTS, 1, of_objects_in_sets,
					       sizeof of_objects_in_sets / sizeof *of_objects_in_sets};
static const struct subject lines = {
    "file,line,function",
    "victim_file, victim_line, victim_function",
    "e.victim_file IS r.file AND e.victim_line IS r.line AND e.victim_function IS r.function",
    "c.file IS r.file AND c.line IS r.line AND c.function IS r.function",
    0,
    of_lines,
    sizeof of_lines / sizeof *of_lines};

/* Of each object the number of sets that lost half of its lines, and the three that lost most. */
#define SETS                                                                                                     \
	", w AS (SELECT victim, cache_set, sum(count) AS n FROM events WHERE level = ?1 AND event = 'replace' "  \
	"AND cache_set IS NOT NULL AND (?2 IS NULL OR process = ?2) GROUP BY victim, cache_set), "               \
	"h AS MATERIALIZED (SELECT victim, sum(2 * before < total) AS half, "                                    \
	"group_concat(cache_set, ', ') FILTER (WHERE place <= 3) AS most FROM (SELECT victim, cache_set, "       \
	"sum(n) OVER (PARTITION BY victim) AS total, sum(n) OVER o - n AS before, row_number() OVER o AS place " \
	"FROM w WINDOW o AS (PARTITION BY victim ORDER BY n DESC, cache_set ROWS UNBOUNDED PRECEDING)) "         \
	"GROUP BY victim) "
#define OF_SETS \
	", (SELECT half FROM h WHERE h.victim IS r.object), (SELECT most FROM h WHERE h.victim IS r.object)"

/* ?1: the level, ?2: the process or NULL, ?3: rows, -1: all. In e, the other columns are of the row with max(n). */
static int query_rows(struct nm_profile *profile, const struct subject *s, struct nm_rows **ret_rows,
		      struct nm_error *err)
{
	static const char where[] = "WHERE level = ?1 AND (?2 IS NULL OR process = ?2)";
	char *sql;
	int status = asprintf(
	    &sql,
	    "WITH k AS (SELECT %s, relocation, sum(misses) AS m FROM relocations %s GROUP BY %s, relocation), "
	    "r AS MATERIALIZED (SELECT %s, max(m) FILTER (WHERE relocation = 0) AS misses, min(m) AS least, "
	    "avg(m) AS mean, max(m) AS greatest FROM k GROUP BY %s ORDER BY max(m) - min(m) DESC, misses DESC, %s "
	    "LIMIT ?3), "
	    "e AS MATERIALIZED (SELECT %s, evictor, max(n) FROM (SELECT %s, evictor, sum(count) AS n FROM evictions "
	    "%s GROUP BY %s, evictor) GROUP BY %s)%s "
	    "SELECT %s, misses, least, mean, greatest, greatest - least, "
	    "100.0 * (greatest - least) / max(mean, 1), "
	    "(SELECT conflict FROM " NM_RANKED " AS c WHERE %s), (SELECT evictor FROM e WHERE %s)%s FROM r",
	    s->keys, where, s->keys, s->keys, s->keys, s->keys, s->victim, s->victim, where, s->victim,
	    s->victim, s->in_sets ? SETS : "", s->keys, s->own, s->match, s->in_sets ? OF_SETS : "");

	if (status < 0)
		return nm_fail_memory(err);
	status = nm_profile_query(profile, sql, ret_rows, err);
	free(sql);
	return status;
}

static int show_subject(struct nm_profile *profile, const struct subject *s,
			const struct nm_selection *selection, const struct nm_style *style, FILE *out,
			struct nm_error *err)
{
	const struct nm_report_request *request = &selection->request;
	struct nm_table table = {.columns = s->columns, .column_count = s->column_count};
	struct nm_rows *rows = NULL;
	int status = nm_ranked_by(profile, selection, s->keys, "conflict", NULL, err);

	if (!status)
		status = query_rows(profile, s, &rows, err);
	if (!status) {
		nm_rows_bind_text(rows, 1, request->level);
		nm_rows_bind_text(rows, 2, request->process);
		nm_rows_bind_integer(rows, 3, request->limit ? request->limit : -1);
		status = nm_table_fill(&table, rows, err);
	}
	nm_rows_free(rows);
	if (!status)
		status = nm_table_show(&table, "noise", request->level, style, out, err);
	nm_table_done(&table);
	return status;
}

/* "misses of L1d  64,222 as recorded, 64,217 to 64,232 in 31 other placements". */
static int show_total(struct nm_profile *profile, const struct nm_report_request *request, FILE *out,
		      struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile,
	    "SELECT max(m) FILTER (WHERE relocation = 0), min(m) FILTER (WHERE relocation > 0), "
	    "max(m) FILTER (WHERE relocation > 0), max(relocation) FROM (SELECT relocation, sum(misses) AS m FROM "
	    "relocations WHERE level = ?1 AND (?2 IS NULL OR process = ?2) GROUP BY 1)",
	    &rows, err);

	if (!status) {
		nm_rows_bind_text(rows, 1, request->level);
		nm_rows_bind_text(rows, 2, request->process);
		status = nm_rows_next(rows, err);
	}
	if (status > 0) {
		fprintf(out, "misses of %s  ", request->level);
		nm_print_grouped(nm_rows_bounded(rows, 0), out);
		fputs(" as recorded, ", out);
		nm_print_grouped(nm_rows_bounded(rows, 1), out);
		fputs(" to ", out);
		nm_print_grouped(nm_rows_bounded(rows, 2), out);
		fprintf(out, " in %lld other placements\n", (long long)nm_rows_bounded(rows, 3));
		status = 0;
	}
	nm_rows_free(rows);
	return status;
}

int nm_noise_run(struct nm_profile *profile, const struct nm_noise_request *request,
		 const struct nm_style *style, FILE *out, struct nm_error *err)
{
	const struct nm_report_request wanted = {
	    .level = request->level, .process = request->process, .limit = request->limit};
	const int both = request->rows == NM_NOISE_ALL && style->format == NM_FORMAT_TEXT;
	struct nm_selection selection = {.of_samples = 0};
	int status = nm_select_counts(profile, err), in_sets = 0;

	assert(request && style);
	if (!status)
		status = nm_selection_make(profile, &wanted, &selection, err);
	if (!status) {
		status = nm_profile_has_rows(profile, "relocations", err);
		if (!status)
			status =
			    nm_fail(err, NM_EINVAL, "memory was not relocated: record with --relocate 15");
		status = status > 0 ? 0 : status;
	}
	if (!status) {
		in_sets = nm_profile_has_rows(profile, "sets", err);
		status = in_sets < 0 ? in_sets : 0;
	}
	if (!status && both) {
		status = show_total(profile, &selection.request, out, err);
		fputc('\n', out);
	}
	if (!status && request->rows != NM_NOISE_LINES)
		status =
		    show_subject(profile, in_sets ? &objects_in_sets : &objects, &selection, style, out, err);
	if (!status && both)
		fputc('\n', out);
	if (!status && (both || request->rows == NM_NOISE_LINES))
		status = show_subject(profile, &lines, &selection, style, out, err);
	nm_selection_done(&selection);
	return status;
}
