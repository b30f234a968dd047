/* SPDX-License-Identifier: MIT
 *
 * plan.c - see plan.h. libcyaml checks keys and shapes, inputs.c and caches.c the values.
 */
#include "plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "plan_priv.h"
#include "sources.h"

enum { MOST_TASKS = 1000000 };

/* ---- the schema ---- */

static const cyaml_schema_value_t text_schema = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, CYAML_UNLIMITED)};

#define TEXTS(type, key, flags) \
	CYAML_FIELD_SEQUENCE(#key, CYAML_FLAG_POINTER | (flags), type, key, &text_schema, 1, CYAML_UNLIMITED)

static const cyaml_schema_field_t nest_fields[] = {
    CYAML_FIELD_STRING_PTR("file", CYAML_FLAG_POINTER, struct nm_sweep_nest_entry, file, 1, CYAML_UNLIMITED),
    TEXTS(struct nm_sweep_nest_entry, set, CYAML_FLAG_OPTIONAL), CYAML_FIELD_END};
static const cyaml_schema_value_t nest_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct nm_sweep_nest_entry, nest_fields)};
static const cyaml_schema_field_t document_fields[] = {
    TEXTS(struct nm_sweep_document, traces, CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_SEQUENCE("nests", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct nm_sweep_document, nests,
			 &nest_schema, 1, CYAML_UNLIMITED),
    TEXTS(struct nm_sweep_document, machines, CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_STRING_PTR("level", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct nm_sweep_document, level,
			   1, CYAML_UNLIMITED),
    TEXTS(struct nm_sweep_document, sizes, CYAML_FLAG_OPTIONAL),
    TEXTS(struct nm_sweep_document, policies, CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_END};
static const cyaml_schema_value_t document_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct nm_sweep_document, document_fields)};

#define NO_INPUTS "a sweep needs inputs: \"traces: [run.nmt]\" or \"nests: [{file: blocked.nest}]\""

/* ---- faults and paths ---- */

int nm_sweep_fault(const struct nm_sweep_reading *r, const char *list, size_t i, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return nm_fail(r->err, NM_EINVAL, "%s:%d: %s", r->plan->path,
		       nm_yaml_line_of_entry(r->lines, list, i, NULL), text);
}

const char *nm_sweep_path(const struct nm_sweep_reading *r, const char *path)
{
	const char *slash = strrchr(r->plan->path, '/');
	const int folder = slash && *path != '/' ? (int)(slash + 1 - r->plan->path) : 0;

	return nm_intern_format(&r->plan->pool, "%.*s%s", folder, r->plan->path, path);
}

/* ---- the product ---- */

/* Adds the task that an input and a cache make, unless there is one like it. */
static int add_task(const struct nm_sweep_reading *r, struct nm_map *known, const struct nm_sweep_task *input,
		    const struct nm_sweep_task *cache)
{
	struct nm_sweep_task task = *cache;
	const char *key;

	task.kind = input->kind;
	task.input = input->input;
	task.settings = input->settings;
	task.bytes = input->bytes;
	task.modified = input->modified;
	task.work = input->work * cache->work;
	key = nm_intern_format(&r->plan->pool, "%s\n%s\n%s\n%s", task.kind, task.input, task.settings,
			       task.spec);
	if (!key)
		return nm_fail_memory(r->err);
	if (nm_map_get(known, (uintptr_t)key, 0))
		return 0;
	if (r->plan->tasks.count == MOST_TASKS)
		return nm_fail(r->err, NM_EINVAL, "%s:1: the plan has more than %d tasks: make several plans",
			       r->plan->path, MOST_TASKS);
	return nm_map_put(known, (uintptr_t)key, 1) || nm_vec_push(&r->plan->tasks, task)
		   ? nm_fail_memory(r->err)
		   : 0;
}

static int add_tasks(const struct nm_sweep_reading *r, const struct nm_sweep_halves *inputs,
		     const struct nm_sweep_halves *caches)
{
	struct nm_map known = {0};
	int status = 0;

	for (size_t i = 0; i < inputs->count && !status; i++)
		for (size_t k = 0; k < caches->count && !status; k++)
			status = add_task(r, &known, &inputs->at[i], &caches->at[k]);
	for (size_t i = 0; i < r->plan->tasks.count; i++)
		r->plan->tasks.at[i].place = i;
	nm_map_done(&known);
	return status;
}

/* The largest first: what is begun last is short, so all workers end at nearly the same time. */
static int by_work(const void *a, const void *b)
{
	const struct nm_sweep_task *t = a, *y = b;

	if (t->work != y->work)
		return t->work < y->work ? 1 : -1;
	return t->place < y->place ? -1 : 1;
}

static int make_tasks(const struct nm_sweep_reading *r)
{
	struct nm_sweep_halves inputs = {0}, caches = {0};
	int status = 0;

	if (!r->document->traces_count && !r->document->nests_count)
		status = nm_fail(r->err, NM_EINVAL, "%s:1: " NO_INPUTS, r->plan->path);
	if (!status)
		status = nm_sweep_caches(r, &caches);
	if (!status)
		status = nm_sweep_inputs(r, &inputs);
	if (!status)
		status = add_tasks(r, &inputs, &caches);
	if (!status)
		qsort(r->plan->tasks.at, r->plan->tasks.count, sizeof *r->plan->tasks.at, by_work);
	nm_vec_free(&inputs);
	nm_vec_free(&caches);
	return status;
}

static int read_text(struct nm_sweep_plan *plan, const char *text, size_t bytes, struct nm_error *err)
{
	struct nm_sweep_document *document = NULL;
	yaml_document_t lines;
	int status = nm_yaml_lines_load(&lines, text, bytes, plan->path, err);

	if (status)
		return status;
	status = nm_yaml_load(text, bytes, plan->path, &lines, &document_schema, NO_INPUTS,
			      (void **)&document, err);
	if (!status)
		status = make_tasks(&(struct nm_sweep_reading){plan, document, &lines, err});
	nm_yaml_free(&document_schema, document);
	nm_yaml_lines_done(&lines);
	return status;
}

int nm_sweep_plan_read(struct nm_sweep_plan *plan, const char *path, struct nm_error *err)
{
	int64_t modified;
	char *text;
	size_t bytes;
	int status = nm_source_read(path, &text, &bytes, &modified);

	plan->path = path;
	if (status)
		return status == NM_ENOMEM ? nm_fail_memory(err)
					   : nm_fail(err, NM_ENOENT, "cannot read the plan %s", path);
	status = read_text(plan, text, bytes, err);
	free(text);
	return status;
}

void nm_sweep_plan_done(struct nm_sweep_plan *plan)
{
	nm_vec_free(&plan->tasks);
	nm_strings_done(&plan->pool);
}
