/* SPDX-License-Identifier: MIT
 *
 * reader.h - queries a profile. Nothing outside this room sees SQLite.
 *
 *     nm_profile_open(&profile, "nearmiss.nmp", &err);
 *     nm_profile_query(profile, "SELECT object, sum(loads) FROM counts WHERE level = ?1 GROUP BY 1", &rows,
 *     &err);
 *     nm_rows_bind_text(rows, 1, "L1d");
 *     while ((status = nm_rows_next(rows, &err)) > 0)
 *             puts(nm_rows_text(rows, 0));
 *     nm_rows_free(rows);
 *     nm_profile_close(profile);
 *
 * A profile is opened read-only and never waits for a lock; a statement that would write, attach another
 * file or change a setting is refused.
 */
#ifndef NM_PROFILE_READER_H
#define NM_PROFILE_READER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "errors.h"

struct nm_profile;
struct nm_rows; /* a query and its current row */

enum nm_value_type { NM_VALUE_NULL, NM_VALUE_INTEGER, NM_VALUE_REAL, NM_VALUE_TEXT };

/* Turns SQLite's memory statistics off, which cost a lock at each allocation. Call it once, before any
 * profile is read or written, in a program that does not use SQLite otherwise. */
void nm_profile_setup(void);

/* NM_ENOENT, NM_EACCES; NM_EFORMAT: not a profile, truncated or damaged; NM_EVERSION: of another version. */
int nm_profile_open(struct nm_profile **ret_profile, const char *path, struct nm_error *err);
void nm_profile_close(struct nm_profile *profile);

/* Removes the time limit of statements. Without this call, a statement that takes far longer than the size of
 * the profile explains is stopped (NM_EFORMAT). */
void nm_profile_let_run(struct nm_profile *profile);

/* Whether the profile has a view of that name: 1, 0, or a code. Later versions have more views. */
int nm_profile_has(struct nm_profile *profile, const char *view, struct nm_error *err);

/* Prepares one statement. A fault in the SQL is NM_EINVAL with its place. Parameters are numbered from 1
 * and NULL until bound; texts must live as long as the rows. */
int nm_profile_query(struct nm_profile *profile, const char *sql, struct nm_rows **ret_rows,
		     struct nm_error *err);
void nm_rows_bind_text(struct nm_rows *rows, int parameter, const char *text);
void nm_rows_bind_integer(struct nm_rows *rows, int parameter, int64_t value);

/* Steps to the next row: 1, 0 after the last, or NM_EFORMAT (the file is damaged), NM_EINVAL, NM_ENOMEM. */
int nm_rows_next(struct nm_rows *rows, struct nm_error *err);

unsigned nm_rows_columns(const struct nm_rows *rows);
const char *nm_rows_name(const struct nm_rows *rows, unsigned column);

/* Within 2^54 either way: only counts of damaged profiles are not. */
static inline int64_t nm_bounded(int64_t value)
{
	const int64_t bound = (int64_t)1 << 54;

	return value > bound ? bound : value < -bound ? -bound : value;
}

/* The row's values, columns from 0. Texts live until the next step; NULL gives NULL, 0 and 0.0. */
enum nm_value_type nm_rows_type(const struct nm_rows *rows, unsigned column);
const char *nm_rows_text(const struct nm_rows *rows, unsigned column);
int64_t nm_rows_integer(const struct nm_rows *rows, unsigned column);
/* The same, bounded: sums cannot overflow. */
int64_t nm_rows_bounded(const struct nm_rows *rows, unsigned column);
double nm_rows_real(const struct nm_rows *rows, unsigned column);
/* If the value is a blob: 1 and its bytes, which live as long as texts do; else 0. */
int nm_rows_blob(const struct nm_rows *rows, unsigned column, const void **ret_blob, size_t *ret_bytes);
void nm_rows_free(struct nm_rows *rows);

/* A table that only this reader sees, which queries may read beside the profile's views. It replaces one of the same
 * name; columns: as CREATE TABLE has them. Set the values of a row (columns from 0; others are NULL), then add it;
 * texts must live until then. Call nm_new_table_free in any case, before the next query: until then statements may
 * write. The table stays until the profile is closed. */
struct nm_new_table;
int nm_profile_make_table(struct nm_profile *profile, const char *name, const char *columns,
			  struct nm_new_table **ret_table, struct nm_error *err);
void nm_new_row_text(struct nm_new_table *table, unsigned column, const char *value); /* NULL: NULL */
void nm_new_row_integer(struct nm_new_table *table, unsigned column, int64_t value);
void nm_new_row_real(struct nm_new_table *table, unsigned column, double value); /* NAN: NULL */
int nm_new_row_add(struct nm_new_table *table, struct nm_error *err);
void nm_new_table_free(struct nm_new_table *table);

/* Whether a query yields a row: 1, 0, or a code. */
int nm_profile_has_row(struct nm_profile *profile, const char *sql, struct nm_error *err);

/* Writes a text as a literal of SQL. */
void nm_sql_text(const char *text, FILE *sql);

#endif
