/* SPDX-License-Identifier: MIT
 *
 * timeline.c - stores the timeline of a run: its intervals, what they counted, and its phases.
 */
#include <assert.h>
#include <stdlib.h>

#include "row.h"

enum statement { INTERVAL, LEVEL, OBJECT, LINE, PHASE, STRETCH, STATEMENTS };

static const char *const sql[STATEMENTS] = {
    [INTERVAL] = "INSERT INTO interval VALUES(?,?,?,?,?)",
    [LEVEL] = "INSERT INTO interval_level VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [OBJECT] = "INSERT INTO interval_object VALUES(?,?,?,?,?,?)",
    [PHASE] = "INSERT INTO phase VALUES(?,?,?,?,?)",
    [STRETCH] = "INSERT INTO stretch VALUES(?,?,?,?)",
    /* sites of one line that differ in what they are inlined through are the same site here */
    [LINE] = ("INSERT INTO interval_line VALUES(?1,?2,?3,?4,?5,?6) ON CONFLICT DO UPDATE SET "
	      "read_misses = read_misses + ?4, write_misses = write_misses + ?5, loads = loads + ?6"),
};

/* The line of the user's code that a site is shown at; 0: none. */
static sqlite3_int64 line_of(struct nm_result_writer *w, uint32_t site)
{
	sqlite3_int64 id = 0;

	if (site == UINT32_MAX)
		return 0;
	w->status = nm_names_site(&w->store->names, &w->result->sites[site], &id);
	return w->status ? 0 : nm_names_user(&w->store->names, id);
}

static void store_level(struct nm_result_writer *w, sqlite3_stmt *insert, size_t interval, unsigned level)
{
	const struct nm_result *r = w->result;
	const struct nm_result_interval_level *from =
	    &r->interval_levels[interval * r->machine.count + level];
	const struct nm_counts *c = &from->counts;
	const uint64_t figures[] = {c->reads,    c->writes,   c->read_misses, c->write_misses, c->cold,
				    c->capacity, c->conflict, c->coherence,   c->loads};
	const int count = sizeof figures / sizeof *figures;

	sqlite3_bind_int64(insert, 1, nm_level_id(w, level));
	nm_row_number(insert, 2, interval);
	for (int i = 0; i < count; i++)
		nm_row_number(insert, 3 + i, figures[i]);
	nm_row_id(insert, 3 + count,
		  from->object == UINT32_MAX ? 0 : nm_row_text_id(w, r->objects[from->object].name));
	nm_row_id(insert, 4 + count, line_of(w, from->site));
	nm_row_run(w, insert);
}

static void store_interval(struct nm_result_writer *w, sqlite3_stmt *const *insert, size_t i)
{
	const struct nm_result_interval *from = &w->result->intervals[i];

	sqlite3_bind_int64(insert[INTERVAL], 1, w->process);
	nm_row_number(insert[INTERVAL], 2, i);
	nm_row_number(insert[INTERVAL], 3, from->begin);
	nm_row_number(insert[INTERVAL], 4, from->instructions);
	nm_row_number(insert[INTERVAL], 5, from->working_set);
	nm_row_run(w, insert[INTERVAL]);
	for (unsigned level = 0; level < w->result->machine.count && !w->status; level++)
		store_level(w, insert[LEVEL], i, level);
}

static void store_part(struct nm_result_writer *w, sqlite3_stmt *const *statements,
		       const struct nm_result_interval_part *part)
{
	sqlite3_stmt *insert = statements[part->of_site ? LINE : OBJECT];

	assert(part->interval < w->result->interval_count && part->level < w->result->machine.count);
	sqlite3_bind_int64(insert, 1, nm_level_id(w, part->level));
	nm_row_number(insert, 2, part->interval);
	nm_row_id(insert, 3,
		  part->of_site ? line_of(w, part->whose)
				: nm_row_text_id(w, w->result->objects[part->whose].name));
	nm_row_number(insert, 4, part->read_misses);
	nm_row_number(insert, 5, part->write_misses);
	nm_row_number(insert, 6, part->loads);
	nm_row_run(w, insert);
}

static void store_phases(struct nm_result_writer *w, sqlite3_stmt *insert)
{
	const struct nm_result *r = w->result;

	for (size_t i = 0; i < r->phase_count && !w->status; i++) {
		const struct nm_result_phase *phase = &r->phases[i];
		char *name = nm_result_phase_name(r, i);

		if (!name) {
			w->status = SQLITE_NOMEM;
			return;
		}
		sqlite3_bind_int64(insert, 1, w->process);
		nm_row_number(insert, 2, i);
		nm_row_text(insert, 3, name);
		nm_row_id(insert, 4,
			  phase->object == UINT32_MAX ? 0
						      : nm_row_text_id(w, r->objects[phase->object].name));
		nm_row_id(insert, 5, line_of(w, phase->site));
		nm_row_run(w, insert);
		free(name);
	}
}

static void store_stretches(struct nm_result_writer *w, sqlite3_stmt *insert)
{
	for (size_t i = 0; i < w->result->stretch_count && !w->status; i++) {
		const struct nm_result_stretch *stretch = &w->result->stretches[i];

		sqlite3_bind_int64(insert, 1, w->process);
		nm_row_number(insert, 2, stretch->first);
		nm_row_number(insert, 3, stretch->count);
		nm_row_number(insert, 4, stretch->phase);
		nm_row_run(w, insert);
	}
}

void nm_store_timeline(struct nm_result_writer *w)
{
	sqlite3_stmt *insert[STATEMENTS] = {NULL};
	const struct nm_result *r = w->result;

	for (unsigned i = 0; i < STATEMENTS && !w->status; i++)
		w->status = sqlite3_prepare_v2(w->store->db, sql[i], -1, &insert[i], NULL);
	for (size_t i = 0; i < r->interval_count && !w->status; i++)
		store_interval(w, insert, i);
	for (size_t i = 0; i < r->interval_part_count && !w->status; i++)
		store_part(w, insert, &r->interval_parts[i]);
	store_phases(w, insert[PHASE]);
	store_stretches(w, insert[STRETCH]);
	for (unsigned i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(insert[i]);
}
