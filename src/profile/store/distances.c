/* SPDX-License-Identifier: MIT
 *
 * distances.c - stores histograms of distances by site: sums the bins of attributions that share one.
 */
#include <stdlib.h>

#include "bins.h"
#include "histograms.h"
#include "row.h"

static const char run_sql[] = "INSERT INTO distance_run VALUES(?,?,?,?)";
static const char bin_sql[] = "INSERT OR IGNORE INTO distance_bin VALUES(?,?,?)";
static const char distance_sql[] = "INSERT INTO distance VALUES(?,?,?,?,?,?)";
static const char reuse_sql[] = "INSERT INTO reuse VALUES(?,?,?,?,?)";

/* A row of table `distance`, whose first number is the thread, or of `reuse`, whose last is the previous
 * place. */
struct row {
	uint32_t first, place, last;
	uint32_t bin;
	uint64_t count;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *r = a, *y = b;

	if (r->first != y->first)
		return r->first > y->first ? 1 : -1;
	if (r->place != y->place)
		return r->place > y->place ? 1 : -1;
	if (r->last != y->last)
		return r->last > y->last ? 1 : -1;
	return (r->bin > y->bin) - (r->bin < y->bin);
}

/* Sorts rows, and adds up those that differ only in their counts. Returns the number left. */
static size_t unite_rows(struct row *rows, size_t count)
{
	size_t n = 0;

	qsort(rows, count, sizeof *rows, compare_rows);
	for (size_t i = 0; i < count; i++)
		if (n && !compare_rows(&rows[n - 1], &rows[i]))
			rows[n - 1].count += rows[i].count;
		else
			rows[n++] = rows[i];
	return n;
}

static int step_insert(sqlite3_stmt *insert)
{
	int status = sqlite3_step(insert);

	sqlite3_reset(insert);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

/* Prepares a statement, calls `store` to bind and step each row, and finalizes. */
static int store_rows(const struct nm_result_writer *w, const char *sql, const struct row *rows, size_t count,
		      int (*store)(const struct nm_result_writer *w, sqlite3_stmt *insert,
				   const struct row *row))
{
	sqlite3_stmt *insert = NULL;
	int status = sqlite3_prepare_v2(w->store->db, sql, -1, &insert, NULL);

	for (size_t i = 0; i < count && !status; i++)
		status = store(w, insert, &rows[i]);
	sqlite3_finalize(insert);
	return status;
}

static int store_distance(const struct nm_result_writer *w, sqlite3_stmt *insert, const struct row *row)
{
	const uint64_t values[] = {(uint64_t)w->process,
				   row->first,
				   (uint64_t)w->places + row->place,
				   row->last,
				   row->bin,
				   row->count};

	for (int i = 0; i < 6; i++)
		nm_row_number(insert, i + 1, values[i]);
	return step_insert(insert);
}

static int store_reuse(const struct nm_result_writer *w, sqlite3_stmt *insert, const struct row *row)
{
	const uint64_t values[] = {(uint64_t)w->process, (uint64_t)w->places + row->place,
				   (uint64_t)w->places + row->last, row->bin, row->count};

	for (int i = 0; i < 5; i++)
		nm_row_number(insert, i + 1, values[i]);
	return step_insert(insert);
}

/* The bin `beyond` has a lowest distance but no highest. */
static int store_bin(const struct nm_result_writer *w, sqlite3_stmt *insert, const struct row *row)
{
	nm_row_number(insert, 1, row->bin);
	sqlite3_bind_null(insert, 2);
	sqlite3_bind_null(insert, 3);
	if (row->bin == NM_BIN_BEYOND)
		nm_row_number(insert, 2, w->result->distance_limit);
	if (row->bin < NM_BINS) {
		nm_row_number(insert, 2, nm_bin_low(row->bin));
		nm_row_number(insert, 3, nm_bin_high(row->bin));
	}
	return step_insert(insert);
}

/* The bins that occur. */
static int store_bins(const struct nm_result_writer *w)
{
	struct row rows[NM_BIN_COLD + 1];
	uint8_t occurs[NM_BIN_COLD + 1] = {0};
	size_t n = 0;

	for (size_t i = 0; i < w->result->distance_count; i++)
		occurs[w->result->distances[i].bin] = 1;
	for (uint32_t bin = 0; bin <= NM_BIN_COLD; bin++)
		if (occurs[bin])
			rows[n++] = (struct row){.bin = bin};
	return store_rows(w, bin_sql, rows, n, store_bin);
}

static int store_distances(const struct nm_result_writer *w, struct row *rows)
{
	const struct nm_result *r = w->result;
	size_t n = 0;

	for (size_t i = 0; i < r->distance_count; i++) {
		const struct nm_result_distance *d = &r->distances[i];

		rows[n++] = (struct row){r->attrs[d->attr].thread, w->index.place_of[d->attr], d->unit,
					 d->bin, d->count};
	}
	return store_rows(w, distance_sql, rows, unite_rows(rows, n), store_distance);
}

static int store_reuses(const struct nm_result_writer *w, struct row *rows)
{
	const struct nm_result *r = w->result;
	size_t n = 0;

	for (size_t i = 0; i < r->distance_count; i++) {
		const struct nm_result_distance *d = &r->distances[i];

		if (d->previous != UINT32_MAX)
			rows[n++] = (struct row){0, w->index.place_of[d->attr],
						 w->index.place_of[d->previous], d->bin, d->count};
	}
	return store_rows(w, reuse_sql, rows, unite_rows(rows, n), store_reuse);
}

/* The level to which the program's data references go first. */
static unsigned first_level(const struct nm_machine *machine)
{
	unsigned i = 0;

	while (i + 1 < machine->count && !nm_machine_first(machine, i, NM_SIDE_DATA))
		i++;
	return i;
}

static int store_run(const struct nm_result_writer *w, sqlite3_stmt *insert, const struct row *none)
{
	(void)none;
	nm_row_number(insert, 1, (uint64_t)w->process);
	nm_row_number(insert, 2, w->result->distance_line);
	nm_row_number(insert, 3, (uint64_t)nm_level_id(w, first_level(&w->result->machine)));
	nm_row_number(insert, 4, w->result->distance_limit);
	return step_insert(insert);
}

int nm_store_distances(const struct nm_result_writer *w)
{
	const struct row none = {0};
	struct row *rows;
	int status;

	if (!w->result->distance_line)
		return SQLITE_OK;
	rows = calloc(w->result->distance_count + 1, sizeof *rows);
	if (!rows)
		return SQLITE_NOMEM;
	status = store_rows(w, run_sql, &none, 1, store_run);
	if (!status)
		status = store_bins(w);
	if (!status)
		status = store_distances(w, rows);
	if (!status)
		status = store_reuses(w, rows);
	free(rows);
	return status;
}
