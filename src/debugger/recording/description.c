/* SPDX-License-Identifier: MIT
 *
 * description.c - the description of the whole run in a recording: the session, keys, objects and levels,
 * and the misses of each bin of the run.
 *
 * Tables are stored by column, and texts by number in a list of texts, which compresses well.
 */
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "map.h"
#include "recording_priv.h"

struct texts {
	struct nm_map number_of; /* by address: texts are interned */
	json_t *list;
};

/* The number of a text; null for none. */
static json_t *number_of(struct texts *t, const char *text)
{
	uint64_t number;

	if (!text)
		return json_null();
	number = nm_map_get(&t->number_of, (uintptr_t)text, UINT64_MAX);
	if (number == UINT64_MAX) {
		number = json_array_size(t->list);
		nm_map_put(&t->number_of, (uintptr_t)text, number);
		json_array_append_new(t->list, nm_text_json(text));
	}
	return json_integer((json_int_t)number);
}

static json_t *keys_json(const struct nm_debug_program *p, struct texts *texts)
{
	static const char *const names[] = {"function", "file",    "line", "object",   "thread",
					    "core",     "element", "row",  "uncounted"};
	enum { COLUMNS = sizeof names / sizeof *names };
	json_t *keys = json_object(), *column[COLUMNS];

	for (unsigned i = 0; i < COLUMNS; i++)
		json_object_set_new(keys, names[i], column[i] = json_array());
	for (size_t i = 0; i < p->sites.count; i++) {
		const struct nm_debug_site *s = &p->sites.at[i];
		json_t *const values[COLUMNS] = {number_of(texts, s->function),
						 number_of(texts, s->file),
						 json_integer(s->line),
						 s->object == NM_NO_OBJECT || s->object >= p->objects.count
						     ? json_null()
						     : json_integer(s->object),
						 json_integer(s->thread),
						 json_integer(s->core),
						 json_integer(s->element),
						 json_integer(s->row),
						 json_integer(s->is_uncounted != 0)};

		for (unsigned k = 0; k < COLUMNS; k++)
			json_array_append_new(column[k], values[k]);
	}
	return keys;
}

static json_t *scattered_json(const struct nm_debug_program *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->objects.count; i++)
		if (p->objects.at[i].is_scattered)
			json_array_append_new(list, json_integer((json_int_t)i));
	return list;
}

static json_t *levels_json(const struct nm_debugger *d)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < d->timeline->machine.count; i++) {
		const struct nm_level_spec *spec = &d->timeline->machine.levels[i];
		const struct nm_cache *cache = d->timeline->caches->units[0][i].cache;

		json_array_append_new(
		    list,
		    json_pack("{s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:b, s:I}", "cache",
			      (json_int_t)nm_cache_of_level(&d->timeline->machine, i), "level",
			      nm_short_level(&d->timeline->machine, i), "name", spec->name, "sets",
			      (json_int_t)nm_caches_sets(d->timeline->caches, i), "ways",
			      (json_int_t)nm_caches_ways(d->timeline->caches, i), "line",
			      (json_int_t)spec->line, "unit", (json_int_t)nm_level_unit(spec), "data",
			      spec->side != NM_SIDE_INSTRUCTION && !spec->pages, "first", cache->first,
			      "dirties", cache->first && !spec->write_through, "keeps", !spec->write_through,
			      "private",
			      d->timeline->machine.cores > 1 && nm_machine_private(&d->timeline->machine, i),
			      "next", (json_int_t)(cache->next ? cache->next->level : -1)));
	}
	return list;
}

/* The misses in each bin. */
static json_t *misses_json(const struct nm_shared_record *r)
{
	json_t *list = json_array();
	uint64_t before = 0;

	for (uint64_t bin = 1; bin <= r->bins; bin++) {
		const uint64_t until = nm_record_misses(r, bin);

		json_array_append_new(list, json_integer((json_int_t)(until - before)));
		before = until;
	}
	return list;
}

int nm_recording_describe(struct nm_debugger *d, char **ret_text, struct nm_error *err)
{
	const struct nm_question question = {.debugger = d};
	struct texts texts = {.list = json_array()};
	json_t *session = NULL, *keys = keys_json(&d->timeline->program, &texts), *all;

	nm_answer_session(&question, &session, err);
	all = json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "session", session, "texts", texts.list,
			"keys", keys, "scattered", scattered_json(&d->timeline->program), "levels",
			levels_json(d), "bin", (json_int_t)(1ull << d->timeline->record.bin_shift), "misses",
			misses_json(&d->timeline->record));
	*ret_text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	nm_map_done(&texts.number_of);
	return *ret_text ? 0 : nm_fail_memory(err);
}
