/* SPDX-License-Identifier: MIT
 *
 * reader.c - opens profiles and runs queries on them.
 *
 * The header is checked before SQLite sees the file: magic, application id, version, and whether the file has
 * as many pages as the header says, so a truncated download fails at once and not in the middle of a report.
 * Damage inside pages is found when they are read.
 *
 * Views of a profile are not trusted, since somebody else may have made it: SQLite runs without extensions,
 * with its "defensive" and "untrusted schema" settings, and under an authorizer that lets statements only
 * read.
 */
#include "reader.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "checksum.h"
#include "profile_priv.h"
#include "reader_priv.h"

struct nm_profile {
	sqlite3 *db;
	char *path;
	uint64_t steps_left; /* of the statement that was prepared last, in units of STEP_UNIT */
	uint64_t most_steps; /* 0: any number */
};

struct nm_rows {
	struct nm_profile *profile;
	sqlite3_stmt *query;
};

enum { HEADER = 100 }; /* bytes at the start of every SQLite file */

/* A view that never ends is stopped. Steps are those of SQLite's virtual machine: the largest reports take
 * some hundred for each byte of the profile. */
enum { STEP_UNIT = 1000, BASE_UNITS = 50000, BYTES_PER_UNIT = 2 };

enum { LONGEST_VALUE = 1 << 28, LONGEST_SQL = 1 << 20, LONGEST_PATTERN = 10000 };

#define CACHE_KIB "16384" /* most profiles; SQLite's own 2 MB are read again and again */

void nm_profile_setup(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static uint32_t big_endian(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint64_t pages_bytes(const unsigned char *header)
{
	uint64_t page = (uint64_t)header[16] << 8 | header[17];

	return (page == 1 ? 65536 : page) * big_endian(header + 28);
}

static int check_header(const unsigned char *header, uint64_t bytes, const char *path, struct nm_error *err)
{
	uint32_t version = big_endian(header + 60);

	if (memcmp(header, "SQLite format 3", 16) || big_endian(header + 68) != NM_PROFILE_APPLICATION)
		return nm_fail(err, NM_EFORMAT, "%s is not a nearmiss profile", path);
	if (version > NM_PROFILE_VERSION)
		return nm_fail(
		    err, NM_EVERSION,
		    "%s was written by a newer nearmiss (profile version %u, this one reads up to %u)", path,
		    version, NM_PROFILE_VERSION);
	if (bytes < pages_bytes(header))
		return nm_fail(err, NM_EFORMAT, "profile %s is damaged: it is cut off", path);
	return 0;
}

/* Checks header and checksum, and tells the size of the file. */
static int check_file(const char *path, uint64_t *ret_bytes, struct nm_error *err)
{
	unsigned char header[HEADER];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status;

	if (fd < 0 || fstat(fd, &st)) {
		nm_fail_errno(err, "cannot read profile %s", path);
		status = err ? (int)err->code : NM_EIO;
	} else if (!S_ISREG(st.st_mode)) {
		status =
		    nm_fail(err, NM_EFORMAT, "%s is not a nearmiss profile: it is not a regular file", path);
	} else if (pread(fd, header, sizeof header, 0) != (ssize_t)sizeof header) {
		status = nm_fail(err, NM_EFORMAT, "%s is not a nearmiss profile", path);
	} else {
		status = check_header(header, (uint64_t)st.st_size, path, err);
		if (!status && nm_checksum_holds(fd, pages_bytes(header)) <= 0)
			status = nm_fail(err, NM_EFORMAT,
					 "profile %s is damaged: it is not as it was written", path);
		*ret_bytes = (uint64_t)st.st_size;
	}
	if (fd >= 0)
		close(fd);
	return status;
}

/* "file:" and the path with everything but plain characters as %XX. */
static char *file_uri(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
	static const char options[] = "?immutable=1";
	char *uri = malloc(3 * strlen(path) + sizeof options + 8), *to = uri;

	if (!uri)
		return NULL;
	to += sprintf(to, "file:%s", path[0] == '/' ? "" : "./");
	for (; *path; path++)
		to += strchr(plain, *path) ? sprintf(to, "%c", *path)
					   : sprintf(to, "%%%02X", (unsigned char)*path);
	strcpy(to, options);
	return uri;
}

static int stop_endless(void *self)
{
	struct nm_profile *profile = self;

	if (!profile->most_steps)
		return 0;
	return !profile->steps_left || !--profile->steps_left;
}

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

static int fail(struct nm_profile *profile, int status, struct nm_error *err)
{
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

/* Reads the schema and the first entry of info: what is broken there makes the file useless. */
static int probe(struct nm_profile *profile, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status =
	    nm_profile_query(profile, "SELECT value FROM info WHERE key = 'profile_version'", &rows, err);

	if (!status)
		status = nm_rows_next(rows, err);
	nm_rows_free(rows);
	if (status == 1)
		return 0;
	if (status < 0 && status != NM_EINVAL)
		return status;
	return nm_fail(err, NM_EFORMAT, "profile %s is damaged: it does not state its version",
		       profile->path);
}

int nm_profile_open(struct nm_profile **ret_profile, const char *path, struct nm_error *err)
{
	struct nm_profile *profile = NULL;
	char *uri = NULL;
	uint64_t bytes = 0;
	int status = check_file(path, &bytes, err);

	if (status)
		return status;
	profile = calloc(1, sizeof *profile);
	uri = file_uri(path);
	if (!profile || !uri || !(profile->path = strdup(path))) {
		status = nm_fail_memory(err);
		goto out;
	}
	status = sqlite3_open_v2(uri, &profile->db,
				 SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	if (status) {
		status = fail(profile, status, err);
		goto out;
	}
	sqlite3_exec(profile->db, "PRAGMA cache_size=-" CACHE_KIB "; PRAGMA temp_store=MEMORY", NULL, NULL,
		     NULL);
	sqlite3_db_config(profile->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(profile->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(profile->db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
	sqlite3_limit(profile->db, SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL);
	sqlite3_limit(profile->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN);
	sqlite3_set_authorizer(profile->db, only_reads, NULL);
	profile->most_steps = BASE_UNITS + bytes / BYTES_PER_UNIT;
	sqlite3_progress_handler(profile->db, STEP_UNIT, stop_endless, profile);
	status = probe(profile, err);
	if (!status)
		status = nm_profile_check(profile, path, err);
	if (!status) {
		*ret_profile = profile;
		profile = NULL;
	}
out:
	free(uri);
	nm_profile_close(profile);
	return status;
}

void nm_profile_close(struct nm_profile *profile)
{
	if (!profile)
		return;
	sqlite3_close(profile->db);
	free(profile->path);
	free(profile);
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
		return fail(profile, status, err);
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
	status = sqlite3_prepare_v2(profile->db, rest, -1, &more, NULL); /* comments and blanks make none */
	sqlite3_finalize(more);
	if (status || more)
		sqlite3_finalize(query);
	if ((status & 0xff) == SQLITE_NOMEM)
		return fail(profile, status, err);
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
	sqlite3_set_authorizer(profile->db, only_reads, NULL);
	return status ? fail(profile, status, err) : 0;
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
	sqlite3_bind_int64(rows->query, parameter, value);
}

int nm_rows_next(struct nm_rows *rows, struct nm_error *err)
{
	int status = sqlite3_step(rows->query);

	if (status == SQLITE_ROW)
		return 1;
	return status == SQLITE_DONE ? 0 : fail(rows->profile, status, err);
}

unsigned nm_rows_columns(const struct nm_rows *rows) { return (unsigned)sqlite3_column_count(rows->query); }

const char *nm_rows_name(const struct nm_rows *rows, unsigned column)
{
	return sqlite3_column_name(rows->query, (int)column);
}

enum nm_value_type nm_rows_type(const struct nm_rows *rows, unsigned column)
{
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
	const int64_t bound = (int64_t)1 << 54, value = nm_rows_integer(rows, column);

	if (value > bound)
		return bound;
	return value < -bound ? -bound : value;
}

double nm_rows_real(const struct nm_rows *rows, unsigned column)
{
	assert((int)column < sqlite3_column_count(rows->query));
	return sqlite3_column_double(rows->query, (int)column);
}

int nm_rows_blob(const struct nm_rows *rows, unsigned column, const void **ret_blob, size_t *ret_bytes)
{
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
