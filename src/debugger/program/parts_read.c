/* SPDX-License-Identifier: MIT
 *
 * parts_read.c - see parts.h. Damage is found where it would lead outside of a table.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

static int refuse_part(struct nm_error *err, const char *what)
{
	return nm_fail(err, NM_EFORMAT, "this file is damaged: %s", what);
}

static int64_t number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

/* The element of a column; `otherwise` if there is none. */
static int64_t number_at(const json_t *column, size_t i, int64_t otherwise)
{
	const json_t *value = json_array_get(column, i);

	return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static uint64_t address_at(const json_t *list, size_t i)
{
	const char *text = json_string_value(json_array_get(list, i));

	return text ? strtoull(text, NULL, 16) : 0;
}

/* ---- names of a trace ---- */

/* The text of this number, interned; *ret = NULL for none. 0 or NM_ENOMEM. */
static int text_at(struct nm_debug_program *p, const json_t *texts, int64_t number, const char **ret)
{
	const char *text = number < 0 ? NULL : json_string_value(json_array_get(texts, (size_t)number));

	*ret = text ? nm_intern(&p->names, text) : NULL;
	return text && !*ret ? NM_ENOMEM : 0;
}

static int read_keys(struct nm_debug_program *p, const json_t *program, struct nm_error *err)
{
	const json_t *texts = json_object_get(program, "texts"), *keys = json_object_get(program, "keys"),
		     *functions = json_object_get(keys, "function"), *files = json_object_get(keys, "file"),
		     *lines = json_object_get(keys, "line"), *objects = json_object_get(keys, "object"),
		     *threads = json_object_get(keys, "thread"), *cores = json_object_get(keys, "core"),
		     *rows = json_object_get(keys, "row"), *uncounted = json_object_get(keys, "uncounted"),
		     *sites = json_object_get(keys, "site");
	const int has_instructions = json_is_true(json_object_get(program, "has_instructions"));
	const size_t count = json_array_size(functions);

	if (!count)
		return refuse_part(err, "it names no references");
	if (nm_vec_reach(&p->sites, count) || (has_instructions && nm_vec_reach(&p->instructions, count)))
		return nm_fail_memory(err);
	for (size_t i = 0; i < count; i++) {
		struct nm_debug_site *s = &p->sites.at[i];

		*s = (struct nm_debug_site){.line = (uint32_t)number_at(lines, i, 0),
					    .object = (uint32_t)number_at(objects, i, NM_NO_OBJECT),
					    .thread = (uint32_t)number_at(threads, i, 0),
					    .core = (uint16_t)number_at(cores, i, 0),
					    .row = (uint32_t)number_at(rows, i, 0),
					    .is_uncounted = number_at(uncounted, i, 0) != 0};
		if (s->row >= count || s->core >= NM_MAX_CORES)
			return refuse_part(err, "a key has no row or core");
		if (text_at(p, texts, number_at(functions, i, -1), &s->function) ||
		    text_at(p, texts, number_at(files, i, -1), &s->file))
			return nm_fail_memory(err);
		if (has_instructions)
			p->instructions.at[i] = (uint32_t)number_at(sites, i, 0);
	}
	return 0;
}

static int read_objects(struct nm_debug_program *p, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		const char *name = json_string_value(json_array_get(one, 0));
		const struct nm_debug_object object = {.name = nm_intern(&p->names, name ? name : "?"),
						       .low = address_at(one, 1),
						       .end = address_at(one, 2),
						       .is_scattered = json_is_true(json_array_get(one, 3))};

		if (!object.name || nm_vec_push(&p->objects, object))
			return NM_ENOMEM;
	}
	return 0;
}

static int read_memory(struct nm_debug_program *p, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		const size_t size = json_array_size(one), count = size ? (size - 1) / 2 : 0;
		struct nm_memory_change change = {
		    .position = (uint64_t)json_integer_value(json_array_get(one, 0)), .count = count};

		change.ranges = calloc(count + 1, sizeof *change.ranges);
		if (!change.ranges || nm_vec_push(&p->memory, change)) {
			free(change.ranges);
			return NM_ENOMEM;
		}
		for (size_t k = 0; k < count; k++) {
			change.ranges[k].low = address_at(one, 1 + 2 * k);
			change.ranges[k].end = address_at(one, 2 + 2 * k);
		}
	}
	return 0;
}

static int read_program(struct nm_debug_program *p, const json_t *program, struct nm_error *err)
{
	int status = read_keys(p, program, err);

	p->first = (uint64_t)number_of(program, "first");
	p->has_uncounted = json_is_true(json_object_get(program, "has_uncounted"));
	if (!status && (read_objects(p, json_object_get(program, "objects")) ||
			read_memory(p, json_object_get(program, "memory"))))
		status = nm_fail_memory(err);
	return status;
}

/* ---- the run ---- */

static int read_machine(struct nm_machine *ret, const json_t *machine, struct nm_error *err)
{
	const char *spec = json_string_value(json_object_get(machine, "spec")),
		   *name = json_string_value(json_object_get(machine, "name")),
		   *description = json_string_value(json_object_get(machine, "description"));
	const json_t *core_of = json_object_get(machine, "core_of");
	const int64_t cores = number_of(machine, "cores");
	int status = spec ? nm_machine_parse(spec, ret, err) : refuse_part(err, "it has no machine");

	if (status)
		return status;
	if (cores > 0 && cores <= NM_MAX_CORES)
		nm_machine_set_cores(ret, (unsigned)cores);
	snprintf(ret->name, sizeof ret->name, "%s", name ? name : "");
	snprintf(ret->description, sizeof ret->description, "%s", description ? description : "");
	for (size_t i = 0; i < NM_MAPPED_THREADS; i++)
		ret->core_of[i] = (uint16_t)number_at(core_of, i, 0);
	return 0;
}

static int read_settings(struct nm_parts_run *r, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i)),
			   *kept = nm_intern(&r->program.names, text ? text : "");

		if (!kept || nm_vec_push(&r->settings, kept))
			return NM_ENOMEM;
	}
	return nm_vec_push(&r->settings, NULL) ? NM_ENOMEM : 0;
}

static int read_run(struct nm_parts_run *r, const json_t *run, struct nm_error *err)
{
	const json_t *program = json_object_get(run, "program");
	const char *path = json_string_value(json_object_get(run, "path"));
	int status = read_machine(&r->machine, json_object_get(run, "machine"), err);

	if (status)
		return status;
	r->from = (uint64_t)number_of(run, "from");
	r->to = (uint64_t)number_of(run, "to");
	r->is_trace = json_is_object(program);
	r->program.path = nm_intern(&r->program.names, path ? path : "?");
	if (!r->program.path || read_settings(r, json_object_get(run, "settings")))
		return nm_fail_memory(err);
	return r->is_trace ? read_program(&r->program, program, err) : 0;
}

int nm_parts_read_run(struct nm_parts_run *ret, const char *text, struct nm_error *err)
{
	json_error_t fault;
	json_t *run = json_loads(text, 0, &fault);
	int status = json_is_object(run) ? read_run(ret, run, err) : refuse_part(err, "its run is not JSON");

	json_decref(run);
	return status;
}

void nm_parts_run_done(struct nm_parts_run *r)
{
	nm_debug_program_done(&r->program);
	nm_vec_free(&r->settings);
}

/* ---- references ---- */

int nm_parts_read_blocks(struct nm_references *references, const struct nm_program_part *part,
			 struct nm_error *err)
{
	const uint8_t *next = part->bytes, *end = next + part->size;

	for (uint64_t left = part->count, count; left; left -= count) {
		const size_t bytes = end - next < 4 ? SIZE_MAX
						    : next[0] | (size_t)next[1] << 8 | (size_t)next[2] << 16 |
							  (size_t)next[3] << 24;

		if (end - next < 4 || bytes > (size_t)(end - next) - 4)
			return refuse_part(err, "a block of references ends early");
		count = left < NM_REFERENCE_BLOCK ? left : NM_REFERENCE_BLOCK;
		if (nm_references_add_block(references, next + 4, bytes, count))
			return nm_fail_memory(err);
		next += 4 + bytes;
	}
	return 0;
}
