/* SPDX-License-Identifier: MIT
 *
 * walk_columns.c - columns of ranked reports about the order in which lines of code load an object, if the
 * machine has prefetchers.
 *
 * Table expressions for ranking.c, and the columns that come from them:
 *
 *     v   if object, line and function are keys: the step of the line's loads
 *     q   the lines of each object, most loads first: the *other* line of a row is the first of them that is
 *         not its own
 *     u   the objects that each function loads uncovered, most loads first: where the loads of a row wait for
 *         each other, they may lead to the first of them that is not its own
 *
 * q and u are made of k, and regard the whole profile, whatever is shown.
 */
#include "columns.h"

#define OF_OTHER(column) \
	"CASE WHEN q1.file IS c.file AND q1.line IS c.line THEN q2." column " ELSE q1." column " END"
#define OF_UNORDERED(column) "CASE WHEN u1.object IS c.object THEN u2." column " ELSE u1." column " END"

static const struct nm_ranked_column walk_columns[] = {
    {{.name = "load_step", .title = "step", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "v.step"},
    {{.name = "load_follow", .title = "step %", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1},
     "100.0 * v.followed / nullif(v.loads, 0)"},
    {{.name = "other_function", .title = "other function", .kind = NM_COLUMN_NAME, .hidden = 1},
     OF_OTHER("function")},
    {{.name = "other_line", .title = "other line", .kind = NM_COLUMN_NUMBER, .hidden = 1}, OF_OTHER("line")},
    {{.name = "other_loads", .title = "other loads", .kind = NM_COLUMN_NUMBER, .hidden = 1},
     OF_OTHER("loads")},
    {{.name = "unordered_object", .title = "unordered object", .kind = NM_COLUMN_NAME, .hidden = 1},
     OF_UNORDERED("object")},
    {{.name = "unordered_loads", .title = "unordered loads", .kind = NM_COLUMN_NUMBER, .hidden = 1},
     OF_UNORDERED("loads")},
};

const struct nm_ranked_column *nm_walk_columns(unsigned *ret_count)
{
	*ret_count = sizeof walk_columns / sizeof *walk_columns;
	return walk_columns;
}

/* max(loads) makes SQLite take the other columns of its group from the row that has it. */
void nm_walk_expression(const char *process, const char *what, const char *places, FILE *sql)
{
	fprintf(
	    sql,
	    ", v AS MATERIALIZED (SELECT %sobject, function, file, line, step, followed, max(loads) AS loads "
	    "FROM walks WHERE (?2 IS NULL OR process = ?2) AND %s%s GROUP BY %sobject, function, file, line), "
	    "k AS MATERIALIZED (SELECT object, function, file, line, sum(loads) AS loads, "
	    "sum(covered) AS covered FROM counts "
	    "WHERE level = ?1 AND (?2 IS NULL OR process = ?2) AND "
	    "(object IN (SELECT object FROM c) OR function IN (SELECT function FROM c)) "
	    "GROUP BY object, function, file, line), ",
	    process, what, places, process);
	fputs("q AS MATERIALIZED (SELECT object, function, file, line, loads, "
	      "row_number() OVER (PARTITION BY object ORDER BY loads DESC) AS place FROM k), "
	      "u AS MATERIALIZED (SELECT function, object, sum(loads) AS loads, "
	      "row_number() OVER (PARTITION BY function ORDER BY sum(loads) DESC) AS place FROM k "
	      "WHERE object NOT IN (SELECT object FROM objects WHERE kind IN ('code', 'stack')) "
	      "GROUP BY function, object HAVING 2 * sum(covered) < sum(loads))",
	      sql);
}

void nm_walk_joins(int by_process, FILE *sql)
{
	fprintf(sql,
		" LEFT JOIN v ON v.object IS c.object AND v.function IS c.function AND v.file IS c.file AND "
		"v.line IS c.line%s LEFT JOIN q AS q1 ON q1.object IS c.object AND q1.place = 1 "
		"LEFT JOIN q AS q2 ON q2.object IS c.object AND q2.place = 2 "
		"LEFT JOIN u AS u1 ON u1.function IS c.function AND u1.place = 1 "
		"LEFT JOIN u AS u2 ON u2.function IS c.function AND u2.place = 2",
		by_process ? " AND v.process = c.process" : "");
}
