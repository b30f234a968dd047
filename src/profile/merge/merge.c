/* SPDX-License-Identifier: MIT
 *
 * merge.c - see merge.h. The work is SQL: a few scripts (begin.sql, names.sql, sites.sql, rows.sql, inputs.sql,
 * end.sql) run on the connection of a profile writer, with one input attached at a time.
 *
 * An input must have the tables of this version, to the letter: that also keeps a forged file from hiding a view or a
 * trigger under the name of a table.
 */
#include "merge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge_priv.h"
#include "profile_priv.h"
#include "reader_priv.h"
#include "writer.h"

struct nm_merge {
	struct nm_profile_writer *writer;
	sqlite3 *db;    /* of the writer */
	int64_t inputs; /* added so far; of a merged profile, its own */
	int64_t samples;
};

/* ---- failures ---- */

static int fail_read(struct nm_merge *merge, const char *path, int status, struct nm_error *err)
{
	switch (status & 0xff) {
	case SQLITE_NOMEM:
	case SQLITE_FULL:
	case SQLITE_IOERR: return nm_profile_writer_fail(merge->writer, status, err);
	default:
		return nm_fail(err, NM_EFORMAT, "profile %s is damaged: %s", path,
			       status == SQLITE_CORRUPT ? "a process or object has no name"
							: sqlite3_errmsg(merge->db));
	}
}

static int run_scripts(sqlite3 *db, const char *const *scripts)
{
	int status = SQLITE_OK;

	for (; *scripts && !status; scripts++)
		status = sqlite3_exec(db, *scripts, NULL, NULL, NULL);
	return status;
}

/* The first number of a query; `absent` if it has no row. */
static int query_number(sqlite3 *db, const char *sql, int64_t absent, int64_t *ret)
{
	sqlite3_stmt *query = NULL;
	int row = 0, status = sqlite3_prepare_v2(db, sql, -1, &query, NULL);

	if (!status)
		status = nm_merge_step(query, &row);
	*ret = row ? sqlite3_column_int64(query, 0) : absent;
	sqlite3_finalize(query);
	return status;
}

/* ---- the life of a merge ---- */

int nm_merge_new(struct nm_merge **ret_merge, const char *output, struct nm_error *err)
{
	static const char *const scripts[] = {nm_merge_begin, NULL};
	struct nm_merge *merge = calloc(1, sizeof *merge);
	int status;

	if (!merge)
		return nm_fail_memory(err);
	status = nm_profile_writer_new(&merge->writer, output, err);
	if (status) {
		free(merge);
		return status;
	}
	merge->db = nm_profile_writer_db(merge->writer);
	status = nm_merge_functions(merge->db);
	if (!status)
		status = run_scripts(merge->db, scripts);
	if (status) {
		status = nm_profile_writer_fail(merge->writer, status, err);
		nm_merge_abort(merge);
		return status;
	}
	*ret_merge = merge;
	return 0;
}

void nm_merge_abort(struct nm_merge *merge)
{
	nm_profile_writer_abort(merge->writer);
	free(merge);
}

/* ---- an input ---- */

/* Attaches a profile that can be read, and is whole. */
static int attach_profile(struct nm_merge *merge, const char *path, struct nm_error *err)
{
	struct nm_profile *profile;
	char *uri, *sql;
	int status = nm_profile_open(&profile, path, err);

	if (status)
		return status;
	nm_profile_close(profile);
	uri = nm_profile_uri(path);
	sql = uri ? sqlite3_mprintf("ATTACH %Q AS src", uri) : NULL;
	free(uri);
	if (!sql)
		return nm_fail_memory(err);
	status = sqlite3_exec(merge->db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	return status ? fail_read(merge, path, status, err) : 0;
}

/* The input must be of this version, of the same caches as the first, and its distances of the same limit. */
static int check_input(struct nm_merge *merge, const char *path, struct nm_error *err)
{
	static const struct {
		const char *sql, *what;
	} rules[] = {
	    {"SELECT 1 FROM src.sqlite_master WHERE name = 'task'",
	     "is the file of a sweep, whose tasks have no sum"},
	    {"SELECT 1 FROM main.sqlite_master m WHERE m.type = 'table' AND NOT EXISTS (SELECT 1 FROM src.sqlite_master s "
	     "WHERE s.type = 'table' AND s.name = m.name AND s.sql = m.sql)",
	     "was written by another version of nearmiss: replay its trace, or record it again"},
	    {"SELECT 1 FROM main.input WHERE (SELECT value FROM src.entry WHERE key = 'machine_spec') IS NOT "
	     "(SELECT value FROM main.entry WHERE key = 'machine_spec')",
	     "was recorded with other caches than the first profile: give all the same --machine or --cache"},
	    {"SELECT 1 FROM main.distance_run m CROSS JOIN src.distance_run s WHERE s.beyond <> m.beyond OR "
	     "s.line_size <> m.line_size",
	     "was recorded with another --distance-limit than the first profile"},
	};

	for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++) {
		int64_t found;
		const int status = query_number(merge->db, rules[i].sql, 0, &found);

		if (status)
			return fail_read(merge, path, status, err);
		if (found)
			return nm_fail(err, NM_EINVAL, "cannot merge: %s %s", path, rules[i].what);
	}
	return 0;
}

/* Facts in which all inputs agree stay. */
static int merge_facts(struct nm_merge *merge)
{
	int64_t samples;
	int status = sqlite3_exec(
	    merge->db,
	    merge->inputs ? "DELETE FROM main.entry WHERE NOT EXISTS (SELECT 1 FROM src.entry s WHERE "
			    "s.key = entry.key AND s.value IS entry.value)"
			  : "INSERT INTO main.entry SELECT key, value FROM src.entry",
	    NULL, NULL, NULL);

	if (!status)
		status =
		    query_number(merge->db, "SELECT value FROM src.entry WHERE key = 'samples'", 0, &samples);
	if (!status)
		merge->samples += samples;
	return status;
}

#define FACT(key) "(SELECT value FROM src.entry WHERE key = '" key "')"

/* ?1: the file. An input is called by its rank, else by its file. */
static const char list_inputs[] =
    "SELECT id, coalesce('rank ' || rank, file), file, rank, host, command, exit_status, instructions, refs, lost_words FROM src.input UNION ALL "
    "SELECT 0, coalesce('rank ' || " FACT("rank") ", ?1), ?1, " FACT("rank") ", " FACT("host") ", " FACT("command") ", " FACT(
	"exit_status") ", " FACT("instructions") ", " FACT("references") ", " FACT("lost_words") " WHERE NOT EXISTS "
												 "(SELECT 1 FROM src.input) ORDER BY 1";

/* ?1: the number, ?2: the name; one that is taken gets a number. */
static const char add_input[] =
    "INSERT INTO main.input SELECT ?1, CASE WHEN n = 1 THEN ?2 ELSE ?2 || ' #' || n END, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, NULL "
    "FROM (WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE EXISTS (SELECT 1 FROM main.input "
    "WHERE name = CASE WHEN n = 1 THEN ?2 ELSE ?2 || ' #' || n END)) SELECT max(n) AS n FROM k)";

static int merge_input_rows(struct nm_merge *merge, sqlite3_stmt **s)
{
	int status, more;

	while (!(status = nm_merge_step(s[0], &more)) && more) {
		for (int k = 2; k <= 10; k++)
			sqlite3_bind_value(s[1], k, sqlite3_column_value(s[0], k - 1));
		sqlite3_bind_int64(s[1], 1, merge->inputs);
		sqlite3_bind_int64(s[2], 1, sqlite3_column_int64(s[0], 0));
		sqlite3_bind_int64(s[2], 2, merge->inputs++);
		status = nm_merge_run(s[1]);
		if (!status)
			status = nm_merge_run(s[2]);
		if (status)
			break;
	}
	return status;
}

static int merge_inputs(struct nm_merge *merge, const char *path)
{
	static const char *const sql[] = {list_inputs, add_input, "INSERT INTO temp.input_of VALUES(?1, ?2)"};
	sqlite3_stmt *statements[3] = {NULL};
	int status = sqlite3_exec(merge->db, "DELETE FROM temp.input_of", NULL, NULL, NULL);

	for (int i = 0; i < 3 && !status; i++)
		status = sqlite3_prepare_v2(merge->db, sql[i], -1, &statements[i], NULL);
	if (!status)
		status = sqlite3_bind_text(statements[0], 1, path, -1, SQLITE_STATIC);
	if (!status)
		status = merge_input_rows(merge, statements);
	for (int i = 0; i < 3; i++)
		sqlite3_finalize(statements[i]);
	return status;
}

/* Names the strides and steps of the input: all of a merged profile, else the one that most followed at each place. */
static int name_strides(sqlite3 *db)
{
	static const char merged[] =
	    "DROP VIEW IF EXISTS temp.src_stride; CREATE TEMP VIEW src_stride AS SELECT * FROM src.stride_sum; "
	    "DROP VIEW IF EXISTS temp.src_step; CREATE TEMP VIEW src_step AS SELECT * FROM src.step_sum";
	static const char single[] =
	    "DROP VIEW IF EXISTS temp.src_stride; CREATE TEMP VIEW src_stride AS SELECT * FROM src.pattern; "
	    "DROP VIEW IF EXISTS temp.src_step; CREATE TEMP VIEW src_step AS SELECT * FROM src.walk";
	int64_t found;
	const int status = query_number(
	    db,
	    "SELECT count(*) = 2 FROM src.sqlite_master WHERE type = 'table' AND name IN ('stride_sum', 'step_sum')",
	    0, &found);

	return status ? status : sqlite3_exec(db, found ? merged : single, NULL, NULL, NULL);
}

static int merge_tables(struct nm_merge *merge, const char *path)
{
	static const char *const names[] = {nm_merge_names, nm_merge_sites, nm_merge_sites, NULL};
	static const char *const rest[] = {nm_merge_rows, nm_merge_inputs, NULL};
	sqlite3 *db = merge->db;
	int status = merge_facts(merge);

	if (!status)
		status = merge_inputs(merge, path);
	if (!status)
		status = name_strides(db);
	if (!status)
		status = nm_merge_processes(db);
	if (!status)
		status = run_scripts(db, names);
	if (!status)
		status = nm_merge_objects(db);
	if (!status)
		status = nm_merge_contexts(db);
	return status ? status : run_scripts(db, rest);
}

int nm_merge_add(struct nm_merge *merge, const char *path, struct nm_error *err)
{
	int status = attach_profile(merge, path, err);

	if (status)
		return status;
	status = check_input(merge, path, err);
	if (status) {
		sqlite3_exec(merge->db, "COMMIT; DETACH src; BEGIN", NULL, NULL, NULL);
		return status;
	}
	status = merge_tables(merge, path);
	if (!status) /* nothing is rolled back: what fails is not published */
		status = sqlite3_exec(merge->db, "COMMIT; DETACH src; BEGIN", NULL, NULL, NULL);
	return status ? fail_read(merge, path, status, err) : 0;
}

/* ---- the end ---- */

/* Appends a range to a list such as "3, 5-7"; one that does not fit ends it with "...". */
static void list_range(char *list, size_t room, int64_t first, int64_t last)
{
	const size_t end = strlen(list);
	const int n = snprintf(list + end, room - end, first < last ? "%s%lld-%lld" : "%s%lld",
			       end ? ", " : "", (long long)first, (long long)last);

	if (n >= (int)(room - end))
		strcpy(list + (end < room - 4 ? end : room - 4), "...");
}

/* The ranks of a job of `ranks` that are not among the inputs. */
static int list_missing(sqlite3 *db, char *list, size_t room)
{
	sqlite3_stmt *query = NULL;
	int64_t next = 0, ranks = 0;
	int more = 1,
	    status =
		query_number(db, "SELECT CAST(value AS INTEGER) FROM entry WHERE key = 'ranks'", 0, &ranks);

	*list = '\0';
	if (!status)
		status = sqlite3_prepare_v2(
		    db,
		    "SELECT rank FROM (SELECT DISTINCT rank FROM input WHERE rank >= 0 AND rank < ?1 "
		    "UNION SELECT ?1) ORDER BY rank",
		    -1, &query, NULL);
	if (!status)
		status = sqlite3_bind_int64(query, 1, ranks);
	while (!status && !(status = nm_merge_step(query, &more)) && more) {
		const int64_t rank = sqlite3_column_int64(query, 0);

		if (rank > next)
			list_range(list, room, next, rank - 1);
		next = rank + 1;
	}
	sqlite3_finalize(query);
	return status;
}

static int end_tables(struct nm_merge *merge, struct nm_merge_ended *ended)
{
	static const char *const scripts[] = {nm_merge_end, NULL};
	struct nm_profile_sums *sums = nm_profile_writer_sums(merge->writer);
	const struct {
		const char *sql;
		uint64_t *to;
	} facts[] = {{"SELECT count(*) FROM process", &sums->processes},
		     {"SELECT sum(instructions) FROM process", &sums->instructions},
		     {"SELECT sum(refs) FROM process", &sums->references},
		     {"SELECT sum(lost_words) FROM process", &sums->lost_words}};
	int status = run_scripts(merge->db, scripts);

	if (!status)
		status = nm_merge_alike(merge->db);
	for (unsigned i = 0; i < sizeof facts / sizeof *facts && !status; i++) {
		int64_t value = 0;

		status = query_number(merge->db, facts[i].sql, 0, &value);
		*facts[i].to = (uint64_t)value;
	}
	ended->inputs = merge->inputs;
	ended->processes = (int64_t)sums->processes;
	return status ? status : list_missing(merge->db, ended->missing, sizeof ended->missing);
}

static int write_facts(struct nm_merge *merge, const struct nm_merge_ended *ended, struct nm_error *err)
{
	char inputs[24], samples[24];
	int status;

	snprintf(inputs, sizeof inputs, "%lld", (long long)ended->inputs);
	snprintf(samples, sizeof samples, "%lld", (long long)merge->samples);
	status = nm_profile_writer_info(merge->writer, "merged", inputs, err);
	if (!status && merge->samples)
		status = nm_profile_writer_info(merge->writer, "samples", samples, err);
	return status || !*ended->missing
		   ? status
		   : nm_profile_writer_info(merge->writer, "missing_ranks", ended->missing, err);
}

static int end_sums(struct nm_merge *merge, struct nm_merge_ended *ended, struct nm_error *err)
{
	int status = end_tables(merge, ended);

	return status ? nm_profile_writer_fail(merge->writer, status, err) : write_facts(merge, ended, err);
}

const char *nm_merge_output(const struct nm_merge *merge) { return nm_profile_writer_path(merge->writer); }

int nm_merge_complete(struct nm_merge *merge, const char **ret_path, struct nm_error *err)
{
	struct nm_merge_ended ended;
	int status = end_sums(merge, &ended, err);

	return status ? status : nm_profile_writer_complete(merge->writer, ret_path, err);
}

int nm_merge_commit(struct nm_merge *merge, struct nm_merge_ended *ret_ended, struct nm_error *err)
{
	struct nm_merge_ended ended;
	int status;

	assert(merge->inputs);
	status = end_sums(merge, &ended, err);
	if (status) {
		nm_merge_abort(merge);
		return status;
	}
	status = nm_profile_writer_commit(merge->writer, err);
	free(merge);
	if (!status)
		*ret_ended = ended;
	return status;
}
