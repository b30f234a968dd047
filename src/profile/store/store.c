/* SPDX-License-Identifier: MIT
 *
 * store.c - writes one result into the tables (tables.sql), rows in the order of their keys.
 *
 * A prepared INSERT per table, all in the writer's one transaction; rows that are appended in key order keep
 * SQLite on its cheapest path. Evictions, the most frequent rows, have no key, which makes them twice as fast
 * to insert.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"
#include "prefetch.h"
#include "row.h"

static const char *const insert_sql[NM_INSERTS] = {
    [NM_INSERT_PROCESS] = "INSERT INTO process VALUES(?,?,?,?,?,?,?,?,?)",
    [NM_INSERT_MODULE] = "INSERT OR IGNORE INTO module VALUES(?,?,?,?)",
    [NM_INSERT_UNDEBUGGED] = "INSERT OR IGNORE INTO module_undebugged VALUES(?,?)",
    [NM_INSERT_THREAD] = "INSERT INTO thread VALUES(?,?,?)",
    [NM_INSERT_LEVEL] = "INSERT INTO level VALUES(?,?,?,?,?,?,?,?,?," NM_COUNT_MARKS ",?,?,?,?,?,?)",
    [NM_INSERT_OBJECT] = "INSERT INTO object VALUES(?,?,?,?,?,?,?,?,?,?)",
    [NM_INSERT_PLACE] = "INSERT INTO place VALUES(?,?,?,?,?,?)",
    [NM_INSERT_CELL] = "INSERT INTO cell VALUES(?,?,?," NM_COUNT_MARKS ")",
    [NM_INSERT_EXTRA] = "INSERT INTO extra VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [NM_INSERT_EVICTION] = "INSERT INTO eviction VALUES(?,?,?,?,?)",
    [NM_INSERT_TOP] = "INSERT INTO top_eviction VALUES(?,?,?,?,?)",
    [NM_INSERT_PATTERN] = "INSERT INTO pattern VALUES(?,?,?,?,?,?)",
    [NM_INSERT_WALK] = "INSERT INTO walk VALUES(?,?,?,?,?)",
    [NM_INSERT_CONTEXT] = "INSERT INTO context VALUES(?,?,?,?,?,?,?)",
    [NM_INSERT_CONTEXT_CELL] = "INSERT INTO context_cell VALUES(?,?,?,?," NM_COUNT_MARKS ")",
    [NM_INSERT_CONTEXT_SUM] = "INSERT INTO context_sum VALUES(?,?," NM_COUNT_MARKS ")",
    [NM_INSERT_BUCKET] = "INSERT INTO bucket VALUES(?,?)",
    [NM_INSERT_FIGURE] = "INSERT INTO pass_figure VALUES(?,?,?,?,?)",
    [NM_INSERT_REGION] = "INSERT INTO region VALUES(?,?,?,?,?,?)",
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
	for (size_t k = 0; k < store->of_machine.count; k++)
		free(store->of_machine.at[k].place_of);
	nm_vec_free(&store->of_machine);
	memset(store, 0, sizeof *store);
}

static void store_process(struct nm_result_writer *w)
{
	const struct nm_result *result = w->result;
	sqlite3_stmt *insert = nm_row_of_process(w, NM_INSERT_PROCESS);
	size_t i;

	nm_row_text(insert, 2, result->process ? result->process : "?"); /* made unique at the end */
	nm_row_text(insert, 3, result->path);
	nm_row_text(insert, 4, result->command);
	sqlite3_bind_int(insert, 5, result->exit_status);
	nm_row_number(insert, 6, result->instructions);
	nm_row_number(insert, 7, result->references);
	nm_row_number(insert, 8, result->lost_words);
	nm_row_number(insert, 9, result->repeated);
	nm_row_run(w, insert);
	for (i = 0; i < result->module_count && !w->status; i++) {
		insert = nm_row_of_process(w, NM_INSERT_MODULE);
		nm_row_text(insert, 2, result->modules[i].path);
		nm_row_text(insert, 3, result->modules[i].name);
		nm_row_text(insert, 4, result->modules[i].build_id);
		nm_row_run(w, insert);
	}
	for (i = 0; i < result->undebugged_count && !w->status; i++) {
		insert = nm_row_of_process(w, NM_INSERT_UNDEBUGGED);
		nm_row_text(insert, 2, result->undebugged[i]);
		nm_row_run(w, insert);
	}
	for (i = 0; i < result->thread_count && !w->status; i++) {
		insert = nm_row_of_process(w, NM_INSERT_THREAD);
		nm_row_number(insert, 2, result->threads[i].thread);
		nm_row_number(insert, 3, result->threads[i].core);
		nm_row_run(w, insert);
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
		sqlite3_stmt *insert = nm_row_of_level(w, NM_INSERT_LEVEL, i);
		char pages[16];

		nm_row_number(insert, 2, (uint64_t)w->process);
		nm_row_text(insert, 3, level->name);
		nm_row_number(insert, 4, level->size);
		nm_row_number(insert, 5, level->ways);
		nm_row_number(insert, 6, level->line);
		nm_row_number(insert, 7, level->sets);
		nm_row_text(insert, 8, *level->plugin ? "plugin" : nm_level_policy(level)->name);
		nm_row_text(insert, 9, sides[level->side]);
		nm_row_counts(insert, 10, &w->result->levels[i].total);
		nm_pages_format(pages, sizeof pages, level->pages);
		nm_row_text(insert, 10 + NM_COUNTS, *pages ? pages : NULL);
		nm_row_text(insert, 11 + NM_COUNTS, nm_huge_pages_name(machine, i));
		if (level->sector)
			nm_row_number(insert, 12 + NM_COUNTS, level->sector);
		else
			sqlite3_bind_null(insert, 12 + NM_COUNTS);
		nm_row_text(insert, 13 + NM_COUNTS,
			    level->prefetch ? nm_prefetchers[level->prefetch]->name : NULL);
		nm_row_text(insert, 14 + NM_COUNTS, nm_machine_protocol(machine, i));
		nm_row_number(insert, 15 + NM_COUNTS,
			      machine->cores > 1 && nm_machine_is_last(machine, i) ? machine->nodes : 0);
		nm_row_run(w, insert);
	}
}

static void store_objects(struct nm_result_writer *w)
{
	const struct nm_result *result = w->result;
	uint32_t i;

	for (i = 0; i < w->index.objects && !w->status; i++) {
		const struct nm_result_object *object = &result->objects[w->index.object_first[i]];
		sqlite3_stmt *insert = nm_row(w, NM_INSERT_OBJECT);

		nm_row_number(insert, 1, (uint64_t)w->objects + i);
		nm_row_number(insert, 2, (uint64_t)w->process);
		nm_row_id(insert, 3, nm_row_text_id(w, object->name));
		nm_row_text(insert, 4, nm_object_kind_name(object->kind));
		nm_row_id(insert, 5, nm_row_text_id(w, object->type));
		nm_row_number(insert, 6, object->bytes);
		nm_row_number(insert, 7, object->blocks);
		nm_row_number(insert, 8, object->largest);
		nm_row_id(insert, 9, nm_row_text_id(w, object->allocated_at));
		nm_row_number(insert, 10, object->call);
		nm_row_run(w, insert);
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
			w->status = note_file(w->store, site->user_file, site->user_md5, site->user_built);
	}
	return ids;
}

/* Whether a region is the copy for a phase of the parent's that the forked child does not have. */
static int is_of_parent(const struct nm_result *r, const struct nm_result_region *region)
{
	return region->phase && region->phase >= r->phase_count;
}

/* The id of the text that names a phase that is counted by; 0: none. */
static sqlite3_int64 name_phase(struct nm_result_writer *w, uint32_t phase)
{
	char *name;
	sqlite3_int64 id;

	if (!w->result->by_phase || phase >= w->result->phase_count)
		return 0;
	name = nm_result_phase_name(w->result, phase);
	if (!name)
		w->status = SQLITE_NOMEM;
	id = nm_row_text_id(w, name);
	free(name);
	return id;
}

static void store_regions(struct nm_result_writer *w)
{
	for (size_t i = 0; i < w->result->region_count && !w->status; i++) {
		const struct nm_result_region *region = &w->result->regions[i];
		sqlite3_stmt *insert;

		if (is_of_parent(w->result, region))
			continue;
		insert = nm_row_of_process(w, NM_INSERT_REGION);
		nm_row_number(insert, 2, i);
		nm_row_id(insert, 3, nm_row_text_id(w, region->name));
		nm_row_number(insert, 4, region->entries);
		nm_row_number(insert, 5, region->instructions);
		nm_row_id(insert, 6, name_phase(w, region->phase));
		nm_row_run(w, insert);
	}
}

static void store_places(struct nm_result_writer *w)
{
	sqlite3_int64 *sites = store_sites(w), phases[NM_RESULT_PHASES];

	for (uint32_t i = 0; i < NM_RESULT_PHASES; i++)
		phases[i] = name_phase(w, i);

	for (uint32_t i = 0; i < w->index.place_count && !w->status; i++) {
		const struct nm_stored_location *place = &w->index.places[i];
		uint32_t object = w->index.object_first[place->object];
		sqlite3_stmt *insert = nm_row(w, NM_INSERT_PLACE);

		nm_row_number(insert, 1, nm_row_place(w, i));
		nm_row_number(insert, 2, (uint64_t)w->process);
		nm_row_number(insert, 3, (uint64_t)sites[place->site]);
		nm_row_number(insert, 4, (uint64_t)nm_row_text_id(w, w->result->objects[object].name));
		nm_row_id(insert, 5,
			  place->region ? nm_row_text_id(w, w->result->regions[place->region].name) : 0);
		nm_row_id(insert, 6,
			  w->result->by_phase ? phases[w->result->regions[place->region].phase] : 0);
		nm_row_run(w, insert);
	}
	w->store->places += w->index.place_count;
	free(sites);
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
			nm_counts_sum(&sum, &result->levels[level].counts[next]);
		}
		if (!memcmp(&sum, &none, sizeof sum))
			continue;
		insert = nm_row_of_level(w, NM_INSERT_CELL, level);
		nm_row_number(insert, 2, thread);
		nm_row_number(insert, 3, nm_row_place(w, place));
		nm_row_counts(insert, 4, &sum);
		nm_row_run(w, insert);
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
		insert = nm_row_of_level(w, NM_INSERT_EXTRA, level);
		nm_row_number(insert, 2, thread);
		nm_row_number(insert, 3, nm_row_place(w, place));
		nm_row_number(insert, 4, sum.sector_misses);
		nm_row_number(insert, 5, sum.prefetches);
		nm_row_number(insert, 6, sum.useful);
		nm_row_number(insert, 7, sum.late_evicted);
		nm_row_number(insert, 8, sum.pollution);
		nm_row_number(insert, 9, sum.coherence);
		nm_row_number(insert, 10, sum.false_sharing);
		nm_row_number(insert, 11, sum.false_first);
		nm_row_number(insert, 12, sum.false_words);
		nm_row_number(insert, 13, sum.unneeded);
		nm_row_number(insert, 14, sum.remote);
		nm_row_number(insert, 15, sum.redundant);
		nm_row_number(insert, 16, sum.late);
		nm_row_number(insert, 17, sum.non_temporal);
		nm_row_run(w, insert);
	}
}

static void store_eviction(struct nm_result_writer *w, enum nm_insert table, unsigned level,
			   const struct nm_place_eviction *eviction)
{
	sqlite3_stmt *insert = nm_row_of_level(w, table, level);

	nm_row_number(insert, 2, nm_row_place(w, eviction->victim));
	nm_row_number(insert, 3, nm_row_place(w, eviction->evictor));
	nm_row_number(insert, 4, eviction->count);
	nm_row_number(insert, 5, eviction->prefetches);
	nm_row_run(w, insert);
}

/* Evictions that are sorted by victim. */
static void store_eviction_list(struct nm_result_writer *w, unsigned level,
				const struct nm_place_eviction *list, size_t n)
{
	struct nm_place_eviction top = {0};

	for (size_t i = 0; i < n && !w->status; i++) {
		store_eviction(w, NM_INSERT_EVICTION, level, &list[i]);
		if (list[i].count > top.count || (i && list[i].victim != list[i - 1].victim))
			top = list[i];
		if (i + 1 == n || list[i + 1].victim != list[i].victim)
			store_eviction(w, NM_INSERT_TOP, level, &top);
	}
}

static void store_evictions(struct nm_result_writer *w, unsigned level)
{
	struct nm_place_eviction *list = NULL;
	size_t n = 0;

	if (!w->status)
		w->status = nm_place_evictions(&w->result->levels[level], &w->index, &list, &n);
	store_eviction_list(w, level, list, n);
	free(list);
}

static void store_figures(struct nm_result_writer *w)
{
	const struct nm_result *result = w->result;

	for (size_t i = 0; i < result->figure_count && !w->status; i++) {
		const struct nm_result_figure *f = &result->figures[i];
		sqlite3_int64 object = nm_row_text_id(w, result->objects[f->object].name);
		sqlite3_stmt *insert = nm_row_of_process(w, NM_INSERT_FIGURE);

		nm_row_text(insert, 2, f->pass);
		nm_row_id(insert, 3, object);
		nm_row_text(insert, 4, f->name);
		nm_row_number(insert, 5, f->value);
		nm_row_run(w, insert);
	}
}

static void store_patterns(struct nm_result_writer *w)
{
	struct nm_place_pattern *list = NULL;
	size_t count = 0;

	if (!w->status)
		w->status = nm_place_patterns(w->result, &w->index, &list, &count);
	for (size_t i = 0; i < count && !w->status; i++) {
		sqlite3_stmt *insert = nm_row_of_process(w, NM_INSERT_PATTERN);

		nm_row_number(insert, 2, nm_row_place(w, list[i].place));
		nm_row_number(insert, 3, list[i].sampled);
		nm_row_number(insert, 4, (uint64_t)list[i].stride.bytes);
		nm_row_number(insert, 5, list[i].stride.count);
		nm_row_number(insert, 6, list[i].halved);
		nm_row_run(w, insert);
	}
	free(list);
}

static void store_walks(struct nm_result_writer *w)
{
	struct nm_walk *walks = NULL;

	if (!w->status && w->result->walks)
		w->status = nm_place_walks(w->result, &w->index, &walks);
	for (uint32_t i = 0; walks && i < w->index.place_count && !w->status; i++) {
		sqlite3_stmt *insert = walks[i].loads ? nm_row_of_process(w, NM_INSERT_WALK) : NULL;

		if (!insert)
			continue;
		nm_row_number(insert, 2, nm_row_place(w, i));
		nm_row_number(insert, 3, walks[i].loads);
		nm_row_number(insert, 4, (uint64_t)walks[i].step);
		nm_row_number(insert, 5, walks[i].followed);
		nm_row_run(w, insert);
	}
	free(walks);
}

/* Everything, in the order of the numbers. */
static void store_all(struct nm_result_writer *w)
{
	store_process(w);
	store_levels(w);
	store_objects(w);
	store_regions(w);
	store_places(w);
	for (unsigned level = 0; level < w->result->machine.count; level++) {
		store_attrs(w, level);
		store_extras(w, level);
		store_evictions(w, level);
	}
	store_patterns(w);
	store_walks(w);
	store_figures(w);
	nm_store_contexts(w);
	nm_store_timeline(w);
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
		w->status = nm_store_samples(w);
	if (!w->status)
		w->status = nm_store_sharing(w);
	if (!w->status)
		w->status = nm_store_schedules(w);
	if (!w->status)
		w->status = nm_store_relocations(w);
	if (!w->status)
		w->status = nm_store_pmu(w);
}

static void keep_places(struct nm_result_writer *w)
{
	const size_t count = w->result->attr_count;
	struct nm_stored_process kept = {malloc((count + 1) * sizeof *kept.place_of),
					 (uint32_t)nm_row_place(w, w->index.place_count)};

	for (size_t i = 0; kept.place_of && i < count; i++)
		kept.place_of[i] = (uint32_t)nm_row_place(w, w->index.place_of[i]);
	if (!kept.place_of || nm_vec_push(&w->store->of_machine, kept)) {
		free(kept.place_of);
		w->status = SQLITE_NOMEM;
	}
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
	if (result->is_of_one_machine && !w.status)
		keep_places(&w);
	nm_place_index_done(&w.index);
	return w.status;
}

/* ---- one machine of several processes ---- */

/* The places of the file by attribution of the machine; 0: unknown. */
static uint32_t *machine_places(const struct nm_store *store, const struct nm_result *machine,
				const struct nm_result_owner *owners)
{
	uint32_t *places = calloc(machine->attr_count + 1, sizeof *places);

	for (size_t i = 1; places && i < machine->attr_count; i++)
		if (owners[i].process < store->of_machine.count)
			places[i] = store->of_machine.at[owners[i].process].place_of[owners[i].attr];
	return places;
}

/* An eviction is of a level of the victim's process. */
static void store_machine_evictions(struct nm_result_writer *w, unsigned level)
{
	struct nm_place_eviction *list = NULL;
	size_t n = 0, from = 0;

	if (!w->status)
		w->status = nm_place_evictions(&w->result->levels[level], &w->index, &list, &n);
	while (from < n && !list[from].victim)
		from++;
	for (size_t p = 0; p < w->store->of_machine.count; p++) {
		size_t end = from;

		while (end < n && list[end].victim < w->store->of_machine.at[p].end)
			end++;
		w->process = (sqlite3_int64)p + 1;
		store_eviction_list(w, level, list + from, end - from);
		from = end;
	}
	free(list);
}

/* What cores contend for is of a level of the first process. */
int nm_store_machine(struct nm_store *store, const struct nm_result *machine,
		     const struct nm_result_owner *owners)
{
	struct nm_result_writer w = {.store = store, .result = machine};

	assert(store->processes > 0);
	w.index.place_of = machine_places(store, machine, owners);
	if (!w.index.place_of)
		return SQLITE_NOMEM;
	for (unsigned level = 0; level < machine->machine.count; level++)
		store_machine_evictions(&w, level);
	w.process = 1;
	if (!w.status)
		w.status = nm_store_sharing(&w);
	free(w.index.place_of);
	return w.status;
}
