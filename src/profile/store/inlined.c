/* SPDX-License-Identifier: MIT
 *
 * inlined.c - see inlined.h.
 *
 * A name without a schema means the temporary view where there is one: SQLite looks there first.
 */
#include "inlined.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memstream.h"
#include "reader_priv.h"
#include "selection.h"

/* The replacement of a column in a shadowing view. */
struct replacement {
	const char *column, *user, *all; /* SQL; NULL: as it is */
};

#define WHOLE_CHAIN "coalesce(inlined, function)"
#define UNLESS_LIBRARY(column) "CASE WHEN library THEN " column " ELSE user_" column " END"

static const struct replacement of_code[] = {{"function", "user_function", WHOLE_CHAIN},
					     {"file", "user_file", NULL},
					     {"line", "user_line", NULL},
					     {"site", "user_site", "chain_site"},
					     {"module", "user_module", NULL},
					     {"victim_function", "victim_user_function", NULL},
					     {"victim_file", "victim_user_file", NULL},
					     {"victim_line", "victim_user_line", NULL},
					     {NULL, NULL, NULL}};
/* In these views a call is a frame of its own. */
static const struct replacement of_calls[] = {{"caller", "user_function", "coalesce(inlined, caller)"},
					      {"file", "user_file", NULL},
					      {"line", "user_line", NULL},
					      {NULL, NULL, NULL}};
static const struct replacement of_called_code[] = {{"function", UNLESS_LIBRARY("function"), WHOLE_CHAIN},
						    {"file", UNLESS_LIBRARY("file"), NULL},
						    {"line", UNLESS_LIBRARY("line"), NULL},
						    {NULL, NULL, NULL}};

static const struct {
	const char *view;
	const struct replacement *columns;
} views[] = {{"sectors", of_code},
	     {"prefetches", of_code},
	     {"sites", of_code},
	     {"walks", of_code},
	     {"field_counts", of_code},
	     {"evictions", of_code},
	     {"top_evictors", of_code},
	     {"pmu_samples", of_code},
	     {"places", of_code},
	     {"cells", of_code},
	     {"contexts", of_calls},
	     {"context_counts", of_called_code}};

/* The column user_module is younger than the others. */
static int has_column(const struct nm_rows *rows, const char *name)
{
	for (unsigned i = 0; i < nm_rows_columns(rows); i++)
		if (!strcmp(nm_rows_name(rows, i), name))
			return 1;
	return 0;
}

static const char *replaced(const struct replacement *columns, const char *name, enum nm_shown_frame frames)
{
	for (; columns->column; columns++)
		if (!strcmp(columns->column, name))
			return frames == NM_SHOW_ALL ? columns->all : columns->user;
	return NULL;
}

/* "CREATE TEMP VIEW view AS SELECT ... FROM main.source", of the columns that main.view has. */
static int write_view(struct nm_profile *profile, const char *view, const char *source,
		      const struct replacement *columns, enum nm_shown_frame frames, FILE *sql,
		      struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	char probe[80];
	int status, is_code = 0, has_victim = 0;

	snprintf(probe, sizeof probe, "SELECT * FROM main.%s LIMIT 0", view);
	status = nm_profile_query(profile, probe, &rows, err);
	if (status)
		return status;
	fprintf(sql, "CREATE TEMP VIEW IF NOT EXISTS %s AS SELECT ", view);
	for (unsigned i = 0; i < nm_rows_columns(rows); i++) {
		const char *name = nm_rows_name(rows, i), *by = replaced(columns, name, frames);

		if (by && !strcmp(by, "user_module") && !has_column(rows, by))
			by = NULL;

		is_code |= !strcmp(name, "function") && columns != of_calls;
		has_victim |= !strcmp(name, "victim_function");
		fprintf(sql, "%s%s AS %s", i ? ", " : "", by ? by : name, name);
	}
	if (is_code)
		fputs(", function AS inner_function, file AS inner_file, line AS inner_line", sql);
	if (has_victim)
		fputs(", victim_function AS victim_inner_function, victim_file AS victim_inner_file, "
		      "victim_line AS victim_inner_line",
		      sql);
	fprintf(sql, " FROM main.%s;", source);
	nm_rows_free(rows);
	return 0;
}

int nm_profile_show_frame(struct nm_profile *profile, enum nm_shown_frame frames, struct nm_error *err)
{
	char *text = NULL;
	FILE *sql = frames == NM_SHOW_INNERMOST ? NULL : nm_memstream_open(&text, NULL);
	int has = nm_profile_has_user_code(profile, err), by_call = 0, status;
	int chosen =
	    nm_profile_has_row(profile, "SELECT 1 FROM temp.sqlite_schema WHERE name = 'counts'", err);

	if (frames == NM_SHOW_INNERMOST || has <= 0 || chosen) {
		if (sql)
			fclose(sql);
		free(text);
		return has < 0 ? has : chosen < 0 ? chosen : 0;
	}
	if (!sql)
		return nm_fail_memory(err);
	if (frames == NM_SHOW_USER)
		by_call = nm_profile_has_contexts(profile, err);
	status = by_call < 0 ? by_call
			     : write_view(profile, "counts", by_call ? "context_counts" : "counts", of_code,
					  frames, sql, err);
	for (size_t i = 0; i < sizeof views / sizeof *views && !status; i++) {
		const char *view = views[i].view;
		int is_there = nm_profile_has(profile, view, err); /* later versions have more */

		if (is_there < 0)
			status = is_there;
		else if (is_there && (!by_call || strcmp(view, "cells"))) /* which know no calls */
			status = write_view(profile, view, view, views[i].columns, frames, sql, err);
	}
	if (nm_memstream_close(sql, &text) && !status)
		status = nm_fail_memory(err);
	if (!status)
		status = nm_profile_define(profile, text, err);
	free(text);
	return status;
}
