/* SPDX-License-Identifier: MIT
 *
 * store.c - writes one result into the tables (tables.sql), rows in the order of their keys.
 *
 * A prepared INSERT per table, all in the writer's one transaction; rows that are appended in key order keep
 * SQLite on its cheapest path. Evictions, the most frequent rows, have no key, which makes them twice as fast
 * to insert.
 */
#include <stdlib.h>
#include <string.h>

#include "policy.h"
#include "prefetch.h"
#include "profile_priv.h"

static const char *const insert_sql[NM_INSERTS] = {
    [NM_INSERT_PROCESS] = "INSERT INTO process VALUES(?,?,?,?,?,?,?,?)",
    [NM_INSERT_UNDEBUGGED] = "INSERT OR IGNORE INTO module_undebugged VALUES(?,?)",
    [NM_INSERT_THREAD] = "INSERT INTO thread VALUES(?,?,?)",
    [NM_INSERT_LEVEL] = "INSERT INTO level VALUES(?,?,?,?,?,?,?,?,?," NM_COUNT_MARKS ",?,?,?,?,?,?)",
    [NM_INSERT_OBJECT] = "INSERT INTO object VALUES(?,?,?,?,?,?,?,?,?)",
    [NM_INSERT_PLACE] = "INSERT INTO place VALUES(?,?,?)",
    [NM_INSERT_CELL] = "INSERT INTO cell VALUES(?,?,?," NM_COUNT_MARKS ")",
    [NM_INSERT_EXTRA] = "INSERT INTO extra VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [NM_INSERT_EVICTION] = "INSERT INTO eviction VALUES(?,?,?,?,?)",
    [NM_INSERT_TOP] = "INSERT INTO top_eviction VALUES(?,?,?,?,?)",
    [NM_INSERT_PATTERN] = "INSERT INTO pattern VALUES(?,?,?,?,?)",
    [NM_INSERT_WALK] = "INSERT INTO walk VALUES(?,?,?,?,?)",
    [NM_INSERT_CONTEXT] = "INSERT INTO context VALUES(?,?,?,?,?,?,?)",
    [NM_INSERT_CONTEXT_CELL] = "INSERT INTO context_cell VALUES(?,?,?,?," NM_COUNT_MARKS ")",
    [NM_INSERT_CONTEXT_SUM] = "INSERT INTO context_sum VALUES(?,?," NM_COUNT_MARKS ")",
    [NM_INSERT_BUCKET] = "INSERT INTO bucket VALUES(?,?)",
    [NM_INSERT_FIGURE] = "INSERT INTO pass_figure VALUES(?,?,?,?,?)",
};

int nm_store_open(struct nm_store *store, sqlite3 *db)
{
	int i, status;

	memset(store, 0, sizeof *store);
	store->db = db;
	for (i = 0; i < NM_INSERTS; i++) {
		status = sqlite3_prepare_v3(db, insert_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
					    &store->insert[i], NULL);
		if (status)
			return status;
	}
	status = sqlite3_prepare_v3(db, "INSERT INTO text VALUES(?,?)", -1, SQLITE_PREPARE_PERSISTENT,
				    &store->names.insert_text, NULL);
	if (!status)
		status = sqlite3_prepare_v3(db, "INSERT INTO site VALUES(?,?,?,?,?,?,?,?,?)", -1,
					    SQLITE_PREPARE_PERSISTENT, &store->names.insert_site, NULL);
	return status;
}

void nm_store_done(struct nm_store *store)
{
	int i;

	for (i = 0; i < NM_INSERTS; i++)
		sqlite3_finalize(store->insert[i]);
	nm_names_done(&store->names);
	nm_map_done(&store->files);
	nm_map_done(&store->compiled);
	memset(store, 0, sizeof *store);
}

static void text(sqlite3_stmt *insert, int column, const char *value)
{
	sqlite3_bind_text(insert, column, value, -1, SQLITE_STATIC);
}

static void number(sqlite3_stmt *insert, int column, uint64_t value)
{
	sqlite3_bind_int64(insert, column, (sqlite3_int64)value);
}

static void id(sqlite3_stmt *insert, int column, sqlite3_int64 value)
{
	if (value)
		sqlite3_bind_int64(insert, column, value);
	else
		sqlite3_bind_null(insert, column);
}

static void counts(sqlite3_stmt *insert, int column, const struct nm_counts *c)
{
	uint64_t values[NM_COUNTS];
	int i;

	memcpy(values, c, sizeof values);
	for (i = 0; i < NM_COUNTS; i++)
		number(insert, column + i, values[i]);
}

static void run(struct nm_result_writer *w, sqlite3_stmt *insert)
{
	int status = sqlite3_step(insert);

	sqlite3_reset(insert);
	if (status != SQLITE_DONE && !w->status)
		w->status = status;
}

static sqlite3_stmt *row(const struct nm_result_writer *w, enum nm_insert table)
{
	return w->store->insert[table];
}

/* Starts a row of a table whose first column is the process, */
static sqlite3_stmt *row_of_process(const struct nm_result_writer *w, enum nm_insert table)
{
	sqlite3_stmt *insert = row(w, table);

	sqlite3_bind_int64(insert, 1, w->process);
	return insert;
}

/* or the level. */
static sqlite3_stmt *row_of_level(const struct nm_result_writer *w, enum nm_insert table, unsigned level)
{
	sqlite3_stmt *insert = row(w, table);

	sqlite3_bind_int64(insert, 1, nm_level_id(w, level));
	return insert;
}

/* The number of a place of the index. */
static uint64_t place_id(const struct nm_result_writer *w, uint32_t place)
{
	return (uint64_t)w->places + place;
}

static sqlite3_int64 text_id(struct nm_result_writer *w, const char *value)
{
	sqlite3_int64 found = 0;
	int status = nm_names_text(&w->store->names, value, &found);

	if (status && !w->status)
		w->status = status;
	return found;
}

static void store_process(struct nm_result_writer *w)
{
	const struct nm_result *result = w->result;
	sqlite3_stmt *insert = row_of_process(w, NM_INSERT_PROCESS);
	size_t i;

	text(insert, 2, result->process ? result->process : "?"); /* made unique at the end */
	text(insert, 3, result->path);
	text(insert, 4, result->command);
	sqlite3_bind_int(insert, 5, result->exit_status);
	number(insert, 6, result->instructions);
	number(insert, 7, result->references);
	number(insert, 8, result->lost_words);
	run(w, insert);
	for (i = 0; i < result->undebugged_count && !w->status; i++) {
		insert = row_of_process(w, NM_INSERT_UNDEBUGGED);
		text(insert, 2, result->undebugged[i]);
		run(w, insert);
	}
	for (i = 0; i < result->thread_count && !w->status; i++) {
		insert = row_of_process(w, NM_INSERT_THREAD);
		number(insert, 2, result->threads[i].thread);
		number(insert, 3, result->threads[i].core);
		run(w, insert);
	}
}

static void store_levels(struct nm_result_writer *w)
{
	static const char *const sides[] = {
	    [NM_SIDE_UNIFIED] = "unified", [NM_SIDE_DATA] = "data", [NM_SIDE_INSTRUCTION] = "instruction"};
	const struct nm_machine *machine = &w->result->machine;
	unsigned i;

	for (i = 0; i < machine->count && !w->status; i++) {
		const struct nm_level_spec *level = &machine->levels[i];
		sqlite3_stmt *insert = row_of_level(w, NM_INSERT_LEVEL, i);
		char pages[16];

		number(insert, 2, (uint64_t)w->process);
		text(insert, 3, level->name);
		number(insert, 4, level->size);
		number(insert, 5, level->ways);
		number(insert, 6, level->line);
		number(insert, 7, level->sets);
		text(insert, 8, *level->plugin ? "plugin" : nm_level_policy(level)->name);
		text(insert, 9, sides[level->side]);
		counts(insert, 10, &w->result->levels[i].total);
		nm_pages_format(pages, sizeof pages, level->pages);
		text(insert, 10 + NM_COUNTS, *pages ? pages : NULL);
		text(insert, 11 + NM_COUNTS, nm_huge_pages_name(machine, i));
		if (level->sector)
			number(insert, 12 + NM_COUNTS, level->sector);
		else
			sqlite3_bind_null(insert, 12 + NM_COUNTS);
		text(insert, 13 + NM_COUNTS, level->prefetch ? nm_prefetchers[level->prefetch]->name : NULL);
		text(insert, 14 + NM_COUNTS, nm_machine_protocol(machine, i));
		number(insert, 15 + NM_COUNTS,
		       machine->cores > 1 && nm_machine_is_last(machine, i) ? machine->nodes : 0);
		run(w, insert);
	}
}

static void store_objects(struct nm_result_writer *w)
{
	const struct nm_result *result = w->result;
	uint32_t i;

	for (i = 0; i < w->index.objects && !w->status; i++) {
		const struct nm_result_object *object = &result->objects[w->index.object_first[i]];
		sqlite3_stmt *insert = row(w, NM_INSERT_OBJECT);

		number(insert, 1, (uint64_t)w->objects + i);
		number(insert, 2, (uint64_t)w->process);
		id(insert, 3, text_id(w, object->name));
		text(insert, 4, nm_object_kind_name(object->kind));
		id(insert, 5, text_id(w, object->type));
		number(insert, 6, object->bytes);
		number(insert, 7, object->blocks);
		number(insert, 8, object->largest);
		id(insert, 9, text_id(w, object->allocated_at));
		run(w, insert);
	}
}

static int note_digest(struct nm_store *store, sqlite3_int64 file, const char *md5)
{
	const char *known = (const char *)(uintptr_t)nm_map_get(&store->compiled, (uint64_t)file, 0);

	if (!md5 || (known && !strcmp(known, md5)))
		return SQLITE_OK;
	md5 = nm_intern(&store->names.pool, known ? "" : md5);
	return !md5 || nm_map_put(&store->compiled, (uint64_t)file, (uintptr_t)md5) ? SQLITE_NOMEM
										    : SQLITE_OK;
}

/* Keeps the oldest program or library built from a file, for comparison with its source. */
static int note_file(struct nm_store *store, const char *name, const char *md5, int64_t when)
{
	uint64_t built = when ? (uint64_t)when : INT64_MAX;
	sqlite3_int64 file;
	int status = nm_names_text(&store->names, name, &file);

	if (!status && file)
		status = note_digest(store, file, md5);
	if (status || !file || nm_map_get(&store->files, (uint64_t)file, INT64_MAX) < built)
		return status;
	return nm_map_put(&store->files, (uint64_t)file, built) ? SQLITE_NOMEM : SQLITE_OK;
}

/* The ids of sites by rank; malloc'ed, or NULL. */
static sqlite3_int64 *store_sites(struct nm_result_writer *w)
{
	sqlite3_int64 *ids = malloc((w->index.sites + 1) * sizeof *ids);

	if (!ids)
		w->status = SQLITE_NOMEM;
	for (uint32_t i = 0; i < w->index.sites && !w->status; i++) {
		const struct nm_result_site *site = &w->result->sites[w->index.site_first[i]];

		w->status = nm_names_site(&w->store->names, site, &ids[i]);
		if (!w->status)
			w->status = note_file(w->store, site->file, site->md5, site->built);
		if (!w->status)
			w->status = note_file(w->store, site->user_file, site->user_md5, site->built);
	}
	return ids;
}

static void store_places(struct nm_result_writer *w)
{
	sqlite3_int64 *sites = store_sites(w);

	for (uint32_t i = 0; i < w->index.place_count && !w->status; i++) {
		const struct nm_location *place = &w->index.places[i];
		uint32_t object = w->index.object_first[place->object];
		sqlite3_stmt *insert = row(w, NM_INSERT_PLACE);

		number(insert, 1, place_id(w, i));
		number(insert, 2, (uint64_t)sites[place->site]);
		number(insert, 3, (uint64_t)text_id(w, w->result->objects[object].name));
		run(w, insert);
	}
	w->store->places += w->index.place_count;
	free(sites);
}

static void add_counts(struct nm_counts *to, const struct nm_counts *from)
{
	uint64_t sum[NM_COUNTS], more[NM_COUNTS];
	int i;

	memcpy(sum, to, sizeof sum);
	memcpy(more, from, sizeof more);
	for (i = 0; i < NM_COUNTS; i++)
		sum[i] += more[i];
	memcpy(to, sum, sizeof sum);
}

/* One row per (thread, place) with a count that is not 0. */
static void store_attrs(struct nm_result_writer *w, unsigned level)
{
	static const struct nm_counts none;
	const struct nm_result *result = w->result;
	size_t i = 0;

	while (i < result->attr_count && !w->status) {
		uint32_t first = w->index.order[i];
		uint32_t thread = result->attrs[first].thread, place = w->index.place_of[first];
		struct nm_counts sum = result->levels[level].counts[first];
		sqlite3_stmt *insert;

		while (++i < result->attr_count) {
			uint32_t next = w->index.order[i];

			if (result->attrs[next].thread != thread || w->index.place_of[next] != place)
				break;
			add_counts(&sum, &result->levels[level].counts[next]);
		}
		if (!memcmp(&sum, &none, sizeof sum))
			continue;
		insert = row_of_level(w, NM_INSERT_CELL, level);
		number(insert, 2, thread);
		number(insert, 3, place_id(w, place));
		counts(insert, 4, &sum);
		run(w, insert);
	}
}

/* The same for counts that only some levels have. */
static void store_extras(struct nm_result_writer *w, unsigned level)
{
	static const struct nm_extras none;
	const struct nm_result *result = w->result;
	const struct nm_extras *extras = result->levels[level].extras;
	size_t i = 0;

	while (extras && i < result->attr_count && !w->status) {
		uint32_t first = w->index.order[i], next = first;
		uint32_t thread = result->attrs[first].thread, place = w->index.place_of[first];
		struct nm_extras sum = none;
		sqlite3_stmt *insert;

		while (result->attrs[next].thread == thread && w->index.place_of[next] == place) {
			nm_extras_add(&sum, &extras[next]);
			if (++i == result->attr_count)
				break;
			next = w->index.order[i];
		}
		if (!memcmp(&sum, &none, sizeof sum))
			continue;
		insert = row_of_level(w, NM_INSERT_EXTRA, level);
		number(insert, 2, thread);
		number(insert, 3, place_id(w, place));
		number(insert, 4, sum.sector_misses);
		number(insert, 5, sum.prefetches);
		number(insert, 6, sum.useful);
		number(insert, 7, sum.late_evicted);
		number(insert, 8, sum.pollution);
		number(insert, 9, sum.coherence);
		number(insert, 10, sum.false_sharing);
		number(insert, 11, sum.false_first);
		number(insert, 12, sum.false_words);
		number(insert, 13, sum.unneeded);
		number(insert, 14, sum.remote);
		run(w, insert);
	}
}

static void store_eviction(struct nm_result_writer *w, enum nm_insert table, unsigned level,
			   const struct nm_place_eviction *eviction)
{
	sqlite3_stmt *insert = row_of_level(w, table, level);

	number(insert, 2, place_id(w, eviction->victim));
	number(insert, 3, place_id(w, eviction->evictor));
	number(insert, 4, eviction->count);
	number(insert, 5, eviction->prefetches);
	run(w, insert);
}

static void store_evictions(struct nm_result_writer *w, unsigned level)
{
	struct nm_place_eviction *list = NULL, top = {0};
	size_t n = 0;

	if (!w->status)
		w->status = nm_place_evictions(&w->result->levels[level], &w->index, &list, &n);
	for (size_t i = 0; i < n && !w->status; i++) {
		store_eviction(w, NM_INSERT_EVICTION, level, &list[i]);
		if (list[i].count > top.count || (i && list[i].victim != list[i - 1].victim))
			top = list[i];
		if (i + 1 == n || list[i + 1].victim != list[i].victim)
			store_eviction(w, NM_INSERT_TOP, level, &top);
	}
	free(list);
}

static void store_figures(struct nm_result_writer *w)
{
	const struct nm_result *result = w->result;

	for (size_t i = 0; i < result->figure_count && !w->status; i++) {
		const struct nm_result_figure *f = &result->figures[i];
		sqlite3_int64 object = text_id(w, result->objects[f->object].name);
		sqlite3_stmt *insert = row_of_process(w, NM_INSERT_FIGURE);

		text(insert, 2, f->pass);
		id(insert, 3, object);
		text(insert, 4, f->name);
		number(insert, 5, f->value);
		run(w, insert);
	}
}

static void store_patterns(struct nm_result_writer *w)
{
	struct nm_place_pattern *list = NULL;
	size_t count = 0;

	if (!w->status)
		w->status = nm_place_patterns(w->result, &w->index, &list, &count);
	for (size_t i = 0; i < count && !w->status; i++) {
		sqlite3_stmt *insert = row_of_process(w, NM_INSERT_PATTERN);

		number(insert, 2, place_id(w, list[i].place));
		number(insert, 3, list[i].sampled);
		number(insert, 4, (uint64_t)list[i].stride.bytes);
		number(insert, 5, list[i].stride.count);
		run(w, insert);
	}
	free(list);
}

static void store_walks(struct nm_result_writer *w)
{
	struct nm_walk *walks = NULL;

	if (!w->status && w->result->walks)
		w->status = nm_place_walks(w->result, &w->index, &walks);
	for (uint32_t i = 0; walks && i < w->index.place_count && !w->status; i++) {
		sqlite3_stmt *insert = walks[i].loads ? row_of_process(w, NM_INSERT_WALK) : NULL;

		if (!insert)
			continue;
		number(insert, 2, place_id(w, i));
		number(insert, 3, walks[i].loads);
		number(insert, 4, (uint64_t)walks[i].step);
		number(insert, 5, walks[i].followed);
		run(w, insert);
	}
	free(walks);
}

/* ---- contexts ---- */

/* users: for each context, the site of the nearest call that the user wrote; 0: there is none. */
static void store_contexts(struct nm_result_writer *w, sqlite3_int64 *users)
{
	const struct nm_result *result = w->result;

	for (size_t i = 0; i < result->context_count && !w->status; i++) {
		const struct nm_result_context *c = &result->contexts[i];
		sqlite3_stmt *insert = row_of_process(w, NM_INSERT_CONTEXT);
		sqlite3_int64 site = 0;

		users[i] = i ? users[c->parent] : 0;
		if (c->site != UINT32_MAX)
			w->status = nm_names_site(&w->store->names, &result->sites[c->site], &site);
		if (w->status)
			return;
		if (c->site != UINT32_MAX && !result->sites[c->site].is_library)
			users[i] = nm_names_user(&w->store->names, site);
		number(insert, 2, i);
		if (i)
			number(insert, 3, c->parent);
		else
			sqlite3_bind_null(insert, 3);
		id(insert, 4, text_id(w, c->function));
		id(insert, 5, site);
		number(insert, 6, c->calls);
		id(insert, 7, users[i]);
		run(w, insert);
	}
}

static void store_buckets(struct nm_result_writer *w)
{
	for (uint32_t i = 0; i < w->index.objects && !w->status; i++) {
		const struct nm_result_object *object = &w->result->objects[w->index.object_first[i]];
		sqlite3_stmt *insert = row(w, NM_INSERT_BUCKET);

		if (!object->chain)
			continue;
		number(insert, 1, (uint64_t)w->objects + i);
		number(insert, 2, object->chain - 1);
		run(w, insert);
	}
}

/* A row of an attribution key in a context. */
struct context_row {
	uint32_t context, thread, place, attr;
};

static int compare_context_rows(const void *a, const void *b)
{
	const struct context_row *x = a, *y = b;

	if (x->context != y->context)
		return x->context > y->context ? 1 : -1;
	if (x->thread != y->thread)
		return x->thread > y->thread ? 1 : -1;
	return (x->place > y->place) - (x->place < y->place);
}

static struct context_row *sorted_context_rows(const struct nm_result_writer *w)
{
	const struct nm_result *result = w->result;
	struct context_row *rows = malloc((result->context_attr_count + 1) * sizeof *rows);

	for (uint32_t i = 0; rows && i < result->context_attr_count; i++) {
		const struct nm_result_context_attr *c = &result->context_attrs[i];

		rows[i] = (struct context_row){c->context, result->attrs[c->attr].thread,
					       w->index.place_of[c->attr], i};
	}
	if (rows)
		qsort(rows, result->context_attr_count, sizeof *rows, compare_context_rows);
	return rows;
}

static void store_context_attr(struct nm_result_writer *w, unsigned level, const struct context_row *at,
			       const struct nm_counts *sum)
{
	static const struct nm_counts none;
	sqlite3_stmt *insert;

	if (!memcmp(sum, &none, sizeof none))
		return;
	insert = row_of_level(w, NM_INSERT_CONTEXT_CELL, level);
	number(insert, 2, at->context);
	number(insert, 3, at->thread);
	number(insert, 4, place_id(w, at->place));
	counts(insert, 5, sum);
	run(w, insert);
}

/* Several attribution keys may share a place: adds them up. */
static void store_context_attrs(struct nm_result_writer *w, unsigned level, const struct context_row *rows)
{
	size_t n = w->result->context_attr_count, i = 0;

	while (i < n && !w->status) {
		const struct context_row *first = &rows[i];
		struct nm_counts sum = {0};

		for (; i < n && !compare_context_rows(first, &rows[i]); i++)
			add_counts(&sum, &w->result->levels[level].context_counts[rows[i].attr]);
		store_context_attr(w, level, first, &sum);
	}
}

/* Callers come before what they call, so one pass backwards adds up. */
static void store_context_sums(struct nm_result_writer *w, unsigned level)
{
	const struct nm_result *result = w->result;
	struct nm_counts *sums = calloc(result->context_count + 1, sizeof *sums);

	if (!sums) {
		w->status = SQLITE_NOMEM;
		return;
	}
	for (size_t i = 0; i < result->context_attr_count; i++)
		add_counts(&sums[result->context_attrs[i].context], &result->levels[level].context_counts[i]);
	for (size_t i = result->context_count; i-- > 1;)
		add_counts(&sums[result->contexts[i].parent], &sums[i]);
	for (size_t i = 0; i < result->context_count && !w->status; i++) {
		sqlite3_stmt *insert = row_of_level(w, NM_INSERT_CONTEXT_SUM, level);

		number(insert, 2, i);
		counts(insert, 3, &sums[i]);
		run(w, insert);
	}
	free(sums);
}

static void store_call_chains(struct nm_result_writer *w)
{
	struct context_row *rows;
	sqlite3_int64 *users;

	if (!w->result->context_count)
		return;
	rows = sorted_context_rows(w);
	users = calloc(w->result->context_count, sizeof *users);
	if (!rows || !users)
		w->status = SQLITE_NOMEM;
	else
		store_contexts(w, users);
	if (!w->status)
		store_buckets(w);
	for (unsigned level = 0; level < w->result->machine.count && !w->status; level++) {
		store_context_attrs(w, level, rows);
		store_context_sums(w, level);
	}
	free(users);
	free(rows);
}

/* Everything, in the order of the numbers. */
static void store_all(struct nm_result_writer *w)
{
	store_process(w);
	store_levels(w);
	store_objects(w);
	store_places(w);
	for (unsigned level = 0; level < w->result->machine.count; level++) {
		store_attrs(w, level);
		store_extras(w, level);
		store_evictions(w, level);
	}
	store_patterns(w);
	store_walks(w);
	store_figures(w);
	store_call_chains(w);
	if (!w->status)
		w->status = nm_store_fields(w);
	if (!w->status)
		w->status = nm_store_instructions(w);
	if (!w->status)
		w->status = nm_store_events(w);
	if (!w->status)
		w->status = nm_store_distances(w);
	if (!w->status)
		w->status = nm_store_estimates(w);
	if (!w->status)
		w->status = nm_store_sharing(w);
	if (!w->status)
		w->status = nm_store_schedules(w);
}

int nm_store_result(struct nm_store *store, const struct nm_result *result)
{
	struct nm_result_writer w = {.store = store,
				     .result = result,
				     .process = ++store->processes,
				     .objects = store->objects + 1,
				     .places = store->places + 1};

	if (nm_place_index_make(&w.index, result))
		return SQLITE_NOMEM;
	store->objects += w.index.objects;
	store_all(&w);
	nm_place_index_done(&w.index);
	return w.status;
}
