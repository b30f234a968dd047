/* SPDX-License-Identifier: MIT
 *
 * Tables are written by column, and texts by number in a list of texts, which compresses well. Addresses are
 * texts in hexadecimal, since a number of JavaScript has 53 bits.
 */
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "map.h"
#include "parts.h"

enum { PART_BLOCKS = 64, MOST_FILE = 64 << 20 };

struct nm_part_bytes nm_vec(uint8_t);

static int append_bytes(struct nm_part_bytes *to, const void *bytes, size_t count)
{
	if (nm_vec_reserve(to, count))
		return NM_ENOMEM;
	memcpy(to->at + to->count, bytes, count);
	to->count += count;
	return 0;
}

/* ---- names of a trace ---- */

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

static json_t *address_json(uint64_t address) { return json_sprintf("0x%llx", (unsigned long long)address); }

static json_t *keys_json(const struct nm_debug_program *p, struct texts *texts)
{
	static const char *const names[] = {"function", "file", "line",      "object", "thread",
					    "core",     "row",  "uncounted", "site"};
	enum { COLUMNS = sizeof names / sizeof *names };
	json_t *keys = json_object(), *column[COLUMNS];

	for (unsigned i = 0; i < COLUMNS; i++)
		json_object_set_new(keys, names[i], column[i] = json_array());
	for (size_t i = 0; i < p->sites.count; i++) {
		const struct nm_debug_site *s = &p->sites.at[i];
		json_t *const values[COLUMNS] = {
		    number_of(texts, s->function),
		    number_of(texts, s->file),
		    json_integer(s->line),
		    json_integer(s->object),
		    json_integer(s->thread),
		    json_integer(s->core),
		    json_integer(s->row),
		    json_integer(s->is_uncounted != 0),
		    json_integer(i < p->instructions.count ? p->instructions.at[i] : 0)};

		for (unsigned k = 0; k < COLUMNS; k++)
			json_array_append_new(column[k], values[k]);
	}
	return keys;
}

static json_t *objects_json(const struct nm_debug_program *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->objects.count; i++) {
		const struct nm_debug_object *o = &p->objects.at[i];

		json_array_append_new(list,
				      json_pack("[o, o, o, b]", nm_text_json(o->name), address_json(o->low),
						address_json(o->end), o->is_scattered));
	}
	return list;
}

/* [position, [low, end], ...] of each change. */
static json_t *memory_json(const struct nm_debug_program *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->memory.count; i++) {
		const struct nm_memory_change *change = &p->memory.at[i];
		json_t *one = json_array();

		json_array_append_new(one, json_integer((json_int_t)change->position));
		for (size_t k = 0; k < change->count; k++) {
			json_array_append_new(one, address_json(change->ranges[k].low));
			json_array_append_new(one, address_json(change->ranges[k].end));
		}
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *program_json(const struct nm_debug_program *p)
{
	struct texts texts = {.list = json_array()};
	json_t *keys = keys_json(p, &texts);
	json_t *program =
	    json_pack("{s:o, s:o, s:o, s:o, s:I, s:b, s:b}", "texts", texts.list, "keys", keys, "objects",
		      objects_json(p), "memory", memory_json(p), "first", (json_int_t)p->first,
		      "has_uncounted", p->has_uncounted, "has_instructions", p->instructions.count > 0);

	nm_map_done(&texts.number_of);
	return program;
}

/* ---- the run ---- */

static json_t *machine_json(const struct nm_machine *m)
{
	const size_t room = nm_machine_format(m, NULL, 0) + 1;
	char *spec = malloc(room);
	json_t *core_of = json_array(), *machine;

	if (spec)
		nm_machine_format(m, spec, room);
	for (unsigned i = 0; i < NM_MAPPED_THREADS; i++)
		json_array_append_new(core_of, json_integer(m->core_of[i]));
	machine = json_pack("{s:s, s:s, s:o, s:I, s:o}", "name", m->name, "description", m->description,
			    "spec", nm_text_json(spec), "cores", (json_int_t)m->cores, "core_of", core_of);
	free(spec);
	return machine;
}

static json_t *run_json(const struct nm_debugger *d)
{
	const struct nm_debugger_source *s = &d->source;
	const struct nm_debug_program *p = &d->checkpoints->program;
	json_t *settings = json_array();

	for (size_t i = 0; s->settings && s->settings[i]; i++)
		json_array_append_new(settings, nm_text_json(s->settings[i]));
	return json_pack("{s:o, s:o, s:I, s:I, s:o, s:o}", "path", nm_text_json(s->path), "settings",
			 settings, "from", (json_int_t)s->from, "to", (json_int_t)s->to, "machine",
			 machine_json(&d->checkpoints->machine), "program",
			 p->nest ? json_null() : program_json(p));
}

static int put_run(const struct nm_debugger *d, struct nm_part_sink *sink, struct nm_error *err)
{
	json_t *run = run_json(d);
	char *text = run ? json_dumps(run, JSON_COMPACT) : NULL;
	const struct nm_program_part part = {.kind = "run", .bytes = text, .size = text ? strlen(text) : 0};
	int fits = 1, status = text ? sink->put(sink, &part, &fits, err) : nm_fail_memory(err);

	free(text);
	json_decref(run);
	return !status && !fits ? nm_fail(err, NM_ENOSPC, "there is no room for the names of the run")
				: status;
}

/* ---- files of a nest, references of a trace ---- */

/* The name, NUL and the contents. */
static int put_file(struct nm_part_sink *sink, const char *name, const char *path, struct nm_error *err)
{
	struct nm_part_bytes all = {0};
	char *text = NULL;
	size_t bytes;
	int fits = 1, status = nm_nest_read_file(path, MOST_FILE, &text, &bytes, err);

	if (!status && (append_bytes(&all, name, strlen(name) + 1) || append_bytes(&all, text, bytes)))
		status = nm_fail_memory(err);
	if (!status)
		status = sink->put(
		    sink, &(struct nm_program_part){.kind = "file", .bytes = all.at, .size = all.count},
		    &fits, err);
	free(text);
	nm_vec_free(&all);
	return !status && !fits ? nm_fail(err, NM_ENOSPC, "there is no room for %s", path) : status;
}

/* A file of values is named as a nest at the source's path asks for it. */
static int put_files(const struct nm_debugger *d, struct nm_part_sink *sink, struct nm_error *err)
{
	const char *path = d->source.path, *slash = strrchr(path, '/');
	struct nm_nest_file file;
	int status = put_file(sink, path, path, err);

	for (size_t i = 0; !status && nm_nest_file_at(d->checkpoints->program.nest, i, &file); i++) {
		const int folder = *file.name == '/' || !slash ? 0 : (int)(slash + 1 - path);
		char *name;

		if (asprintf(&name, "%.*s%s", folder, path, file.name) < 0)
			return nm_fail_memory(err);
		status = put_file(sink, name, file.path, err);
		free(name);
	}
	return status;
}

/* Blocks [from, to): of each its length, four bytes with the least first, and its bytes. */
static int put_blocks(struct nm_reference_reader *reader, struct nm_part_sink *sink, uint64_t from,
		      uint64_t to, uint64_t count, int *ret_fits, struct nm_error *err)
{
	struct nm_part_bytes all = {0};
	struct nm_program_part part = {.kind = "blocks", .count = count};
	int status = 0;

	for (uint64_t i = from; i < to && !status; i++) {
		size_t bytes;
		const uint8_t *block = nm_reference_reader_block(reader, i, &bytes);
		const uint8_t length[] = {(uint8_t)bytes, (uint8_t)(bytes >> 8), (uint8_t)(bytes >> 16),
					  (uint8_t)(bytes >> 24)};

		if (append_bytes(&all, length, sizeof length) || append_bytes(&all, block, bytes))
			status = nm_fail_memory(err);
	}
	part.bytes = all.at;
	part.size = all.count;
	if (!status)
		status = sink->put(sink, &part, ret_fits, err);
	nm_vec_free(&all);
	return status;
}

static int put_references(const struct nm_debugger *d, struct nm_part_sink *sink, uint64_t *ret_total,
			  struct nm_error *err)
{
	const struct nm_references *r = &d->checkpoints->program.references;
	struct nm_reference_reader *reader;
	int fits = 1, status = nm_reference_reader_new(&reader, r) ? nm_fail_memory(err) : 0;

	*ret_total = 0;
	for (uint64_t from = 0; from < r->blocks.count && fits && !status; from += PART_BLOCKS) {
		const uint64_t end = from + PART_BLOCKS, to = end < r->blocks.count ? end : r->blocks.count;
		const uint64_t until = to < r->blocks.count ? to * NM_REFERENCE_BLOCK : r->count;

		status = put_blocks(reader, sink, from, to, until - from * NM_REFERENCE_BLOCK, &fits, err);
		*ret_total = fits ? until : *ret_total;
	}
	nm_reference_reader_free(reader);
	return status;
}

int nm_parts_write(const struct nm_debugger *d, struct nm_part_sink *sink, uint64_t *ret_total,
		   struct nm_error *err)
{
	int status;

	for (unsigned i = 0; i < d->checkpoints->machine.count; i++)
		if (d->checkpoints->machine.levels[i].plugin[0])
			return nm_fail(err, NM_EINVAL,
				       "a file cannot run the plug-in of %s: nearmiss view can",
				       d->checkpoints->machine.levels[i].name);
	*ret_total = nm_debugger_total(d);
	status = put_run(d, sink, err);
	if (status)
		return status;
	return d->checkpoints->program.nest ? put_files(d, sink, err)
					    : put_references(d, sink, ret_total, err);
}
