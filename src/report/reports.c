/* SPDX-License-Identifier: MIT
 *
 * reports.c - the table of reports: columns and queries.
 *
 * The reports that rank something (pairs, objects, functions, lines) share their figures: a common table
 * expression `c` sums `counts` over what is ranked, and FIGURES are computed from it.  Percentages are
 * shares of the misses in the selection, MPKI is per 1000 instructions of the selected processes (of all
 * their threads).  Classes are shares of the lines filled.
 */
#include <stdlib.h>
#include <string.h>

#include "report_priv.h"

/* ---- cells that text makes of several columns ------------------------------------------------ */

static const char *keep(struct nm_table *table, char *text)
{
	const char *kept = text ? nm_intern(&table->pool, text) : NULL;

	free(text);
	return kept;
}

/* "file:line (function)" with the file's last component, as far as known. */
static const char *place(struct nm_table *table, const char *function, const char *file, int64_t line)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	char *text = NULL;
	int n;

	if (slash)
		file = slash + 1;
	if (file && line)
		n = asprintf(&text, "%s:%lld%s%s%s", file, (long long)line, function ? " (" : "",
			     function ? function : "", function ? ")" : "");
	else
		n = asprintf(&text, "%s%s%s%s", file ? file : "?", function ? " (" : "",
			     function ? function : "", function ? ")" : "");
	return keep(table, n < 0 ? NULL : text);
}

static const char *where(struct nm_table *table, size_t row)
{
	return place(table, nm_table_named(table, row, "function")->text,
		     nm_table_named(table, row, "file")->text, nm_table_named(table, row, "line")->integer);
}

static const char *evictor(struct nm_table *table, size_t row)
{
	const char *object = nm_table_named(table, row, "evictor")->text, *at;
	char *text = NULL;

	if (!object)
		return NULL;
	at = place(table, NULL, nm_table_named(table, row, "evictor_file")->text,
		   nm_table_named(table, row, "evictor_line")->integer);
	if (!at || !strcmp(at, "?"))
		return object;
	return keep(table, asprintf(&text, "%s (%s)", object, at) < 0 ? NULL : text);
}

const char *nm_compose_class(struct nm_table *table, size_t row)
{
	static const char *const names[] = {"capacity", "conflict", "cold", "coherence"};
	int64_t sum = 0, most = 0, n;
	unsigned i, dominant = 0;
	char *text = NULL;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		n = nm_table_named(table, row, names[i])->integer;
		sum += n;
		if (n > most) {
			most = n;
			dominant = i;
		}
	}
	if (!sum)
		return NULL;
	n = asprintf(&text, "%s %.0f%%", names[dominant], 100.0 * (double)most / (double)sum);
	return keep(table, n < 0 ? NULL : text);
}

/* ---- columns and SQL shared by what is ranked ----------------------------------------------------- */

#define FIGURE_COLUMNS                                                                                       \
	{.name = "references", .kind = NM_COLUMN_NUMBER},                                                    \
	    {.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},                                 \
	    {.name = "share", .title = "share %", .kind = NM_COLUMN_REAL, .decimals = 1},                    \
	    {.name = "mpki", .title = "MPKI", .kind = NM_COLUMN_REAL, .decimals = 2},                        \
	    {.name = "miss_ratio",                                                                           \
	     .title = "ratio %",                                                                             \
	     .kind = NM_COLUMN_REAL,                                                                         \
	     .decimals = 2,                                                                                  \
	     .dispensable = 3},                                                                              \
	    {.name = "class", .title = "class", .compose = nm_compose_class}, {.name = "cold"},              \
	    {.name = "capacity"}, {.name = "conflict"}, {.name = "coherence"}, {.name = "loads"},            \
	    {.name = "reuse", .title = "reuse", .kind = NM_COLUMN_REAL, .decimals = 1, .dispensable = 4},    \
	{                                                                                                    \
		.name = "waste", .title = "waste %", .kind = NM_COLUMN_REAL, .decimals = 1, .dispensable = 2 \
	}

#define SUMS                                                                                          \
	"sum(reads + writes) AS refs, sum(read_misses + write_misses) AS misses, sum(cold) AS cold, " \
	"sum(capacity) AS capacity, sum(conflict) AS conflict, sum(coherence) AS coherence, "         \
	"sum(loads) AS loads, sum(reuse) AS reuse, sum(used_bytes) AS used, sum(loaded_bytes) AS loaded "

#define SELECTED \
	"FROM counts WHERE level = ?1 AND (?2 IS NULL OR process = ?2) AND (?3 IS NULL OR thread = ?3) "

#define TOTALS                                                                                       \
	"t AS MATERIALIZED (SELECT sum(misses) AS misses, (SELECT sum(instructions) FROM processes " \
	"WHERE ?2 IS NULL OR process = ?2) AS instructions FROM c) "

#define FIGURES                                                                                      \
	"c.refs AS refs, c.misses AS misses, 100.0 * c.misses / nullif(t.misses, 0) AS share, "      \
	"1000.0 * c.misses / nullif(t.instructions, 0) AS mpki, "                                    \
	"100.0 * c.misses / nullif(c.refs, 0) AS miss_ratio, "                                       \
	"c.cold AS cold, c.capacity AS capacity, c.conflict AS conflict, c.coherence AS coherence, " \
	"c.loads AS loads, 1.0 * c.reuse / nullif(c.loads, 0) AS reuse, "                            \
	"100.0 - 100.0 * c.used / nullif(c.loaded, 0) AS waste "

#define BY(keys) "WITH c AS MATERIALIZED (SELECT " keys ", " SUMS SELECTED "GROUP BY " keys "), " TOTALS

#define COUNT_OF(list) (unsigned)(sizeof(list) / sizeof *(list))

/* ---- pairs -------------------------------------------------------------------------------------------- */

static const struct nm_column pair_columns[] = {
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "where", .title = "line", .kind = NM_COLUMN_PLACE, .compose = where},
    {.name = "file", .kind = NM_COLUMN_TEXT},
    {.name = "line"},
    {.name = "function", .kind = NM_COLUMN_TEXT},
    FIGURE_COLUMNS,
    {.name = "top_evictor",
     .title = "top evictor",
     .kind = NM_COLUMN_NAME,
     .dispensable = 5,
     .compose = evictor},
    {.name = "evictor", .kind = NM_COLUMN_TEXT},
    {.name = "evictor_file", .kind = NM_COLUMN_TEXT},
    {.name = "evictor_line"},
    {.name = "evictor_function", .kind = NM_COLUMN_TEXT},
    {.name = "evictor_count"},
};

/* max(count) makes SQLite take the other columns of its group from the row that has it. */
static const char pair_sql[] = BY(
    "object, file, line, function") ", e AS MATERIALIZED (SELECT victim, victim_file, victim_line, victim_function, evictor, file, line, "
				    "function, max(count) AS count FROM top_evictors WHERE level = ?1 AND (?2 IS NULL OR process = ?2) "
				    "GROUP BY victim, victim_file, victim_line, victim_function) "
				    "SELECT c.object AS object, c.file AS file, c.line AS line, c.function AS function, " FIGURES
				    ", e.evictor AS evictor, e.file AS evictor_file, e.line AS evictor_line, "
				    "e.function AS evictor_function, e.count AS evictor_count "
				    "FROM c CROSS JOIN t LEFT JOIN e ON e.victim IS c.object AND e.victim_file IS c.file "
				    "AND e.victim_line IS c.line AND e.victim_function IS c.function";

/* ---- objects, functions, lines ---------------------------------------------------------------------- */

static const struct nm_column object_columns[] = {
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "kind", .title = "kind", .kind = NM_COLUMN_TEXT, .dispensable = 8},
    {.name = "type", .title = "type", .kind = NM_COLUMN_NAME, .dispensable = 7},
    {.name = "bytes", .title = "bytes", .kind = NM_COLUMN_NUMBER, .dispensable = 5},
    {.name = "blocks", .title = "blocks", .kind = NM_COLUMN_NUMBER, .dispensable = 6},
    {.name = "largest"},
    {.name = "allocated_at", .kind = NM_COLUMN_TEXT},
    FIGURE_COLUMNS,
};

static const char object_sql[] = BY(
    "object") ", o AS MATERIALIZED (SELECT object, kind, type, sum(bytes) AS bytes, sum(blocks) AS blocks, "
	      "max(largest) AS largest, allocated_at FROM objects WHERE ?2 IS NULL OR process = ?2 GROUP BY object) "
	      "SELECT c.object AS object, o.kind AS kind, o.type AS type, o.bytes AS bytes, o.blocks AS blocks, "
	      "o.largest AS largest, o.allocated_at AS allocated_at, " FIGURES
	      "FROM c CROSS JOIN t LEFT JOIN o ON o.object = c.object";

static const struct nm_column function_columns[] = {
    {.name = "function", .title = "function", .kind = NM_COLUMN_NAME},
    {.name = "file", .title = "file", .kind = NM_COLUMN_NAME, .dispensable = 6},
    FIGURE_COLUMNS,
};

static const char function_sql[] =
    BY("function, file") "SELECT c.function AS function, c.file AS file, " FIGURES "FROM c CROSS JOIN t";

static const struct nm_column line_columns[] = {
    {.name = "where", .title = "line", .kind = NM_COLUMN_PLACE, .compose = where},
    {.name = "file", .kind = NM_COLUMN_TEXT},
    {.name = "line"},
    {.name = "function", .kind = NM_COLUMN_TEXT},
    FIGURE_COLUMNS,
};

static const char line_sql[] =
    BY("file, line, function") "SELECT c.file AS file, c.line AS line, c.function AS function, " FIGURES
			       "FROM c CROSS JOIN t";

/* ---- levels ------------------------------------------------------------------------------------------- */

static const struct nm_column level_columns[] = {
    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT},
    {.name = "size", .title = "size", .kind = NM_COLUMN_BYTES},
    {.name = "ways", .title = "ways", .kind = NM_COLUMN_NUMBER, .dispensable = 6},
    {.name = "line_size", .title = "line", .kind = NM_COLUMN_NUMBER, .dispensable = 6},
    {.name = "sets", .title = "sets", .kind = NM_COLUMN_NUMBER, .dispensable = 7},
    {.name = "policy", .kind = NM_COLUMN_TEXT},
    {.name = "reads"},
    {.name = "writes"},
    {.name = "references", .title = "references", .kind = NM_COLUMN_NUMBER},
    {.name = "read_misses"},
    {.name = "write_misses"},
    {.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},
    {.name = "miss_ratio", .title = "ratio %", .kind = NM_COLUMN_REAL, .decimals = 2},
    {.name = "mpki", .title = "MPKI", .kind = NM_COLUMN_REAL, .decimals = 2},
    {.name = "cold", .title = "cold", .kind = NM_COLUMN_NUMBER, .dispensable = 3},
    {.name = "capacity", .title = "capacity", .kind = NM_COLUMN_NUMBER, .dispensable = 3},
    {.name = "conflict", .title = "conflict", .kind = NM_COLUMN_NUMBER, .dispensable = 3},
    {.name = "coherence"},
    {.name = "loads", .title = "loads", .kind = NM_COLUMN_NUMBER, .dispensable = 4},
    {.name = "evictions", .title = "evictions", .kind = NM_COLUMN_NUMBER, .dispensable = 5},
    {.name = "writebacks", .title = "writebacks", .kind = NM_COLUMN_NUMBER, .dispensable = 5},
};

static const char level_sql[] =
    "SELECT level, size, ways, line_size, sets, policy, sum(reads) AS reads, sum(writes) AS writes, "
    "sum(reads + writes) AS refs, sum(read_misses) AS read_misses, sum(write_misses) AS write_misses, "
    "sum(read_misses + write_misses) AS misses, "
    "100.0 * sum(read_misses + write_misses) / nullif(sum(reads + writes), 0) AS miss_ratio, "
    "1000.0 * sum(read_misses + write_misses) / nullif((SELECT sum(instructions) FROM processes "
    "WHERE ?2 IS NULL OR process = ?2), 0) AS mpki, "
    "sum(cold), sum(capacity), sum(conflict), sum(coherence), sum(loads), sum(evictions), sum(writebacks) "
    "FROM levels WHERE ?2 IS NULL OR process = ?2 GROUP BY position";

#define RANKED(columns_, sql_) \
	.columns = columns_, .column_count = COUNT_OF(columns_), .sort = "misses", .sql = sql_

static const struct nm_report reports[] = {
    {.name = "summary", .summary = "what was run, how each level did, the first pairs, and advice"},
    {.name = "objects",
     .summary = "variables and allocation sites",
     .ties = "object",
     RANKED(object_columns, object_sql)},
    {.name = "functions",
     .summary = "functions",
     .ties = "function, file",
     RANKED(function_columns, function_sql)},
    {.name = "lines",
     .summary = "source lines",
     .ties = "file, line, function",
     RANKED(line_columns, line_sql)},
    {.name = "pairs",
     .summary = "objects with the source lines that touch them",
     .ties = "object, file, line, function",
     RANKED(pair_columns, pair_sql)},
    {.name = "levels",
     .summary = "the levels of the memory hierarchy",
     .columns = level_columns,
     .column_count = COUNT_OF(level_columns),
     .ties = "position",
     .sql = level_sql,
     .all_levels = 1},
};

const struct nm_report *nm_report_at(unsigned i) { return i < COUNT_OF(reports) ? &reports[i] : NULL; }

const struct nm_report *nm_report_named(const char *name)
{
	unsigned i;

	for (i = 0; i < COUNT_OF(reports); i++)
		if (!strcmp(reports[i].name, name))
			return &reports[i];
	return NULL;
}

const char *nm_report_name(const struct nm_report *report) { return report->name; }
const char *nm_report_summary(const struct nm_report *report) { return report->summary; }
