/* SPDX-License-Identifier: MIT
 *
 * events.c - stores answers to queries for single events (event_query.h): counts by set, by granule of
 * memory, or by level alone.
 *
 * As everywhere in a profile, attribution keys become sites, and threads are added up. If events were not
 * requested by attribution key, a row has the key of its first event, which a histogram shows beside it.
 * Histories of lines and single events are listed, not counted, and not stored.
 */
#include <stdlib.h>

#include "profile_priv.h"

/* Without sites, a place is an object alone: such places are numbered after all others. */
static int64_t place_of(const struct nm_place_index *index, const struct nm_event_query *query, uint32_t attr)
{
	uint32_t place = index->place_of[attr];

	return query->of_objects ? (int64_t)index->place_count + index->places[place].object : place;
}

enum unit { WHOLE, SET, GRANULE };

/* victim -1: the event has none. */
struct row {
	uint64_t at, count;
	int64_t maker, victim;
	uint8_t level, kind;
};

static int by_key(const void *a, const void *b)
{
	const struct row *r = a, *y = b;

	if (r->level != y->level)
		return r->level > y->level ? 1 : -1;
	if (r->at != y->at)
		return r->at > y->at ? 1 : -1;
	if (r->kind != y->kind)
		return r->kind > y->kind ? 1 : -1;
	if (r->maker != y->maker)
		return r->maker > y->maker ? 1 : -1;
	return (r->victim > y->victim) - (r->victim < y->victim);
}

/* The rows, sorted, each key once; malloc'ed, or NULL. */
static struct row *rows_of(const struct nm_filtered_events *from, const struct nm_place_index *index,
			   size_t *ret_count)
{
	struct row *rows = malloc((from->row_count + 1) * sizeof *rows);
	size_t n = 0;

	if (!rows)
		return NULL;
	for (size_t i = 0; i < from->row_count; i++) {
		const struct nm_event_row *r = &from->rows[i];

		rows[i] = (struct row){.at = r->place, .count = r->count, .level = r->level, .kind = r->kind};
		rows[i].maker = place_of(index, from->query, r->attr);
		rows[i].victim = nm_event_leaves(r->kind) ? place_of(index, from->query, r->victim) : -1;
	}
	qsort(rows, from->row_count, sizeof *rows, by_key);
	for (size_t i = 0; i < from->row_count; i++)
		if (n && !by_key(&rows[n - 1], &rows[i]))
			rows[n - 1].count += rows[i].count;
		else
			rows[n++] = rows[i];
	*ret_count = n;
	return rows;
}

static enum unit unit_of(const struct nm_event_query *query)
{
	return query->mode == NM_QUERY_SETS ? SET : query->mode == NM_QUERY_GRANULES ? GRANULE : WHOLE;
}

static int step_insert(sqlite3_stmt *insert)
{
	int status = sqlite3_step(insert);

	sqlite3_reset(insert);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int insert_row(const struct nm_result_writer *w, sqlite3_stmt *insert, const struct row *row)
{
	sqlite3_bind_int64(insert, 2, nm_level_id(w, row->level));
	sqlite3_bind_int64(insert, 4, (sqlite3_int64)row->at);
	sqlite3_bind_int64(insert, 5, row->kind);
	sqlite3_bind_int64(insert, 6, w->places + row->maker);
	sqlite3_bind_int64(insert, 7, row->victim < 0 ? -1 : w->places + row->victim);
	sqlite3_bind_int64(insert, 8, (sqlite3_int64)row->count);
	return step_insert(insert);
}

static int store_places(const struct nm_result_writer *w)
{
	const struct nm_place_index *index = &w->index;
	struct nm_store *store = w->store;
	sqlite3_stmt *insert = NULL;
	int status = sqlite3_prepare_v2(store->db, "INSERT INTO place VALUES(?,?,NULL,?,NULL,NULL)", -1,
					&insert, NULL);

	for (uint32_t i = 0; i < index->objects && !status; i++) {
		sqlite3_int64 name = 0;

		status = nm_names_text(&store->names, w->result->objects[index->object_first[i]].name, &name);
		sqlite3_bind_int64(insert, 1, ++store->places);
		sqlite3_bind_int64(insert, 2, w->process);
		sqlite3_bind_int64(insert, 3, name);
		if (!status)
			status = step_insert(insert);
	}
	sqlite3_finalize(insert);
	return status;
}

static int store_rows(const struct nm_result_writer *w, const struct row *rows, size_t count, enum unit unit)
{
	sqlite3_stmt *insert = NULL;
	int status =
	    sqlite3_prepare_v2(w->store->db, "INSERT INTO event VALUES(?,?,?,?,?,?,?,?)", -1, &insert, NULL);

	sqlite3_bind_int64(insert, 1, w->process);
	sqlite3_bind_int64(insert, 3, unit);
	for (size_t i = 0; i < count && !status; i++)
		status = insert_row(w, insert, &rows[i]);
	sqlite3_finalize(insert);
	return status;
}

int nm_store_events(const struct nm_result_writer *w)
{
	const struct nm_filtered_events *from = &w->result->events;
	size_t count = 0;
	struct row *rows;
	int status;

	if (!from->row_count)
		return SQLITE_OK;
	rows = rows_of(from, &w->index, &count);
	status = rows ? store_rows(w, rows, count, unit_of(from->query)) : SQLITE_NOMEM;
	if (!status && from->query->of_objects)
		status = store_places(w);
	free(rows);
	return status;
}
