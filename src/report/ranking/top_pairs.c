/* SPDX-License-Identifier: MIT
 *
 * top_pairs.c - the first of many objects, or of many pairs of object and line.
 *
 * A ranking shows a few rows, but sums up twenty columns of all rows by keys that are texts. If numbers
 * alone determine the rank, this query sums only three columns by two numbers; all other columns are summed
 * only for the rows that are shown:
 *
 *     z   the places that are left out (rest.h)
 *     b   by site and name of the object, or name alone (views `cells` and `places`): misses, cycles, cold
 *         misses
 *     a   the places of the first ones, and of all that are equal to the last of these, with their
 *         texts
 */
#include <string.h>

#include "ranking.h"
#include "rest.h"

int nm_top_pairs_apply(const struct nm_selection *selection, const char *rank)
{
	return selection->has_cells && !nm_levels_split(&selection->levels) &&
	       (!strcmp(rank, "misses") || !strcmp(rank, "cycles") || !strcmp(rank, "cold"));
}

void nm_top_pairs_expression(const struct nm_selection *selection, const char *keys, const char *rank,
			     FILE *sql)
{
	const struct nm_report_request *r = &selection->request;

	if (selection->leaves_apart)
		fprintf(sql, ", z AS MATERIALIZED (SELECT place FROM places WHERE %s)", nm_apart_expression);
	fprintf(sql,
		", b AS MATERIALIZED (SELECT w.level AS level, %s, sum(w.own * cold) AS cold, "
		"sum(w.own * (read_misses + write_misses)) AS misses, ",
		keys);
	nm_levels_cycles(&selection->levels, "cells", sql);
	fprintf(sql,
		" AS cycles FROM w CROSS JOIN cells ON cells.level = w.source WHERE (%s) AND (%s)%s "
		"GROUP BY %s HAVING max(w.own)), ",
		r->process ? "cells.process = ?2" : "1", r->thread ? "cells.thread = ?3" : "1",
		selection->leaves_apart ? " AND cells.place NOT IN (SELECT place FROM z)" : "", keys);
	fprintf(sql,
		"a AS MATERIALIZED (SELECT place, object, file, line, function FROM places "
		"WHERE (%s) IN (SELECT %s FROM b WHERE %s >= "
		"(SELECT min(%s) FROM (SELECT %s FROM b ORDER BY %s DESC LIMIT %lld))))",
		keys, keys, rank, rank, rank, rank, (long long)r->limit);
}
