/* SPDX-License-Identifier: MIT
 *
 * evictions.c - the lines of code of a pair of objects, and the choice between them, the matrix and the sets.
 */
#include "evictions.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evictions_priv.h"
#include "selection.h"

enum { MATRIX_ROWS = 8, LINES = 20 };

static const struct nm_column columns[] = {
    {.name = "evictor", .title = "evicted by", .kind = NM_COLUMN_NAME},
    {.name = "where", .title = "at", .kind = NM_COLUMN_LOCATION, .compose = nm_compose_location},
    {.name = "file", .kind = NM_COLUMN_NAME},
    {.name = "line"},
    {.name = "function", .kind = NM_COLUMN_NAME},
    {.name = "victim", .title = "victim", .kind = NM_COLUMN_NAME},
    {.name = "victim_where",
     .title = "loaded at",
     .kind = NM_COLUMN_LOCATION,
     .compose = nm_compose_victim_location},
    {.name = "victim_file", .kind = NM_COLUMN_NAME},
    {.name = "victim_line"},
    {.name = "victim_function", .kind = NM_COLUMN_NAME},
    {.name = "count", .title = "lines", .kind = NM_COLUMN_NUMBER},
    {.name = "share", .title = "share %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "prefetches", .title = "by prefetch", .kind = NM_COLUMN_NUMBER},
    {.name = "inner_file", .kind = NM_COLUMN_NAME},
    {.name = "inner_line"},
    {.name = "inner_function", .kind = NM_COLUMN_NAME},
    {.name = "victim_inner_file", .kind = NM_COLUMN_NAME},
    {.name = "victim_inner_line"},
    {.name = "victim_inner_function", .kind = NM_COLUMN_NAME},
};

/* The last six only where the profile has frames of inlined calls. */
enum { EVICTOR = 0, VICTIM = 5, PREFETCHES = 12, OUTER = 13, COLUMNS = sizeof columns / sizeof *columns };

/* Both lines with the innermost frames that have most of the evictions: with max(n), SQLite takes other
 * columns of a group from the row that has it. */
static char *lines_query(const struct nm_selection *selection)
{
	static const char inner[] = ", inner_file, inner_line, inner_function, victim_inner_file, "
				    "victim_inner_line, victim_inner_function";
	const struct nm_name_pattern *evictor = &selection->object, *victim = &selection->function;
	const struct nm_name_pattern *function = &selection->file;
	const char *innermost = selection->has_inner ? inner : "";
	char *sql;

	if (asprintf(
		&sql,
		"SELECT evictor, file, line, function, victim, victim_file, victim_line, victim_function, "
		"sum(n) AS count, 100.0 * sum(n) / sum(sum(n)) OVER () AS share, sum(ahead) AS prefetches%s, "
		"max(n) AS most FROM (SELECT evictor, file, line, function, victim, victim_file, victim_line, "
		"victim_function, sum(count) AS n, sum(prefetches) AS ahead%s FROM evictions WHERE level = ?1 AND "
		"(?2 IS NULL OR process = ?2) AND (?4 IS NULL OR evictor %s ?4) AND "
		"(?5 IS NULL OR victim %s ?5) AND (?6 IS NULL OR function %s ?6) "
		"GROUP BY 1, 2, 3, 4, 5, 6, 7, 8%s) GROUP BY 1, 2, 3, 4, 5, 6, 7, 8",
		innermost, innermost, evictor->pattern ? evictor->operator_ : "=",
		victim->pattern ? victim->operator_ : "=", function->pattern ? function->operator_ : "=",
		innermost) < 0)
		return NULL;
	return sql;
}

/* Levels without prefetches need no column of zeros. */
static int has_prefetches(const struct nm_table *table)
{
	for (size_t row = 0; row < table->row_count; row++)
		if (nm_table_at(table, row, PREFETCHES)->integer)
			return 1;
	return 0;
}

static int show_lines(struct nm_profile *profile, struct nm_selection *selection,
		      const struct nm_style *style, FILE *out, struct nm_error *err)
{
	char *sql = lines_query(selection);
	struct nm_report report = {
	    .name = "eviction lines",
	    .columns = columns,
	    .column_count = selection->has_inner ? COLUMNS : OUTER,
	    .sort = "count",
	    .ties = "evictor, file, line, function, victim, victim_file, victim_line, victim_function",
	    .sql = sql};
	struct nm_report_table filled = {.table = {0}};
	int status = sql ? nm_report_fill(&report, profile, selection, &filled, err) : nm_fail_memory(err);

	/* A name that is in the title needs no column. */
	if (selection->object.pattern && selection->object.operator_[0] == '=')
		filled.query.columns[EVICTOR].hidden = 1;
	if (selection->function.pattern && selection->function.operator_[0] == '=')
		filled.query.columns[VICTIM].hidden = 1;
	if (!has_prefetches(&filled.table))
		filled.query.columns[PREFETCHES].hidden = 1;
	if (!status && style->format == NM_FORMAT_TEXT)
		status = nm_eviction_title(profile, selection, "", style->width, out, err);
	if (!status && (style->format != NM_FORMAT_TEXT || filled.table.row_count))
		status = nm_table_show(&filled.table, report.name, selection->request.level, style, out, err);
	nm_report_table_done(&filled);
	free(sql);
	return status;
}

int nm_evictions_run(struct nm_profile *profile, const struct nm_evictions_request *request,
		     const struct nm_style *style, FILE *out, struct nm_error *err)
{
	static const char objects[] = "SELECT object AS name FROM objects";
	int is_matrix = !request->evictor && !request->victim && !request->function && !request->by_set;
	const struct nm_report_request r = {.level = request->level,
					    .process = request->process,
					    .part = request->part,
					    .sort = request->sort,
					    .frame = request->frame,
					    .limit = request->limit >= 0 ? request->limit
						     : is_matrix         ? MATRIX_ROWS
									 : LINES};
	struct nm_selection selection = {.one_level = 0};
	int status = nm_select_counts(profile, err);

	assert(request && style);
	if (!status)
		status = nm_selection_make(profile, &r, &selection, err);
	if (!status)
		status =
		    nm_match_name(profile, "object", request->evictor, objects, 0, &selection.object, err);
	if (!status)
		status =
		    nm_match_name(profile, "object", request->victim, objects, 0, &selection.function, err);
	if (!status)
		status =
		    nm_match_name(profile, "function", request->function,
				  "SELECT DISTINCT function AS name FROM evictions", 0, &selection.file, err);
	if (!status && is_matrix)
		status = nm_eviction_matrix(profile, &selection, style, out, err);
	else if (!status && request->by_set)
		status = nm_eviction_sets(profile, &selection, style, out, err);
	else if (!status)
		status = show_lines(profile, &selection, style, out, err);
	nm_selection_done(&selection);
	return status;
}
