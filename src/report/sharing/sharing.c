/* SPDX-License-Identifier: MIT
 *
 * sharing.c - tables of contention, and the choice among them.
 */
#include "sharing.h"

#include <string.h>

#include "sharing_priv.h"

#define MISSES                                                                              \
	{.name = "misses", .title = "coherence", .kind = NM_COLUMN_NUMBER},                 \
	    {.name = "false_misses", .title = "false", .kind = NM_COLUMN_NUMBER},           \
	    {.name = "true_misses", .title = "true", .kind = NM_COLUMN_NUMBER},             \
	    {.name = "invalidations", .title = "takes", .kind = NM_COLUMN_NUMBER},          \
	    {.name = "reads", .title = "reads", .kind = NM_COLUMN_NUMBER},                  \
	    {.name = "writes", .title = "writes", .kind = NM_COLUMN_NUMBER},                \
	    {.name = "lines", .title = "lines", .kind = NM_COLUMN_NUMBER, .drop_order = 2}, \
	{                                                                                   \
		.name = "threads", .title = "threads", .kind = NM_COLUMN_NUMBER             \
	}
#define MISSES_SQL                                                                                              \
	"sum(misses) AS misses, sum(false_misses) AS false_misses, sum(misses - false_misses) AS true_misses, " \
	"sum(invalidations) AS invalidations, sum(reads) AS reads, sum(writes) AS writes, "                     \
	"count(DISTINCT block) AS lines, count(DISTINCT thread) AS threads FROM sharing "
#define CHOSEN "WHERE level = ?1 AND (?2 IS NULL OR process = ?2) "

#define TAKES                                                                            \
	{.name = "invalidations", .title = "taken", .kind = NM_COLUMN_NUMBER},           \
	    {.name = "interventions", .title = "handed over", .kind = NM_COLUMN_NUMBER}, \
	{                                                                                \
		.name = "writebacks", .title = "written back", .kind = NM_COLUMN_NUMBER  \
	}
#define TAKES_SQL                                                                                       \
	"sum(invalidations) AS invalidations, sum(interventions) AS interventions, sum(writebacks) AS " \
	"writebacks FROM contenders " CHOSEN

static const struct nm_column line_columns[] = {
    {.name = "block"},         {.name = "offset"},   {.name = "bytes"},  {.name = "thread"},
    {.name = "core"},          {.name = "function"}, {.name = "file"},   {.name = "line"},
    {.name = "object"},        {.name = "type"},     {.name = "field"},  {.name = "position"},
    {.name = "reads"},         {.name = "writes"},   {.name = "misses"}, {.name = "false_misses"},
    {.name = "invalidations"}, {.name = "process"},
};
static const struct nm_column object_columns[] = {
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME}, MISSES};
static const struct nm_column field_columns[] = {
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "type", .title = "type", .kind = NM_COLUMN_NAME},
    {.name = "field", .title = "field", .kind = NM_COLUMN_TEXT},
    MISSES};
static const struct nm_column function_columns[] = {
    {.name = "function", .title = "function", .kind = NM_COLUMN_NAME},
    {.name = "victim_function", .title = "takes from", .kind = NM_COLUMN_NAME},
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "victim", .title = "loaded for", .kind = NM_COLUMN_NAME},
    TAKES};
static const struct nm_column thread_columns[] = {
    {.name = "thread", .title = "thread", .kind = NM_COLUMN_NUMBER},
    {.name = "victim_thread", .title = "takes from", .kind = NM_COLUMN_NUMBER},
    TAKES};
static const struct nm_column core_columns[] = {
    {.name = "core", .title = "core", .kind = NM_COLUMN_NUMBER},
    {.name = "victim_core", .title = "takes from", .kind = NM_COLUMN_NUMBER},
    TAKES};

static const struct nm_report tables[] = {
    [NM_SHARING_BY_LINE] =
	{.name = "sharing",
	 .columns = line_columns,
	 .column_count = NM_COLUMNS_IN(line_columns),
	 .sort = "false_misses",
	 .ties = "misses DESC, process, block, offset, bytes, thread, function, file, line, object",
	 .sql = "SELECT block, offset, bytes, thread, core, function, file, line, object, type, field, "
		"position, sum(reads) AS reads, sum(writes) AS writes, sum(misses) AS misses, "
		"sum(false_misses) AS false_misses, sum(invalidations) AS invalidations, process "
		"FROM sharing " CHOSEN
		"GROUP BY process, block, offset, bytes, thread, function, file, line, object, field"},
    [NM_SHARING_BY_OBJECT] = {.name = "sharing by object",
			      .columns = object_columns,
			      .column_count = NM_COLUMNS_IN(object_columns),
			      .sort = "false_misses",
			      .ties = "misses DESC, object",
			      .sql = "SELECT object, " MISSES_SQL CHOSEN "GROUP BY object"},
    [NM_SHARING_BY_FIELD] = {.name = "sharing by field",
			     .columns = field_columns,
			     .column_count = NM_COLUMNS_IN(field_columns),
			     .sort = "false_misses",
			     .ties = "misses DESC, object, type, field",
			     .sql = "SELECT object, type, field, " MISSES_SQL CHOSEN
				    "GROUP BY object, type, field"},
    [NM_SHARING_BY_FUNCTION] = {.name = "sharing by function",
				.columns = function_columns,
				.column_count = NM_COLUMNS_IN(function_columns),
				.sort = "invalidations",
				.ties = "interventions DESC, function, victim_function, object, victim",
				.sql = "SELECT function, victim_function, object, victim, " TAKES_SQL
				       "AND block IS NOT NULL GROUP BY 1, 2, 3, 4"},
    [NM_SHARING_BY_THREAD] = {.name = "sharing by thread",
			      .columns = thread_columns,
			      .column_count = NM_COLUMNS_IN(thread_columns),
			      .sort = "invalidations",
			      .ties = "interventions DESC, thread, victim_thread",
			      .sql = "SELECT thread, victim_thread, " TAKES_SQL "GROUP BY 1, 2"},
    [NM_SHARING_BY_CORE] = {.name = "sharing by core",
			    .columns = core_columns,
			    .column_count = NM_COLUMNS_IN(core_columns),
			    .sort = "invalidations",
			    .ties = "interventions DESC, core, victim_core",
			    .sql = "SELECT core, victim_core, " TAKES_SQL "GROUP BY 1, 2"},
};

enum { USUAL_LINES = 5, USUAL_ROWS = 20 };

/* What the protocol moves: lines of so many bytes. */
static int find_block(struct nm_profile *profile, const struct nm_selection *selection, int64_t *ret_bytes,
		      struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_has(profile, "sharing", err);

	if (status > 0)
		status = nm_profile_query(
		    profile,
		    "SELECT max(coalesce(sector_size, line_size)) FROM levels WHERE protocol IS NOT "
		    "NULL AND (level LIKE '%/%') = (?1 LIKE '%/%')",
		    &rows, err);
	else if (!status)
		status = 1;
	if (!status) {
		nm_rows_bind_text(rows, 1, selection->request.level);
		status = nm_rows_next(rows, err);
		*ret_bytes = status > 0 ? nm_rows_integer(rows, 0) : 0;
		status = status < 0 ? status : *ret_bytes == 0;
	}
	nm_rows_free(rows);
	return status > 0
		   ? nm_fail(err, NM_ENOENT,
			     "the profile has no cores that a protocol keeps coherent: record with --cores=N")
		   : status;
}

static int show_table(struct nm_profile *profile, const struct nm_selection *selection,
		      const struct nm_report *report, const struct nm_style *style, FILE *out,
		      struct nm_error *err)
{
	struct nm_report_table filled = {.table = {0}};
	int status = nm_report_fill(report, profile, selection, &filled, err);

	if (!status)
		status =
		    nm_table_show(&filled.table, report->name, selection->request.level, style, out, err);
	nm_report_table_done(&filled);
	return status;
}

int nm_sharing_run(struct nm_profile *profile, const struct nm_sharing_request *request,
		   const struct nm_style *style, FILE *out, struct nm_error *err)
{
	const int as_text = request->by == NM_SHARING_BY_LINE && style->format == NM_FORMAT_TEXT;
	const struct nm_report_request r = {.level = request->level,
					    .process = request->process,
					    .sort = request->sort,
					    .limit = request->limit >= 0 ? request->limit
						     : as_text           ? USUAL_LINES
									 : USUAL_ROWS};
	struct nm_selection selection = {.one_level = 0};
	int64_t bytes = 0;
	int status = nm_selection_make(profile, &r, &selection, err);

	if (!status)
		status = find_block(profile, &selection, &bytes, err);
	if (!status && as_text && request->sort)
		status =
		    nm_fail(err, NM_EINVAL,
			    "lines are sorted by false sharing; --sort is of tables: use --by or --format");
	if (!status && as_text)
		status = nm_sharing_lines(profile, &selection, bytes, style, out, err);
	else if (!status)
		status = show_table(profile, &selection, &tables[request->by], style, out, err);
	nm_selection_done(&selection);
	return status;
}
