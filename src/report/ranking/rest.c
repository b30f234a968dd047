/* SPDX-License-Identifier: MIT */
#include "rest.h"

#include <stdlib.h>
#include <string.h>

#include "memstream.h"

const char nm_apart_expression[] =
    "CASE WHEN user_function = '" NM_WAITING_IN_MPI "' THEN 2 "
    "WHEN object LIKE '% .dynsym' OR object LIKE '% .dynstr' OR object LIKE '% .gnu.hash' OR "
    "object LIKE '% .gnu.version%' OR object LIKE '% .rela.%' OR object LIKE '% .dynamic' OR "
    "(library AND (file LIKE '%/elf/%' OR file LIKE '%/dl-%' OR file LIKE '%/get-dynamic-info.h' OR "
    "file LIKE '%/cpu-features.c' OR module LIKE 'ld-linux%' OR module LIKE 'ld-musl%')) THEN 1 ELSE 0 END";

/* Whether numbers tell pairs apart (top_pairs.h): `counts` has texts only. */
static int by_number(const struct nm_selection *selection)
{
	return selection->has_cells && !nm_levels_split(&selection->levels);
}

static void write_from(const struct nm_selection *selection, FILE *sql)
{
	const struct nm_report_request *r = &selection->request;

	if (by_number(selection))
		fputs(" FROM w CROSS JOIN cells AS counts ON counts.level = w.source WHERE 1", sql);
	else
		fputs(" FROM w CROSS JOIN counts ON counts.level = w.source WHERE "
		      "(w.code IS NULL OR w.code = (counts.object IN x))",
		      sql);
	fprintf(sql, "%s%s GROUP BY %s HAVING max(w.own)", r->process ? " AND counts.process = ?1" : "",
		r->thread ? " AND counts.thread = ?2" : "",
		by_number(selection) ? "site, name" : "object, function, file, line");
}

static char *write_query(const struct nm_selection *selection)
{
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	fputs("WITH " NM_LEVELS_W " AS (", sql);
	nm_levels_weights(&selection->levels, selection->request.level, sql);
	fprintf(sql,
		"), x AS MATERIALIZED (SELECT object FROM objects WHERE kind = 'code'), "
		"z AS MATERIALIZED (SELECT place, %s AS apart FROM places), c AS (SELECT max(%s) AS apart, "
		"sum(w.own * (read_misses + write_misses)) AS misses, sum((w.source = ",
		nm_apart_expression,
		by_number(selection) ? "(counts.place IN (SELECT place FROM z WHERE apart = 1)) + "
				       "2 * (counts.place IN (SELECT place FROM z WHERE apart = 2))"
				     : nm_apart_expression);
	nm_sql_text(selection->last ? selection->last->name : "", sql);
	fputs(") * (read_misses + write_misses)) AS last_misses, CAST(", sql);
	nm_levels_cycles(&selection->levels, "counts", sql);
	fputs(" AS INTEGER) AS cycles", sql);
	write_from(selection, sql);
	fputs(") SELECT apart, count(*), sum(misses), sum(last_misses), sum(cycles) FROM c GROUP BY 1", sql);
	return nm_memstream_close(sql, &text) ? NULL : text;
}

int nm_rest_sum(struct nm_profile *profile, const struct nm_selection *selection,
		struct nm_rest ret_rest[NM_APARTS], struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	char *sql = write_query(selection);
	int status = sql ? nm_profile_query(profile, sql, &rows, err) : nm_fail_memory(err);

	memset(ret_rest, 0, NM_APARTS * sizeof *ret_rest);
	if (!status) {
		nm_rows_bind_text(rows, 1, selection->request.process);
		nm_rows_bind_integer(rows, 2, selection->request.thread);
	}
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		ret_rest[nm_rows_integer(rows, 0)] =
		    (struct nm_rest){nm_rows_integer(rows, 1), nm_rows_integer(rows, 2),
				     nm_rows_integer(rows, 3), nm_rows_integer(rows, 4)};
		status = 0;
	}
	nm_rows_free(rows);
	free(sql);
	return status;
}
