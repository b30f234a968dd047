/* SPDX-License-Identifier: MIT
 *
 * firefox.c - a file for Firefox Profiler (https://profiler.firefox.com): its processed format, version 48. A thread
 * for each process and event; a sample for each line of a function and object, with the figure as its weight.
 * Objects are categories of the innermost frame, so that the graph and the sidebar show misses by object.
 *
 * Tables are objects with an array for each column. A thread numbers its strings, functions, frames and stacks.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "export_priv.h"

struct firefox {
	struct nm_export *x;
	json_t *categories, *threads;
	struct nm_map objects;        /* name -> category, from 1; 0 is for callers */
	struct nm_chain_frames chain; /* of the sample that is written now */
};

struct thread {
	struct firefox *f;
	json_t *strings, *functions, *frames, *stacks, *samples;
	struct nm_map string_ids, function_ids, frame_ids, stack_ids;
};

/* Appends a row to a table; behind it the values in the order of the names, which end with NULL. */
static int add_row(json_t *table, const char *const *names, json_t **values)
{
	int status = 0;

	for (; *names; names++, values++) {
		json_t *column = json_object_get(table, *names);

		if (!column) {
			column = json_array();
			if (json_object_set_new(table, *names, column))
				status = NM_ENOMEM;
		}
		if (json_array_append_new(column, *values))
			status = NM_ENOMEM;
	}
	return status;
}

/* The number of a key from 0, which is taken over. */
static int number(struct firefox *f, struct nm_map *ids, char *key, uint64_t *ret, int *ret_new)
{
	const char *text = key ? nm_intern(&f->x->pool, key) : NULL;
	const int status = text ? nm_export_id(ids, text, ret, ret_new) : NM_ENOMEM;

	free(key);
	--*ret;
	return status;
}

static int string_number(struct thread *t, const char *text, json_t **ret)
{
	const char *own = nm_intern(&t->f->x->pool, text);
	uint64_t id = 0;
	int is_new = 0, status = own ? nm_export_id(&t->string_ids, own, &id, &is_new) : NM_ENOMEM;

	if (!status && is_new && json_array_append_new(t->strings, json_string(text)))
		status = NM_ENOMEM;
	*ret = json_integer((json_int_t)id - 1);
	return status;
}

static int function_number(struct thread *t, const struct nm_chain_frame *frame, uint64_t *ret)
{
	static const char *const names[] = {"name",     "isJS",       "relevantForJS", "resource",
					    "fileName", "lineNumber", "columnNumber",  NULL};
	json_t *name = NULL, *file = json_null();
	char *key = NULL;
	int is_new = 0, status;

	if (asprintf(&key, "%s\n%s", frame->function, frame->file ? frame->file : "") < 0)
		return NM_ENOMEM;
	status = number(t->f, &t->function_ids, key, ret, &is_new);
	if (status || !is_new)
		return status;
	status = string_number(t, frame->function, &name);
	if (!status && frame->file)
		status = string_number(t, frame->file, &file);
	return add_row(t->functions, names,
		       (json_t *[]){name, json_false(), json_false(), json_integer(-1), file, json_null(),
				    json_null()}) ||
		       status
		   ? NM_ENOMEM
		   : 0;
}

static int frame_number(struct thread *t, const struct nm_chain_frame *frame, uint64_t category,
			uint64_t *ret)
{
	static const char *const names[] = {"func",          "category",       "subcategory", "line",
					    "column",        "address",        "inlineDepth", "nativeSymbol",
					    "innerWindowID", "implementation", NULL};
	uint64_t function = 0;
	char *key = NULL;
	int is_new = 0, status = function_number(t, frame, &function);

	if (status || asprintf(&key, "%" PRIu64 " %" PRId64 " %" PRIu64, function, frame->line, category) < 0)
		return NM_ENOMEM;
	status = number(t->f, &t->frame_ids, key, ret, &is_new);
	if (status || !is_new)
		return status;
	return add_row(t->frames, names,
		       (json_t *[]){json_integer((json_int_t)function), json_integer((json_int_t)category),
				    json_integer(0), frame->line ? json_integer(frame->line) : json_null(),
				    json_null(), json_integer(-1), json_integer(0), json_null(),
				    json_integer(0), json_null()});
}

/* Makes *stack, of which 0 is none and others are one more than their numbers, call the frame. */
static int push_stack(struct thread *t, const struct nm_chain_frame *frame, uint64_t category,
		      uint64_t *stack)
{
	static const char *const names[] = {"frame", "category", "subcategory", "prefix", NULL};
	const uint64_t prefix = *stack;
	uint64_t id = 0;
	char *key = NULL;
	int is_new = 0, status = frame_number(t, frame, category, &id);

	if (status || asprintf(&key, "%" PRIu64 " %" PRIu64, prefix, id) < 0)
		return NM_ENOMEM;
	status = number(t->f, &t->stack_ids, key, stack, &is_new);
	++*stack;
	if (status || !is_new)
		return status;
	return add_row(t->stacks, names,
		       (json_t *[]){json_integer((json_int_t)id), json_integer((json_int_t)category),
				    json_integer(0),
				    prefix ? json_integer((json_int_t)prefix - 1) : json_null()});
}

static int add_category(struct firefox *f, const char *name, const char *color)
{
	return json_array_append_new(f->categories, json_pack("{s:s, s:s, s:[s]}", "name", name, "color",
							      color, "subcategories", "Other"))
		   ? NM_ENOMEM
		   : 0;
}

static int category_of(struct firefox *f, const char *object, uint64_t *ret)
{
	static const char *const colors[] = {"blue",  "orange",     "green",     "purple",
					     "red",   "yellow",     "lightblue", "magenta",
					     "brown", "lightgreen", "lightred",  "darkgrey"};
	int is_new = 0, status = nm_export_id(&f->objects, object, ret, &is_new);

	if (!status && is_new)
		status = add_category(f, object, colors[(*ret - 1) % (sizeof colors / sizeof *colors)]);
	return status;
}

static int add_sample(struct thread *t, const struct nm_fact *fact)
{
	static const char *const names[] = {"stack", "time", "weight", NULL};
	struct firefox *f = t->f;
	uint64_t category = 0, stack = 0;
	int status = category_of(f, fact->object, &category);

	if (!status)
		status = nm_chain_frames(f->x, fact, &f->chain);
	for (size_t i = 0; !status && i < f->chain.count; i++)
		status = push_stack(t, &f->chain.at[i], i + 1 == f->chain.count ? category : 0, &stack);
	if (status)
		return status;
	return add_row(
	    t->samples, names,
	    (json_t *[]){json_integer((json_int_t)stack - 1),
			 json_integer((json_int_t)json_array_size(json_object_get(t->samples, "time"))),
			 json_integer(*fact->values)});
}

static void begin_thread(struct thread *t, struct firefox *f)
{
	*t = (struct thread){
	    f, json_array(), json_object(), json_object(), json_object(), json_object(), {0}, {0}, {0}, {0}};
}

/* A table with its length, which is that of its first column. */
static json_t *finish_table(json_t *table)
{
	const size_t length = json_array_size(json_object_iter_value(json_object_iter(table)));

	return json_object_set_new(table, "length", json_integer((json_int_t)length)) ? NULL : table;
}

/* Columns of tables that have no rows. */
static json_t *empty_table(const char *const *names)
{
	json_t *table = json_pack("{s:i}", "length", 0);

	for (; *names; names++)
		if (json_object_set_new(table, *names, json_array()))
			break;
	return table;
}

static int end_thread(struct thread *t, const char *process, const struct nm_export_event *event)
{
	static const char *const markers[] = {"data",  "name",     "startTime", "endTime",
					      "phase", "category", NULL};
	static const char *const resources[] = {"lib", "name", "host", "type", NULL};
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
	json_t *threads = t->f->threads;
	const char *unit = *nm_metric_event_unit(event->name) == 'b' ? "bytes" : "samples";
	json_t *thread = json_pack(
	    "{s:s, s:i, s:n, s:i, s:n, s:[], s:o, s:b, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
	    "processType", "default", "processStartupTime", 0, "processShutdownTime", "registerTime", 0,
	    "unregisterTime", "pausedRanges", "name",
	    json_sprintf("%s: %s %s", process, event->level, event->name), "isMainThread", 1, "pid", process,
	    "tid", (int)json_array_size(threads) + 1, "samples", finish_table(t->samples), "stackTable",
	    finish_table(t->stacks), "frameTable", finish_table(t->frames), "funcTable",
	    finish_table(t->functions), "stringArray", t->strings, "markers", empty_table(markers),
	    "resourceTable", empty_table(resources), "nativeSymbols", empty_table(symbols), "processName",
	    json_string(process));
	int status = json_object_set_new(t->samples, "weightType", json_string(unit));

	status |= json_array_append_new(threads, thread);
	nm_map_done(&t->string_ids);
	nm_map_done(&t->function_ids);
	nm_map_done(&t->frame_ids);
	nm_map_done(&t->stack_ids);
	return status ? NM_ENOMEM : 0;
}

/* The threads of one event. */
static int add_event(struct firefox *f, const struct nm_export_event *event, struct nm_error *err)
{
	const char *process = NULL;
	struct nm_export_facts facts;
	struct thread t;
	int status = nm_facts_open(&facts, f->x, NM_BY_PROCESS | NM_BY_OBJECT | NM_BY_CHAIN, event, 1, err);

	while (!status && (status = nm_facts_next(&facts, err)) > 0) {
		status = 0;
		if (facts.fact.process != process) {
			if (process)
				status = end_thread(&t, process, event);
			process = facts.fact.process;
			begin_thread(&t, f);
		}
		if (status || add_sample(&t, &facts.fact))
			status = nm_fail_memory(err);
	}
	nm_facts_close(&facts);
	if (process && end_thread(&t, process, event) && !status)
		status = nm_fail_memory(err);
	return status;
}

static int write_firefox(struct nm_export *x, FILE *out, struct nm_error *err)
{
	struct firefox f = {.x = x, .categories = json_array(), .threads = json_array()};
	int status = add_category(&f, "Other", "grey");
	json_t *profile;

	for (size_t i = 0; !status && i < x->events.count; i++)
		status = add_event(&f, &x->events.at[i], err);
	profile = json_pack("{s:{s:i, s:i, s:i, s:s, s:i, s:i, s:i, s:b, s:b, s:[], s:o}, s:[], s:[], s:o}",
			    "meta", "interval", 1, "startTime", 0, "processType", 0, "product", "nearmiss",
			    "stackwalk", 0, "version", 27, "preprocessedProfileVersion", 48, "symbolicated",
			    1, "symbolicationNotSupported", 1, "markerSchema", "categories", f.categories,
			    "libs", "pages", "threads", f.threads);
	if (!status && (!profile || json_dumpf(profile, out, JSON_COMPACT)))
		status = nm_fail_memory(err);
	fputc('\n', out);
	json_decref(profile);
	nm_map_done(&f.objects);
	nm_vec_free(&f.chain);
	return status;
}

const struct nm_exporter nm_exporter_firefox = {
    .name = "firefox",
    .summary = "a file for https://profiler.firefox.com, with objects as categories",
    .events = "misses",
    .write = write_firefox,
};
