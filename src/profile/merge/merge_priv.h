/* SPDX-License-Identifier: MIT
 *
 * merge_priv.h - the parts of a merge. All work on the connection that makes the merged profile, with the input
 * attached as src, and return SQLite's codes.
 */
#ifndef NM_MERGE_PRIV_H
#define NM_MERGE_PRIV_H

#include <sqlite3.h>

#include "merge.h"

/* Each is a script (embed.py). */
extern const char nm_merge_begin[], nm_merge_names[], nm_merge_sites[], nm_merge_rows[], nm_merge_inputs[],
    nm_merge_end[];

/* merge_keys.c: numbers the processes, objects and call chains of the input, in rising order: finds those that
 * are there by what makes them the same, and adds the others. */
int nm_merge_functions(sqlite3 *db); /* registers those that the scripts call */
int nm_merge_processes(sqlite3 *db);
int nm_merge_objects(sqlite3 *db);
int nm_merge_contexts(sqlite3 *db);

/* merge.c: the path of the output; and the end of a merge that another one takes in: its profile has a temporary name,
 * which nm_merge_abort removes. */
const char *nm_merge_output(const struct nm_merge *merge);
int nm_merge_complete(struct nm_merge *merge, const char **ret_path, struct nm_error *err);

/* alike.c: groups the inputs that behave alike. */
int nm_merge_alike(sqlite3 *db);

/* The status of a step: 0 for a row or the end, which *ret_row tells apart. */
static inline int nm_merge_step(sqlite3_stmt *statement, int *ret_row)
{
	const int status = sqlite3_step(statement);

	*ret_row = status == SQLITE_ROW;
	return status == SQLITE_ROW || status == SQLITE_DONE ? SQLITE_OK : status;
}

/* Runs a statement without rows. */
static inline int nm_merge_run(sqlite3_stmt *statement)
{
	const int status = sqlite3_step(statement);

	sqlite3_reset(statement);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

#endif
