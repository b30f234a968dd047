/* SPDX-License-Identifier: MIT
 *
 * row.h - builds rows: binds values to the columns of a prepared INSERT, and runs it. The first failure stays
 * in the writer's status.
 */
#ifndef NM_PROFILE_ROW_H
#define NM_PROFILE_ROW_H

#include <assert.h>
#include <string.h>

#include "profile_priv.h"

static inline void nm_row_text(sqlite3_stmt *insert, int column, const char *value)
{
	sqlite3_bind_text(insert, column, value, -1, SQLITE_STATIC);
}

static inline void nm_row_number(sqlite3_stmt *insert, int column, uint64_t value)
{
	sqlite3_bind_int64(insert, column, (sqlite3_int64)value);
}

static inline void nm_row_id(sqlite3_stmt *insert, int column, sqlite3_int64 value)
{
	if (value)
		sqlite3_bind_int64(insert, column, value);
	else
		sqlite3_bind_null(insert, column);
}

static inline void nm_row_counts(sqlite3_stmt *insert, int column, const struct nm_counts *c)
{
	uint64_t values[NM_COUNTS];
	int i;

	assert(column > 0 && column + NM_COUNTS - 1 <= sqlite3_bind_parameter_count(insert));
	memcpy(values, c, sizeof values);
	for (i = 0; i < NM_COUNTS; i++)
		nm_row_number(insert, column + i, values[i]);
}

static inline void nm_row_run(struct nm_result_writer *w, sqlite3_stmt *insert)
{
	int status = sqlite3_step(insert);

	sqlite3_reset(insert);
	if (status != SQLITE_DONE && !w->status)
		w->status = status;
}

static inline sqlite3_stmt *nm_row(const struct nm_result_writer *w, enum nm_insert table)
{
	return w->store->insert[table];
}

/* Starts a row of a table whose first column is the process; the level. */
static inline sqlite3_stmt *nm_row_of_process(const struct nm_result_writer *w, enum nm_insert table)
{
	sqlite3_stmt *insert = nm_row(w, table);

	sqlite3_bind_int64(insert, 1, w->process);
	return insert;
}

static inline sqlite3_stmt *nm_row_of_level(const struct nm_result_writer *w, enum nm_insert table,
					    unsigned level)
{
	sqlite3_stmt *insert = nm_row(w, table);

	sqlite3_bind_int64(insert, 1, nm_level_id(w, level));
	return insert;
}

/* The id of a place, by its index. */
static inline uint64_t nm_row_place(const struct nm_result_writer *w, uint32_t place)
{
	return (uint64_t)w->places + place;
}

static inline sqlite3_int64 nm_row_text_id(struct nm_result_writer *w, const char *value)
{
	sqlite3_int64 found = 0;
	int status = nm_names_text(&w->store->names, value, &found);

	if (status && !w->status)
		w->status = status;
	return found;
}

/* Adds counts. */
static inline void nm_counts_sum(struct nm_counts *to, const struct nm_counts *from)
{
	uint64_t sum[NM_COUNTS], more[NM_COUNTS];
	int i;

	memcpy(sum, to, sizeof sum);
	memcpy(more, from, sizeof more);
	for (i = 0; i < NM_COUNTS; i++)
		sum[i] += more[i];
	memcpy(to, sum, sizeof sum);
}

#endif
