/* SPDX-License-Identifier: MIT
 *
 * merge_keys.c - what is the same in two inputs (merge_priv.h).
 *
 *     process   its name without "#2"; each module that both name has a build in common
 *     object    in its process: name without " #2", kind, place of declaration or allocation, which of the calls there;
 *               of several that agree in all this, in the order of their input
 *     context   in its process: the context of the caller, the site of the call and the function
 *
 * Names of processes become unique when the profile is complete (writer.c), those of objects at once.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge_priv.h"

/* The length of a name without the mark and number that tell it from its equals. */
static int base_length(const char *name, const char *mark)
{
	size_t end = strlen(name), digits = end;

	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits == end || digits <= strlen(mark) ||
	    strncmp(name + digits - strlen(mark), mark, strlen(mark)) != 0)
		return (int)end;
	return (int)(digits - strlen(mark));
}

enum { MOST_STATEMENTS = 10 };

/* Prepares statements, calls `row` for each row of the first, and finalizes all. */
static int for_each(sqlite3 *db, const char *const *sql, int count, int (*row)(sqlite3_stmt **statements))
{
	sqlite3_stmt *statements[MOST_STATEMENTS] = {NULL};
	int status = SQLITE_OK, more = 1;

	assert(count <= MOST_STATEMENTS);
	for (int i = 0; i < count && !status; i++)
		status = sqlite3_prepare_v2(db, sql[i], -1, &statements[i], NULL);
	while (!status && !(status = nm_merge_step(statements[0], &more)) && more)
		status = row(statements);
	for (int i = 0; i < count; i++)
		sqlite3_finalize(statements[i]);
	return status;
}

/* Runs a query whose parameters are bound: the number in its first row, or `absent`. */
static int query_bound_number(sqlite3_stmt *query, sqlite3_int64 absent, sqlite3_int64 *ret)
{
	int found, status = nm_merge_step(query, &found);

	*ret = found ? sqlite3_column_int64(query, 0) : absent;
	sqlite3_reset(query);
	return status;
}

/* ---- processes ---- */

static const char *const process_sql[] = {
    "SELECT id, name FROM src.process ORDER BY id",
    /* ?1: the process, ?2: its name */
    "SELECT p.id FROM main.process p WHERE p.name = ?2 AND NOT EXISTS ("
    "SELECT 1 FROM src.module s WHERE s.process = ?1 "
    "AND EXISTS (SELECT 1 FROM main.module m WHERE m.process = p.id AND m.name = s.name) "
    "AND NOT EXISTS (SELECT 1 FROM main.module m WHERE m.process = p.id AND m.name = s.name "
    "AND m.build_id IS s.build_id)) "
    "UNION ALL SELECT coalesce(max(id), 0) + 1 FROM main.process LIMIT 1",
    /* ?3: its number */
    "INSERT INTO main.process SELECT ?3, ?2, NULL, command, exit_status, instructions, refs, lost_words, repeated "
    "FROM src.process WHERE id = ?1 ON CONFLICT(id) DO UPDATE SET "
    "command = CASE WHEN command IS excluded.command THEN command END, "
    "exit_status = CASE WHEN exit_status THEN exit_status ELSE excluded.exit_status END, "
    "instructions = instructions + excluded.instructions, refs = refs + excluded.refs, "
    "lost_words = lost_words + excluded.lost_words, repeated = repeated + excluded.repeated",
    "INSERT OR IGNORE INTO main.module SELECT ?3, path, name, build_id FROM src.module WHERE process = ?1",
    "INSERT INTO temp.process_of VALUES(?1, ?3)",
};

static int add_process(sqlite3_stmt **s)
{
	const char *name = (const char *)sqlite3_column_text(s[0], 1);
	sqlite3_int64 id;
	int status;

	if (!name)
		return SQLITE_CORRUPT;
	for (int i = 1; i < 5; i++)
		sqlite3_bind_int64(s[i], 1, sqlite3_column_int64(s[0], 0));
	for (int i = 1; i < 3; i++)
		sqlite3_bind_text(s[i], 2, name, base_length(name, "#"), SQLITE_STATIC);
	status = query_bound_number(s[1], 0, &id);
	for (int i = 2; i < 5 && !status; i++) {
		sqlite3_bind_int64(s[i], 3, id);
		status = nm_merge_run(s[i]);
	}
	return status;
}

int nm_merge_processes(sqlite3 *db)
{
	const int status = sqlite3_exec(db, "DELETE FROM temp.process_of", NULL, NULL, NULL);

	return status ? status : for_each(db, process_sql, 5, add_process);
}

/* ---- objects ---- */

/* base_name(NAME): an object's name without " #2". */
static void base_name(sqlite3_context *to, int count, sqlite3_value **arguments)
{
	const char *name = (const char *)sqlite3_value_text(arguments[0]);

	(void)count;
	if (name)
		sqlite3_result_text(to, name, base_length(name, " #"), SQLITE_TRANSIENT);
}

int nm_merge_functions(sqlite3 *db)
{
	return sqlite3_create_function_v2(db, "base_name", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
					  base_name, NULL, NULL, NULL);
}

/* Parameters of all: ?1 process, ?2 base, ?3 kind, ?4 place of allocation, ?5 which of the calls there, ?6 which of
 * those that agree in all this, ?7 the number in the input, ?8 the number, ?9 the name. */
enum { OBJECTS, FIND, IS_TAKEN, ADD_TEXT, ADD, ADD_KEY, ADD_NAME, SUM, MAP, MAP_NAME, OBJECT_STATEMENTS };
static const char *const object_sql[] = {
    [OBJECTS] =
	"SELECT p.id, base_name(t.text), o.kind, coalesce(a.id, 0), o.call, row_number() OVER ("
	"PARTITION BY o.process, base_name(t.text), o.kind, a.id, o.call ORDER BY o.id), o.id, t.text "
	"FROM src.object o CROSS JOIN temp.process_of p ON p.src = o.process "
	"CROSS JOIN src.text t ON t.id = o.name LEFT JOIN temp.text_of a ON a.src = o.allocated_at ORDER BY o.id",
    [FIND] =
	"SELECT id FROM temp.object_key WHERE process = ?1 AND base = ?2 AND kind = ?3 AND allocated_at = ?4 "
	"AND call = ?5 AND n = ?6",
    [IS_TAKEN] =
	"SELECT 1 FROM temp.text_key t CROSS JOIN temp.object_name n ON n.process = ?1 AND n.name = t.id "
	"WHERE t.text = ?9",
    [ADD_TEXT] =
	"INSERT INTO main.text(text) SELECT ?9 WHERE NOT EXISTS (SELECT 1 FROM temp.text_key WHERE text = ?9)",
    [ADD] = "INSERT INTO main.object(process, name, kind, type, bytes, blocks, largest, allocated_at, call) "
	    "SELECT ?1, (SELECT id FROM temp.text_key WHERE text = ?9), ?3, NULL, 0, 0, 0, nullif(?4, 0), ?5",
    [ADD_KEY] = "INSERT INTO temp.object_key VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?8)",
    [ADD_NAME] = "INSERT INTO temp.object_name SELECT ?1, name FROM main.object WHERE id = ?8",
    /* Blocks of the inputs are different ones, a variable has the same size in each. */
    [SUM] =
	"UPDATE main.object SET type = coalesce(object.type, (SELECT id FROM temp.text_of WHERE src = s.type)), "
	"bytes = CASE WHEN s.blocks > 0 THEN object.bytes + s.bytes ELSE max(object.bytes, s.bytes) END, "
	"blocks = object.blocks + s.blocks, largest = max(object.largest, s.largest) "
	"FROM src.object s WHERE s.id = ?7 AND object.id = ?8",
    [MAP] = "INSERT INTO temp.object_of VALUES(?7, ?8)",
    [MAP_NAME] =
	"INSERT INTO temp.name_of SELECT s.process, s.name, o.name FROM src.object s CROSS JOIN main.object o "
	"WHERE s.id = ?7 AND o.id = ?8",
};

/* The object's own name, or the first "base #2" that is free in the process. */
static int add_object(sqlite3 *db, sqlite3_stmt **s, const char *name, const char *base,
		      sqlite3_int64 *ret_id)
{
	sqlite3_int64 taken = 0;
	char *numbered = NULL;
	int status = SQLITE_OK;

	for (unsigned n = 2; !status; n++) {
		sqlite3_bind_text(s[IS_TAKEN], 9, name, -1, SQLITE_TRANSIENT);
		status = query_bound_number(s[IS_TAKEN], 0, &taken);
		if (status || !taken)
			break;
		sqlite3_free(numbered);
		name = numbered = sqlite3_mprintf("%s #%u", base, n);
		status = numbered ? SQLITE_OK : SQLITE_NOMEM;
	}
	for (int i = ADD_TEXT; i <= ADD_NAME && !status; i++) {
		if (i <= ADD)
			sqlite3_bind_text(s[i], 9, name, -1, SQLITE_TRANSIENT);
		else
			sqlite3_bind_int64(s[i], 8, *ret_id);
		status = nm_merge_run(s[i]);
		if (i == ADD)
			*ret_id = sqlite3_last_insert_rowid(db);
	}
	sqlite3_free(numbered);
	return status;
}

static int merge_object(sqlite3_stmt **s)
{
	sqlite3 *db = sqlite3_db_handle(s[0]);
	const char *name = (const char *)sqlite3_column_text(s[OBJECTS], 7);
	const char *base = (const char *)sqlite3_column_text(s[OBJECTS], 1);
	sqlite3_int64 id = 0;
	int status = name && base ? SQLITE_OK : SQLITE_CORRUPT;

	for (int i = FIND; i < OBJECT_STATEMENTS && !status; i++)
		for (int k = 1; k <= 7 && k <= sqlite3_bind_parameter_count(s[i]); k++)
			sqlite3_bind_value(s[i], k, sqlite3_column_value(s[OBJECTS], k - 1));
	if (!status)
		status = query_bound_number(s[FIND], 0, &id);
	if (!status && !id)
		status = add_object(db, s, name, base, &id);
	for (int i = SUM; i < OBJECT_STATEMENTS && !status; i++) {
		sqlite3_bind_int64(s[i], 8, id);
		status = nm_merge_run(s[i]);
	}
	return status;
}

int nm_merge_objects(sqlite3 *db)
{
	const int status =
	    sqlite3_exec(db, "DELETE FROM temp.object_of; DELETE FROM temp.name_of", NULL, NULL, NULL);

	return status ? status : for_each(db, object_sql, OBJECT_STATEMENTS, merge_object);
}

/* ---- call chains ---- */

/* ?1 process, ?2 context of the caller or -1, ?3 function, ?4 site; ?5 calls, ?6 the user's site; ?7, ?8 process and
 * context in the input; ?9 the context. */
enum {
	CONTEXTS,
	FIND_PARENT,
	FIND_CONTEXT,
	NEXT,
	ADD_CONTEXT,
	ADD_CONTEXT_KEY,
	ADD_CALLS,
	MAP_CONTEXT,
	CONTEXT_STATEMENTS
};
static const char *const context_sql[] = {
    [CONTEXTS] =
	"SELECT p.id, c.parent, coalesce(f.id, 0), coalesce(s.id, 0), c.calls, u.id, c.process, c.context "
	"FROM src.context c CROSS JOIN temp.process_of p ON p.src = c.process "
	"LEFT JOIN temp.text_of f ON f.src = c.function LEFT JOIN temp.site_of s ON s.src = c.site "
	"LEFT JOIN temp.site_of u ON u.src = c.user ORDER BY c.process, c.context",
    [FIND_PARENT] = "SELECT id FROM temp.context_of WHERE process = ?7 AND src = ?2",
    [FIND_CONTEXT] =
	"SELECT context FROM temp.context_key WHERE process = ?1 AND parent = ?2 AND function = ?3 AND site = ?4",
    [NEXT] = "SELECT coalesce(max(context), -1) + 1 FROM main.context WHERE process = ?1",
    [ADD_CONTEXT] =
	"INSERT INTO main.context VALUES(?1, ?9, nullif(?2, -1), nullif(?3, 0), nullif(?4, 0), 0, ?6)",
    [ADD_CONTEXT_KEY] = "INSERT INTO temp.context_key VALUES(?1, ?2, ?3, ?4, ?9)",
    [ADD_CALLS] = "UPDATE main.context SET calls = calls + ?5 WHERE process = ?1 AND context = ?9",
    [MAP_CONTEXT] = "INSERT INTO temp.context_of VALUES(?7, ?8, ?9)",
};

static int merge_context(sqlite3_stmt **s)
{
	sqlite3_int64 parent, id;
	int status;

	for (int i = FIND_PARENT; i < CONTEXT_STATEMENTS; i++)
		for (int k = 1; k <= 8 && k <= sqlite3_bind_parameter_count(s[i]); k++)
			sqlite3_bind_value(s[i], k, sqlite3_column_value(s[CONTEXTS], k - 1));
	status = query_bound_number(s[FIND_PARENT], -1, &parent);
	for (int i = FIND_CONTEXT; i < CONTEXT_STATEMENTS; i++)
		if (i != NEXT)
			sqlite3_bind_int64(s[i], 2, parent);
	if (!status)
		status = query_bound_number(s[FIND_CONTEXT], -1, &id);
	for (int i = ADD_CONTEXT; i < CONTEXT_STATEMENTS && !status; i++) {
		if (i == ADD_CONTEXT && id >= 0)
			i = ADD_CALLS;
		if (i == ADD_CONTEXT)
			status = query_bound_number(s[NEXT], 0, &id);
		sqlite3_bind_int64(s[i], 9, id);
		if (!status)
			status = nm_merge_run(s[i]);
	}
	return status;
}

int nm_merge_contexts(sqlite3 *db)
{
	const int status = sqlite3_exec(db, "DELETE FROM temp.context_of", NULL, NULL, NULL);

	return status ? status : for_each(db, context_sql, CONTEXT_STATEMENTS, merge_context);
}
