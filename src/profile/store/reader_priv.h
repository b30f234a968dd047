/* SPDX-License-Identifier: MIT
 *
 * reader_priv.h - an open profile: reader.c opens it, query.c runs statements.
 */
#ifndef NM_READER_PRIV_H
#define NM_READER_PRIV_H

#include <sqlite3.h>

#include "reader.h"

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

/* profile_check.c: checks that the views of the first version are there, with their columns, and that the short ones
 * (all but counts and evictions) hold values of the right type and range. NM_EFORMAT names the view. path: for the
 * message. */
int nm_profile_check(struct nm_profile *profile, const char *path, struct nm_error *err);

/* The same for call chains: a parent comes before what it calls, so no chain is a cycle. */
int nm_profile_check_contexts(struct nm_profile *profile, struct nm_error *err);

/* From now on, statements that write are refused. */
void nm_profile_only_reads(struct nm_profile *profile);

/* A file as SQLite opens it only to read, never changed meanwhile; malloc'ed, or NULL. */
char *nm_profile_uri(const char *path);

/* Turns a status of SQLite into an error. Returns its code. */
int nm_query_fail(struct nm_profile *profile, int status, struct nm_error *err);

/* Runs statements that define temporary views, which do not change the file. 0 or a code. */
int nm_profile_define(struct nm_profile *profile, const char *sql, struct nm_error *err);

#endif
