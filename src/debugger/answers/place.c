/* SPDX-License-Identifier: MIT
 *
 * place.c - levels, references and lines as JSON.
 */
#include <assert.h>
#include <string.h>

#include "answers.h"

json_t *nm_text_json(const char *text)
{
	json_t *value = text ? json_string(text) : NULL;

	if (value || !text)
		return value ? value : json_null();
	return json_stringn_nocheck("?", 1);
}

unsigned nm_cache_of_level(const struct nm_machine *m, unsigned level)
{
	unsigned cache = 0;

	for (unsigned i = 1; i <= level; i++)
		cache += !nm_machine_same(m->levels[i - 1].name, m->levels[i].name);
	return cache;
}

const char *nm_short_level(const struct nm_machine *m, unsigned level)
{
	const char *slash = strrchr(m->levels[level].name, '/');

	return slash ? slash + 1 : m->levels[level].name;
}

int nm_question_level(const struct nm_question *q, unsigned *ret, struct nm_error *err)
{
	const struct nm_machine *m = &q->debugger->checkpoints->machine;
	const char *name = nm_question_text(q, "level");
	int64_t cache;
	int status = nm_question_number(q, "cache", 0, &cache, err);

	for (unsigned i = 0; i < m->count && !status; i++) {
		if (nm_cache_of_level(m, i) != cache)
			continue;
		if (name ? !strcmp(name, nm_short_level(m, i)) || !strcmp(name, m->levels[i].name)
			 : m->levels[i].side != NM_SIDE_INSTRUCTION && !m->levels[i].pages) {
			*ret = i;
			return 0;
		}
	}
	return status ? status : nm_fail(err, NM_EINVAL, "there is no such cache or level");
}

static const struct nm_debug_site *site_at(struct nm_debugger *d, uint64_t position)
{
	return &d->checkpoints->program.sites.at[nm_reference_at(d->checkpoints->reader, position - 1)->attr];
}

json_t *nm_place_of(struct nm_debugger *d, uint64_t position)
{
	const struct nm_debug_site *site;

	if (!position)
		return json_null();
	site = site_at(d, position);
	return json_pack("{s:I, s:o, s:I, s:o, s:o}", "position", (json_int_t)position, "file",
			 nm_text_json(site->file), "line", (json_int_t)site->line, "function",
			 nm_text_json(site->function), "object",
			 nm_text_json(nm_debug_object_name(&d->checkpoints->program, site->object)));
}

json_t *nm_object_json(const struct nm_debugger *d, uint32_t attr)
{
	assert(attr < d->checkpoints->program.sites.count);
	return nm_text_json(
	    nm_debug_object_name(&d->checkpoints->program, d->checkpoints->program.sites.at[attr].object));
}

/* ---- loops around a reference ---- */

static int note_step(void *self, const struct nm_nest_step *step, struct nm_error *err)
{
	json_t *loops = self;

	for (unsigned i = 0; i < step->loops; i++)
		if (json_object_set_new(loops, step->index[i], json_integer(step->value[i])))
			return nm_fail_memory(err);
	return 0;
}

static json_t *loops_json(struct nm_debugger *d, uint64_t position)
{
	const uint64_t number = d->checkpoints->program.first + position - 1;
	json_t *loops = json_object();
	struct nm_error err;

	if (d->checkpoints->program.nest && loops)
		nm_nest_walk(d->checkpoints->program.nest, number, number,
			     &(struct nm_nest_visitor){note_step, loops}, &err);
	return loops;
}

json_t *nm_reference_json(struct nm_debugger *d, uint64_t position)
{
	const struct nm_debug_site *site;
	const struct nm_reference *r;
	int64_t element;

	if (!position)
		return json_null();
	site = site_at(d, position);
	r = nm_reference_at(d->checkpoints->reader, position - 1);
	element = nm_debug_element(&d->checkpoints->program, r);
	return json_pack("{s:I, s:I, s:s, s:I, s:I, s:b, s:o, s:I, s:o, s:o, s:o, s:o}", "thread",
			 (json_int_t)site->thread, "core", (json_int_t)site->core, "kind",
			 r->is_write ? "write" : "read", "address", (json_int_t)r->address, "size",
			 (json_int_t)r->size, "measured", !r->uncounted, "file", nm_text_json(site->file),
			 "line", (json_int_t)site->line, "function", nm_text_json(site->function), "object",
			 nm_text_json(nm_debug_object_name(&d->checkpoints->program, site->object)),
			 "array_index", element < 0 ? json_null() : json_integer(element), "loops",
			 loops_json(d, position));
}

json_t *nm_departed_json(struct nm_debugger *d, const struct nm_effect *left)
{
	return json_pack("{s:I, s:o, s:b, s:s, s:o, s:o}", "line", (json_int_t)left->line, "object",
			 nm_object_json(d, left->attr), "dirty", left->dirty, "how",
			 nm_event_names[left->kind], "loaded_at", nm_place_of(d, left->history.loaded_at),
			 "last_used", nm_place_of(d, left->history.last_used));
}
