/* SPDX-License-Identifier: MIT
 *
 * merged.c - see merged.h. The reports come first, then the lines of the first screen.
 */
#include "summary_parts.h"

#include <stdlib.h>

#include "memstream.h"
#include "selection.h"

/* ---- what each input counted, and which of them behave alike ---- */

static const struct nm_column rank_columns[] = {
    {.name = "input", .title = "profile", .kind = NM_COLUMN_NAME},
    {.name = "host", .title = "host", .kind = NM_COLUMN_TEXT, .drop_order = 5},
    {.name = "instructions", .title = "instructions", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "references", .title = "references", .kind = NM_COLUMN_NUMBER, .drop_order = 4},
    {.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},
    {.name = "of_mean", .title = "of mean %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "mpki", .title = "MPKI", .kind = NM_COLUMN_REAL, .decimals = 2},
    {.name = "group", .title = "group", .kind = NM_COLUMN_NUMBER},
    {.name = "rank", .title = "rank", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "exit_status", .title = "exit", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "file", .title = "file", .kind = NM_COLUMN_NAME, .hidden = 1},
};

/* An input without the process has no row. */
static const char rank_sql[] =
    "WITH l AS (SELECT input, sum(reads + writes) AS refs, sum(read_misses + write_misses) AS misses FROM input_levels "
    "WHERE level = ?1 AND (?2 IS NULL OR process = ?2) GROUP BY input) "
    "SELECT i.input AS input, i.host AS host, i.instructions AS instructions, l.refs AS \"references\", "
    "l.misses AS misses, 100.0 * l.misses / nullif((SELECT avg(misses) FROM l), 0) AS of_mean, "
    "1000.0 * l.misses / nullif(i.instructions, 0) AS mpki, i.alike AS \"group\", i.rank AS rank, "
    "i.exit_status AS exit_status, i.file AS file, i.position AS position FROM inputs i CROSS JOIN l ON l.input = i.input";

static const struct nm_column group_columns[] = {
    {.name = "group", .title = "group", .kind = NM_COLUMN_NUMBER},
    {.name = "profiles", .title = "profiles", .kind = NM_COLUMN_NUMBER},
    {.name = "members", .title = "which", .kind = NM_COLUMN_NAME},
    {.name = "mean", .title = "misses each", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "object", .title = "differs most in", .kind = NM_COLUMN_NAME},
    {.name = "own", .title = "misses there", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "others", .title = "in others", .kind = NM_COLUMN_REAL, .decimals = 1},
};

/* Consecutive ranks of a group are an island: "rank 0-2, 5". m: misses of each group's members on each object; a: of
 * all. */
static const char group_sql[] =
    "WITH i AS (SELECT alike, input, rank, position, rank - row_number() OVER (PARTITION BY alike ORDER BY rank) AS island "
    "FROM inputs), "
    "p AS (SELECT alike, min(position) AS first, CASE WHEN rank IS NULL THEN input WHEN max(rank) > min(rank) THEN "
    "'rank ' || min(rank) || '-' || max(rank) ELSE input END AS part FROM i "
    "GROUP BY alike, CASE WHEN rank IS NULL THEN input ELSE island END), "
    "w AS (SELECT alike, group_concat(part, ', ') AS members FROM (SELECT * FROM p ORDER BY alike, first) GROUP BY alike), "
    "n AS (SELECT alike, count(*) AS profiles FROM inputs GROUP BY alike), "
    "m AS MATERIALIZED (SELECT i.alike AS alike, c.object AS object, sum(c.misses) AS misses FROM input_counts c "
    "CROSS JOIN inputs i ON i.input = c.input WHERE c.level = ?1 AND (?2 IS NULL OR c.process = ?2) "
    "GROUP BY i.alike, c.object), "
    "a AS MATERIALIZED (SELECT object, sum(misses) AS misses FROM m GROUP BY object), "
    "d AS (SELECT n.alike AS alike, a.object AS object, 1.0 * coalesce(m.misses, 0) / n.profiles AS own, "
    "1.0 * (a.misses - coalesce(m.misses, 0)) / nullif((SELECT count(*) FROM inputs) - n.profiles, 0) AS others "
    "FROM n CROSS JOIN a LEFT JOIN m ON m.alike = n.alike AND m.object IS a.object), "
    "g AS (SELECT alike, object, own, others, max(abs(own - others)) AS most FROM d GROUP BY alike) "
    "SELECT n.alike AS \"group\", n.profiles AS profiles, w.members AS members, "
    "(SELECT 1.0 * sum(misses) FROM m WHERE m.alike = n.alike) / n.profiles AS mean, g.object AS object, "
    "CASE WHEN g.object IS NOT NULL THEN g.own END AS own, g.others AS others "
    "FROM n CROSS JOIN w ON w.alike = n.alike LEFT JOIN g ON g.alike = n.alike AND g.most > 0";

/* ---- in what they differ most ---- */

#define SPREAD                                                                                \
	{.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER, .drop_order = 3},     \
	    {.name = "least", .title = "least", .kind = NM_COLUMN_NUMBER},                    \
	    {.name = "mean", .title = "mean", .kind = NM_COLUMN_REAL, .decimals = 1},         \
	    {.name = "greatest", .title = "greatest", .kind = NM_COLUMN_NUMBER},              \
	    {.name = "greatest_input", .title = "of", .kind = NM_COLUMN_NAME},                \
	    {.name = "excess", .title = "above mean", .kind = NM_COLUMN_REAL, .decimals = 1}, \
	    {.name = "profiles", .title = "profiles", .kind = NM_COLUMN_NUMBER, .hidden = 1}, \
	    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT, .hidden = 1},         \
	{                                                                                     \
		.name = "process", .title = "process", .kind = NM_COLUMN_TEXT, .hidden = 1    \
	}
#define SPREAD_SQL \
	"misses, least, mean, greatest, greatest_input, greatest - mean AS excess, inputs AS profiles, level, process "

static const struct nm_column spread_columns[] = {
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    SPREAD,
};
static const char spread_sql[] =
    "SELECT object, " SPREAD_SQL "FROM spread_objects WHERE level = ?1 AND (?2 IS NULL OR process = ?2)";

static const struct nm_column spread_line_columns[] = {
    {.name = "where", .title = "line", .kind = NM_COLUMN_LOCATION, .compose = nm_compose_location},
    {.name = "file", .title = "file", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "line", .title = "line", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "function", .title = "function", .kind = NM_COLUMN_NAME, .drop_order = 4},
    SPREAD,
};
static const char spread_line_sql[] = "SELECT file, line, function, " SPREAD_SQL
				      "FROM spread_lines WHERE level = ?1 AND (?2 IS NULL OR process = ?2)";

/* ---- the reports ---- */

static const char not_merged[] = "profiles that it was merged from: nearmiss merge makes such a profile";

const struct nm_report nm_merged_reports[NM_MERGED_REPORTS] = {
    {.name = "ranks",
     .summary = "what each rank or run counted, of a merged profile (merge)",
     .columns = rank_columns,
     .column_count = COUNT_OF(rank_columns),
     .ties = "position",
     .sql = rank_sql,
     .view = "inputs",
     .without = not_merged},
    {.name = "groups",
     .summary = "which of them behave alike",
     .columns = group_columns,
     .column_count = COUNT_OF(group_columns),
     .ties = "\"group\"",
     .sql = group_sql,
     .view = "inputs",
     .without = not_merged},
    {.name = "spread",
     .summary = "objects whose ranks or runs differ most",
     .columns = spread_columns,
     .column_count = COUNT_OF(spread_columns),
     .sort = "excess",
     .ties = "misses DESC, process, object",
     .sql = spread_sql,
     .view = "inputs",
     .without = not_merged},
    {.name = "linespread",
     .summary = "lines whose ranks or runs differ most",
     .columns = spread_line_columns,
     .column_count = COUNT_OF(spread_line_columns),
     .sort = "excess",
     .ties = "misses DESC, process, file, line, function",
     .sql = spread_line_sql,
     .view = "inputs",
     .without = not_merged},
};

/* ---- the first screen ---- */

enum { SHOWN = 4 };

int nm_groups_fill(struct nm_profile *profile, const struct nm_selection *selection,
		   struct nm_report_table *ret_groups, struct nm_error *err)
{
	const struct nm_selection of = {
	    .request = {.level = selection->request.level, .process = selection->request.process}};
	const int has = nm_profile_has_rows(profile, "inputs", err);

	return has <= 0 ? has : nm_report_fill(nm_report_named("groups"), profile, &of, ret_groups, err);
}

/* Where a group differs most from the others. */
static void print_difference(const struct nm_table *groups, size_t row, FILE *out)
{
	const char *object = nm_table_named(groups, row, "object")->text;
	const double own = nm_table_named(groups, row, "own")->real;
	const double others = nm_table_named(groups, row, "others")->real;

	if (!object)
		return;
	fprintf(out, " (most in %s: ", object);
	nm_print_grouped((int64_t)(own + 0.5), out);
	fputs(" misses each, ", out);
	nm_print_grouped((int64_t)(others + 0.5), out);
	fputs(" in others)", out);
}

static void write_groups(const struct nm_table *groups, FILE *out)
{
	int64_t profiles = 0, most = 0;
	size_t i;

	for (i = 0; i < groups->row_count; i++) {
		const int64_t members = nm_table_named(groups, i, "profiles")->integer;

		profiles += members;
		most = members > most ? members : most;
	}
	nm_print_grouped(profiles, out);
	fprintf(out, " profile%s", profiles == 1 ? "" : "s");
	for (i = 0; profiles > 1 && i < groups->row_count && i < SHOWN; i++) {
		const int64_t members = nm_table_named(groups, i, "profiles")->integer;

		fputs("; ", out);
		nm_print_grouped(members, out);
		fprintf(out, "%s: %s", members == 1 ? " unlike the others" : " alike",
			nm_table_named(groups, i, "members")->text);
		if (members < most || most == 1) /* of the largest it would say the same again */
			print_difference(groups, i, out);
	}
	if (profiles > 1 && i < groups->row_count)
		fprintf(out, "; and %zu more group%s: nearmiss report groups", groups->row_count - i,
			groups->row_count - i == 1 ? "" : "s");
}

int nm_groups_print(const struct nm_table *groups, unsigned width, FILE *out)
{
	char *text = NULL;
	FILE *to;

	if (!groups->row_count)
		return 0;
	to = nm_memstream_open(&text, NULL);
	if (!to)
		return NM_ENOMEM;
	write_groups(groups, to);
	if (nm_memstream_close(to, &text))
		return NM_ENOMEM;
	nm_print_wrapped("merged      ", text, width, out);
	free(text);
	return 0;
}
