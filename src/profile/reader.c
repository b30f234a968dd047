/* SPDX-License-Identifier: MIT
 *
 * reader.c - opens profiles.
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

#include "checksum.h"
#include "profile_priv.h"
#include "reader_priv.h"

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
	if (version != NM_PROFILE_VERSION)
		return nm_fail(err, NM_EVERSION, "%s has profile format version %u, this program reads %u",
			       path, version, NM_PROFILE_VERSION);
	if (bytes < pages_bytes(header))
		return nm_fail(err, NM_EFORMAT, "profile %s is damaged: it is cut off", path);
	return 0;
}

/* A sweep writes its file in place, with SQLite's journal beside it while a transaction is under way. */
static int check_journal(const char *path, struct nm_error *err)
{
	struct stat st;
	char *journal;
	int is_there;

	if (asprintf(&journal, "%s-journal", path) < 0)
		return nm_fail_memory(err);
	is_there = !stat(journal, &st) && st.st_size > 0;
	free(journal);
	return is_there
		   ? nm_fail(
			 err, NM_EFORMAT,
			 "%s is being written; if no sweep runs, one was killed there: let nearmiss sweep go on with it",
			 path)
		   : 0;
}

/* Checks header and checksum; *ret_bytes is the size of the file. */
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
		if (!status)
			status = check_journal(path, err);
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
char *nm_profile_uri(const char *path)
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

/* Reads the schema and the version: damage there makes the file useless. */
static int probe_schema(struct nm_profile *profile, struct nm_error *err)
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
	uri = nm_profile_uri(path);
	if (!profile || !uri || !(profile->path = strdup(path))) {
		status = nm_fail_memory(err);
		goto out;
	}
	status = sqlite3_open_v2(uri, &profile->db,
				 SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	if (status) {
		status = nm_query_fail(profile, status, err);
		goto out;
	}
	sqlite3_exec(profile->db, "PRAGMA cache_size=-" CACHE_KIB "; PRAGMA temp_store=MEMORY", NULL, NULL,
		     NULL);
	sqlite3_db_config(profile->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(profile->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(profile->db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
	sqlite3_limit(profile->db, SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL);
	sqlite3_limit(profile->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN);
	nm_profile_only_reads(profile);
	profile->most_steps = BASE_UNITS + bytes / BYTES_PER_UNIT;
	sqlite3_progress_handler(profile->db, STEP_UNIT, stop_endless, profile);
	status = probe_schema(profile, err);
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
