/* SPDX-License-Identifier: MIT
 *
 * query.c - runs queries on a profile (reader.h).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "profile_priv.h"
#include "reader.h"
#include "reader_priv.h"

static int only_reads(void *self, int action, const char *a, const char *b, const char *database,
		      const char *view)
{
	(void)self, (void)a, (void)b, (void)database, (void)view;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE: return SQLITE_OK;
	default: return SQLITE_DENY;
	}
}

void nm_profile_only_reads(struct nm_profile *profile)
{
	sqlite3_set_authorizer(profile->db, only_reads, NULL);
}

int nm_query_fail(struct nm_profile *profile, int status, struct nm_error *err)
{
	assert(status != SQLITE_OK && status != SQLITE_ROW);
	switch (status & 0xff) {
	case SQLITE_NOMEM: return nm_fail_memory(err);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_IOERR:
	case SQLITE_FORMAT:
	case SQLITE_TOOBIG:
		return nm_fail(err, NM_EFORMAT, "profile %s is damaged: %s", profile->path,
			       sqlite3_errmsg(profile->db));
	case SQLITE_INTERRUPT:
		return nm_fail(err, NM_EFORMAT, "profile %s is damaged: reading it does not end",
			       profile->path);
	default: return nm_fail(err, NM_EINVAL, "query failed: %s", sqlite3_errmsg(profile->db));
	}
}

static int would_write(const char *sql, struct nm_error *err)
{
	return nm_fail_at(err, sql, -1, "a query may only read the profile");
}

static int bad_sql(struct nm_profile *profile, int status, const char *sql, struct nm_error *err)
{
	int at = sqlite3_error_offset(profile->db);

	if (status == SQLITE_AUTH)
		return would_write(sql, err);
	if (status != SQLITE_ERROR)
		return nm_query_fail(profile, status, err);
	return nm_fail_at(err, sql, at, "bad SQL: %s", sqlite3_errmsg(profile->db));
}

int nm_profile_query(struct nm_profile *profile, const char *sql, struct nm_rows **ret_rows,
		     struct nm_error *err)
{
	const char *rest = sql;
	sqlite3_stmt *query = NULL, *more = NULL;
	struct nm_rows *rows;
	int status;

	profile->steps_left = profile->most_steps;
	status = sqlite3_prepare_v2(profile->db, sql, -1, &query, &rest);
	if (status)
		return bad_sql(profile, status, sql, err);
	if (!query)
		return nm_fail(err, NM_EINVAL, "bad SQL: there is no statement");
	if (!sqlite3_stmt_readonly(query)) { /* VACUUM INTO passes the authorizer */
		sqlite3_finalize(query);
		return would_write(sql, err);
	}
	/* only comments and blanks may follow */
	status = sqlite3_prepare_v2(profile->db, rest, -1, &more, NULL);
	sqlite3_finalize(more);
	if (status || more)
		sqlite3_finalize(query);
	if ((status & 0xff) == SQLITE_NOMEM)
		return nm_query_fail(profile, status, err);
	if (status || more) {
		rest += strspn(rest, " \t\n;");
		return nm_fail_at(err, sql, (int)(rest - sql), "bad SQL: one statement at a time");
	}
	rows = calloc(1, sizeof *rows);
	if (!rows) {
		sqlite3_finalize(query);
		return nm_fail_memory(err);
	}
	rows->profile = profile;
	rows->query = query;
	profile->steps_left = profile->most_steps;
	*ret_rows = rows;
	return 0;
}

int nm_profile_define(struct nm_profile *profile, const char *sql, struct nm_error *err)
{
	int status;

	profile->steps_left = profile->most_steps;
	sqlite3_set_authorizer(profile->db, NULL, NULL);
	status = sqlite3_exec(profile->db, sql, NULL, NULL, NULL);
	nm_profile_only_reads(profile);
	return status ? nm_query_fail(profile, status, err) : 0;
}

/* ---- tables beside the profile ---- */

struct nm_new_table {
	struct nm_profile *profile;
	sqlite3_stmt *insert;
};

/* "INSERT INTO temp.name VALUES (?, ?, ...)", of a table that was just made. */
static int prepare_insert(struct nm_new_table *table, const char *name, struct nm_error *err)
{
	sqlite3 *db = table->profile->db;
	sqlite3_str *sql = sqlite3_str_new(db);
	sqlite3_stmt *all = NULL;
	char *text = sqlite3_mprintf("SELECT * FROM temp.%s", name);
	int status = text ? sqlite3_prepare_v2(db, text, -1, &all, NULL) : SQLITE_NOMEM;

	sqlite3_free(text);
	sqlite3_str_appendf(sql, "INSERT INTO temp.%s VALUES (", name);
	for (int i = 0; i < sqlite3_column_count(all); i++)
		sqlite3_str_appendall(sql, i ? ", ?" : "?");
	sqlite3_str_appendall(sql, ")");
	sqlite3_finalize(all);
	text = sqlite3_str_finish(sql);
	if (!status)
		status = text ? sqlite3_prepare_v2(db, text, -1, &table->insert, NULL) : SQLITE_NOMEM;
	sqlite3_free(text);
	return status ? nm_query_fail(table->profile, status, err) : 0;
}

int nm_profile_make_table(struct nm_profile *profile, const char *name, const char *columns,
			  struct nm_new_table **ret_table, struct nm_error *err)
{
	struct nm_new_table *table = calloc(1, sizeof *table);
	char *sql =
	    sqlite3_mprintf("DROP TABLE IF EXISTS temp.%s; CREATE TEMP TABLE %s(%s)", name, name, columns);
	int status = sql && table ? nm_profile_define(profile, sql, err) : nm_fail_memory(err);

	sqlite3_free(sql);
	if (!status) {
		table->profile = profile;
		sqlite3_set_authorizer(profile->db, NULL, NULL); /* another one later would prepare it anew */
		status = prepare_insert(table, name, err);
	}
	if (status)
		nm_new_table_free(table);
	else
		*ret_table = table;
	return status;
}

void nm_new_row_text(struct nm_new_table *table, unsigned column, const char *value)
{
	assert(column < (unsigned)sqlite3_bind_parameter_count(table->insert));
	sqlite3_bind_text(table->insert, (int)column + 1, value, -1, SQLITE_STATIC);
}

void nm_new_row_integer(struct nm_new_table *table, unsigned column, int64_t value)
{
	assert(column < (unsigned)sqlite3_bind_parameter_count(table->insert));
	sqlite3_bind_int64(table->insert, (int)column + 1, value);
}

void nm_new_row_real(struct nm_new_table *table, unsigned column, double value)
{
	assert(column < (unsigned)sqlite3_bind_parameter_count(table->insert));
	sqlite3_bind_double(table->insert, (int)column + 1, value);
}

int nm_new_row_add(struct nm_new_table *table, struct nm_error *err)
{
	int status;

	table->profile->steps_left = table->profile->most_steps;
	status = sqlite3_step(table->insert);
	sqlite3_reset(table->insert);
	sqlite3_clear_bindings(table->insert);
	return status == SQLITE_DONE ? 0 : nm_query_fail(table->profile, status, err);
}

void nm_new_table_free(struct nm_new_table *table)
{
	if (!table)
		return;
	sqlite3_finalize(table->insert);
	if (table->profile)
		nm_profile_only_reads(table->profile);
	free(table);
}

void nm_profile_let_run(struct nm_profile *profile) { profile->most_steps = 0; }

int nm_profile_has(struct nm_profile *profile, const char *view, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile, "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ?1", &rows, err);

	if (!status) {
		nm_rows_bind_text(rows, 1, view);
		status = nm_rows_next(rows, err);
	}
	nm_rows_free(rows);
	return status;
}

void nm_rows_bind_text(struct nm_rows *rows, int parameter, const char *text)
{
	sqlite3_bind_text(rows->query, parameter, text, -1, SQLITE_STATIC);
}

void nm_rows_bind_integer(struct nm_rows *rows, int parameter, int64_t value)
{
	assert(parameter > 0);
	sqlite3_bind_int64(rows->query, parameter, value);
}

int nm_rows_next(struct nm_rows *rows, struct nm_error *err)
{
	int status = sqlite3_step(rows->query);

	if (status == SQLITE_ROW)
		return 1;
	return status == SQLITE_DONE ? 0 : nm_query_fail(rows->profile, status, err);
}

unsigned nm_rows_columns(const struct nm_rows *rows) { return (unsigned)sqlite3_column_count(rows->query); }

const char *nm_rows_name(const struct nm_rows *rows, unsigned column)
{
	assert((int)column < sqlite3_column_count(rows->query));
	return sqlite3_column_name(rows->query, (int)column);
}

enum nm_value_type nm_rows_type(const struct nm_rows *rows, unsigned column)
{
	assert((int)column < sqlite3_column_count(rows->query));
	switch (sqlite3_column_type(rows->query, (int)column)) {
	case SQLITE_INTEGER: return NM_VALUE_INTEGER;
	case SQLITE_FLOAT: return NM_VALUE_REAL;
	case SQLITE_NULL: return NM_VALUE_NULL;
	default: return NM_VALUE_TEXT;
	}
}

const char *nm_rows_text(const struct nm_rows *rows, unsigned column)
{
	assert((int)column < sqlite3_column_count(rows->query));
	return (const char *)sqlite3_column_text(rows->query, (int)column);
}

int64_t nm_rows_integer(const struct nm_rows *rows, unsigned column)
{
	assert((int)column < sqlite3_column_count(rows->query));
	return sqlite3_column_int64(rows->query, (int)column);
}

int64_t nm_rows_bounded(const struct nm_rows *rows, unsigned column)
{
	assert((int)column < sqlite3_column_count(rows->query));
	return nm_bounded(nm_rows_integer(rows, column));
}

double nm_rows_real(const struct nm_rows *rows, unsigned column)
{
	assert((int)column < sqlite3_column_count(rows->query));
	return sqlite3_column_double(rows->query, (int)column);
}

int nm_rows_blob(const struct nm_rows *rows, unsigned column, const void **ret_blob, size_t *ret_bytes)
{
	assert((int)column < sqlite3_column_count(rows->query));
	if (sqlite3_column_type(rows->query, (int)column) != SQLITE_BLOB)
		return 0;
	*ret_blob = sqlite3_column_blob(rows->query, (int)column);
	*ret_bytes = (size_t)sqlite3_column_bytes(rows->query, (int)column);
	return 1;
}

void nm_rows_free(struct nm_rows *rows)
{
	if (!rows)
		return;
	sqlite3_finalize(rows->query);
	free(rows);
}

int nm_profile_has_row(struct nm_profile *profile, const char *sql, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, sql, &rows, err);

	if (!status)
		status = nm_rows_next(rows, err);
	nm_rows_free(rows);
	return status;
}

void nm_sql_text(const char *text, FILE *sql)
{
	fputc('\'', sql);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', sql);
		fputc(*text, sql);
	}
	fputc('\'', sql);
}
