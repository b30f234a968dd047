/* SPDX-License-Identifier: MIT
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

static const struct replacement of_nothing[] = {{NULL, NULL, NULL}};

static const struct {
	const char *view;
	const struct replacement *columns;
} views[] = {{"sectors", of_code},         {"prefetches", of_code},   {"sites", of_code},
	     {"walks", of_code},           {"field_counts", of_code}, {"evictions", of_code},
	     {"top_evictors", of_code},    {"pmu_samples", of_code},  {"places", of_code},
	     {"cells", of_code},           {"contexts", of_calls},    {"context_counts", of_called_code},
	     {"instructions", of_nothing}, {"events", of_nothing},    {"distances", of_nothing},
	     {"reuses", of_nothing},       {"coherence", of_nothing}, {"schedule_coherence", of_nothing},
	     {"relocations", of_nothing},  {"numa", of_nothing},      {"non_temporal", of_code}};

struct shown {
	enum nm_shown_frame frames;
	struct nm_shown_part part; /* its phase by name */
};

static int is_part(const struct shown *shown) { return shown->part.region || shown->part.phase; }

static int has_column(const struct nm_rows *rows, const char *name)
{
	for (unsigned i = 0; i < nm_rows_columns(rows); i++)
		if (!strcmp(nm_rows_name(rows, i), name))
			return 1;
	return 0;
}

static const char *replace_column(const struct replacement *columns, const char *name,
				  enum nm_shown_frame frames)
{
	for (; columns->column && frames != NM_SHOW_INNERMOST; columns++)
		if (!strcmp(columns->column, name))
			return frames == NM_SHOW_ALL ? columns->all : columns->user;
	return NULL;
}

/* " WHERE " what has the region or one within it, and the phase, in columns whose names begin so. */
static void write_condition(const char *prefix, const struct nm_shown_part *part, FILE *sql)
{
	fputs(" WHERE ", sql);
	if (part->region) {
		fprintf(sql, "substr(%sregion || '/', 1, length(", prefix);
		nm_sql_text(part->region, sql);
		fputs(") + 1) = ", sql);
		nm_sql_text(part->region, sql);
		fputs(" || '/'", sql);
	}
	if (part->phase) {
		fprintf(sql, "%s%sphase = ", part->region ? " AND " : "", prefix);
		nm_sql_text(part->phase, sql);
	}
}

/* "CREATE TEMP VIEW view AS SELECT ... FROM main.source", of the columns that main.view has. */
static int write_view(struct nm_profile *profile, const char *view, const char *source,
		      const struct replacement *columns, const struct shown *shown, FILE *sql,
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
		const char *name = nm_rows_name(rows, i), *by = replace_column(columns, name, shown->frames);

		is_code |= !strcmp(name, "function") && columns != of_calls && columns != of_nothing;
		has_victim |= !strcmp(name, "victim_function") && columns != of_nothing;
		fprintf(sql, "%s%s AS %s", i ? ", " : "", by ? by : name, name);
	}
	if (is_code)
		fputs(", function AS inner_function, file AS inner_file, line AS inner_line", sql);
	if (has_victim)
		fputs(", victim_function AS victim_inner_function, victim_file AS victim_inner_file, "
		      "victim_line AS victim_inner_line",
		      sql);
	fprintf(sql, " FROM main.%s", source);
	if (is_part(shown) && has_column(rows, "region"))
		write_condition(has_column(rows, "victim_region") ? "victim_" : "", &shown->part, sql);
	fputc(';', sql);
	nm_rows_free(rows);
	return 0;
}

/* ---- the totals of a part ---- */

/* Levels with the counts of the part in the place of theirs. */
static int write_levels(struct nm_profile *profile, const struct nm_shown_part *part, FILE *sql,
			struct nm_error *err)
{
	struct nm_rows *levels = NULL, *counts = NULL;
	int status = nm_profile_query(profile, "SELECT * FROM main.levels LIMIT 0", &levels, err);

	if (!status)
		status = nm_profile_query(profile, "SELECT * FROM main.counts LIMIT 0", &counts, err);
	if (!status) {
		fputs("CREATE TEMP VIEW levels AS SELECT ", sql);
		for (unsigned i = 0; i < nm_rows_columns(levels); i++) {
			const char *name = nm_rows_name(levels, i);
			const int counted =
			    has_column(counts, name) && strcmp(name, "level") && strcmp(name, "process");

			fprintf(sql, counted ? "%scoalesce(c.%s, 0) AS %s" : "%sl.%s AS %s", i ? ", " : "",
				name, name);
		}
		fputs(" FROM main.levels l LEFT JOIN (SELECT process, level", sql);
		for (unsigned i = 0; i < nm_rows_columns(levels); i++) {
			const char *name = nm_rows_name(levels, i);

			if (has_column(counts, name) && strcmp(name, "level") && strcmp(name, "process"))
				fprintf(sql, ", sum(%s) AS %s", name, name);
		}
		fputs(" FROM main.counts", sql);
		write_condition("", part, sql);
		fputs(" GROUP BY process, level) c ON c.process = l.process AND c.level = l.level;", sql);
	}
	nm_rows_free(levels);
	nm_rows_free(counts);
	return status;
}

/* Processes with the part's instructions and references. How many of these instructions were repetitions is
 * not known. */
static void write_processes(const struct nm_shown_part *part, FILE *sql)
{
	fputs("CREATE TEMP VIEW processes AS SELECT process, path, command, exit_status, "
	      "coalesce((SELECT sum(instructions) FROM main.regions r",
	      sql);
	write_condition("", part, sql);
	fputs(
	    " AND r.process = p.process), 0) AS instructions, "
	    "(SELECT l.reads + l.writes FROM levels l WHERE l.process = p.process AND l.side <> 'instruction' "
	    "ORDER BY l.position LIMIT 1) AS refs, lost_words, NULL AS repeated FROM main.processes p;",
	    sql);
}

/* ---- all of them ---- */

static int write_views(struct nm_profile *profile, const struct shown *shown, FILE *sql, struct nm_error *err)
{
	const int by_call = shown->frames == NM_SHOW_USER ? nm_profile_has_contexts(profile, err) : 0;
	int status = by_call < 0 ? by_call
				 : write_view(profile, "counts", by_call ? "context_counts" : "counts",
					      of_code, shown, sql, err);

	for (size_t i = 0; i < sizeof views / sizeof *views && !status; i++) {
		const char *view = views[i].view;

		if (views[i].columns == of_nothing && !is_part(shown))
			continue;
		if (!by_call || strcmp(view, "cells")) /* which know no calls */
			status = write_view(profile, view, view, views[i].columns, shown, sql, err);
	}
	if (!status && is_part(shown))
		status = write_levels(profile, &shown->part, sql, err);
	if (!status && is_part(shown))
		write_processes(&shown->part, sql);
	return status;
}

static int show_frames(struct nm_profile *profile, const struct shown *shown, struct nm_error *err)
{
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);
	int status;

	if (!sql)
		return nm_fail_memory(err);
	status = write_views(profile, shown, sql, err);
	if (nm_memstream_close(sql, &text) && !status)
		status = nm_fail_memory(err);
	if (!status)
		status = nm_profile_define(profile, text, err);
	free(text);
	return status;
}

int nm_profile_show_part(struct nm_profile *profile, const struct nm_shown_part *part,
			 enum nm_shown_frame frames, struct nm_error *err)
{
	struct shown shown = {frames, *part};
	char *phase = NULL;
	int status = 0,
	    chosen =
		nm_profile_has_row(profile, "SELECT 1 FROM temp.sqlite_schema WHERE name = 'counts'", err);

	if (!is_part(&shown) && (frames == NM_SHOW_INNERMOST || chosen))
		return chosen < 0 ? chosen : 0;
	if (part->region)
		status = nm_select_region(profile, part->region, err);
	if (part->phase && !status)
		status = nm_select_phase(profile, part->phase, NULL, &phase, err);
	shown.part.phase = phase;
	if (!status)
		status = show_frames(profile, &shown, err);
	free(phase);
	return status;
}

int nm_profile_show_frame(struct nm_profile *profile, enum nm_shown_frame frames, struct nm_error *err)
{
	return nm_profile_show_part(profile, &(struct nm_shown_part){NULL, NULL}, frames, err);
}
