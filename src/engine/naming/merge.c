/* SPDX-License-Identifier: MIT
 *
 * merge.c - from the engine's attribution keys (lane, place, object) to the result's (thread, place, named
 * object, region): sums up objects that come to the same name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"
#include "layouts.h"
#include "old_glibc.h"
#include "one_machine.h"
#include "schedules.h"
#include "sort.h"
#include "visits.h"

struct merge {
	struct nm_engine *engine;
	struct nm_result *result;
	const uint32_t *objects; /* engine's object -> result's */
	uint32_t *attrs;         /* engine's attribution -> result's */
	uint32_t *keys;       /* key of a batch -> result's attribution; the same as attrs without contexts */
	uint32_t *by_context; /* key of a batch -> result's context attribution; NULL without contexts */
};

/* ---- objects ---- */

static void add_object(struct nm_result_object *into, const struct nm_object *o)
{
	into->blocks += o->blocks;
	into->bytes += o->bytes;
	if (o->largest > into->largest)
		into->largest = o->largest;
	if (!into->type)
		into->type = o->type;
}

static void merge_objects(struct merge *m)
{
	for (size_t i = 0; i < m->engine->space.objects.count; i++)
		add_object(&m->result->objects[m->objects[i]], &m->engine->space.objects.at[i]);
}

/* ---- attribution keys ---- */

/* As the result counts it: on one machine, threads are those of all processes. */
static uint32_t thread_of(const struct nm_engine *e, uint32_t thread)
{
	return e->output.member ? nm_member_thread(e->output.member, thread) : thread;
}

/* Sorts and renumbers: a table of what was seen would need three times the memory of the list. */
static int merge_attrs(struct merge *m, size_t raw)
{
	struct nm_result *r = m->result;
	const struct nm_lane_of *lanes = m->engine->regions.lanes.at;
	struct nm_keyed *list = calloc(raw, sizeof *list);
	uint64_t last = 0;

	if (!list)
		return NM_ENOMEM;
	for (size_t i = 1; i < raw; i++) {
		const struct nm_attribution *c = &m->engine->attrs.list.at[i];

		list[i].value = i;
		list[i].key = (uint64_t)c->lane << 52 | (uint64_t)c->site << 26 | m->objects[c->object];
	}
	if (nm_sort_by_key(list + 1, raw - 1)) {
		free(list);
		return NM_ENOMEM;
	}
	r->attr_count = 0;
	for (size_t k = 1; k < raw; k++) {
		const struct nm_attribution *c = &m->engine->attrs.list.at[list[k].value];

		if (!r->attr_count || list[k].key != last)
			r->attrs[r->attr_count++] = (struct nm_result_attribution){
			    thread_of(m->engine, lanes[c->lane].thread), c->site, m->objects[c->object],
			    lanes[c->lane].region};
		last = list[k].key;
		m->attrs[list[k].value] = (uint32_t)(r->attr_count - 1);
	}
	free(list);
	return 0;
}

/* ---- contexts ---- */

/* "<signal SIGALRM>" */
static const char *signal_name(struct nm_symbols *symbols, unsigned number)
{
	enum { FIRST_REALTIME = 34 /* that programs can have */ };
	const char *name = sigabbrev_np((int)number);
	char text[40];

	if (name)
		snprintf(text, sizeof text, "<signal SIG%s>", name);
	else if (number >= FIRST_REALTIME)
		snprintf(text, sizeof text, "<signal SIGRTMIN+%u>", number - FIRST_REALTIME);
	else
		snprintf(text, sizeof text, "<signal %u>", number);
	return nm_symbols_intern(symbols, text);
}

/* Name of the function that is called, or of the signal; NULL: unknown. */
static int name_callee(const struct nm_engine *e, const struct nm_call *c, const char **ret_name)
{
	const char *name;

	*ret_name = NULL;
	if (c->function >= NM_CALLS_SIGNAL) {
		*ret_name = signal_name(e->symbols, c->function - NM_CALLS_SIGNAL);
		return *ret_name ? 0 : NM_ENOMEM;
	}
	name = e->space.objects.at[c->function].name;
	if (c->function && name && !strncmp(name, NM_STACK_OF, strlen(NM_STACK_OF)))
		*ret_name = name + strlen(NM_STACK_OF);
	return 0;
}

static int merge_contexts(struct merge *m)
{
	const struct nm_engine *e = m->engine;
	struct nm_result *r = m->result;

	r->contexts = calloc(e->calls->list.count, sizeof *r->contexts);
	if (!r->contexts)
		return NM_ENOMEM;
	r->context_count = e->calls->list.count;
	for (size_t i = 0; i < r->context_count; i++) {
		const struct nm_call *c = &e->calls->list.at[i];

		r->contexts[i] = (struct nm_result_context){
		    c->parent, c->site < r->site_count ? c->site : UINT32_MAX, NULL, c->count, 0};
		if (name_callee(e, c, &r->contexts[i].function))
			return NM_ENOMEM;
	}
	return 0;
}

/* The models' attribution keys become the result's attribution keys, and those of (context, attribution
 * key). */
static int merge_context_attrs(struct merge *m, size_t raw)
{
	const struct nm_calls *calls = m->engine->calls;
	struct nm_result *r = m->result;
	struct nm_keyed *list = calloc(raw, sizeof *list);
	uint64_t last = 0;

	m->keys = calloc(raw + 1, sizeof *m->keys);
	m->by_context = calloc(raw + 1, sizeof *m->by_context);
	r->context_attrs = calloc(raw + 1, sizeof *r->context_attrs);
	if (!list || !m->keys || !m->by_context || !r->context_attrs) {
		free(list);
		return NM_ENOMEM;
	}
	for (size_t i = 1; i < raw; i++) {
		m->keys[i] = m->attrs[calls->attrs.at[i].attr];
		list[i].value = i;
		list[i].key = (uint64_t)calls->attrs.at[i].context << 32 | m->keys[i];
	}
	if (nm_sort_by_key(list + 1, raw - 1)) {
		free(list);
		return NM_ENOMEM;
	}
	for (size_t k = 1; k < raw; k++) {
		if (!r->context_attr_count || list[k].key != last)
			r->context_attrs[r->context_attr_count++] = (struct nm_result_context_attr){
			    (uint32_t)(list[k].key >> 32), (uint32_t)list[k].key};
		last = list[k].key;
		m->by_context[list[k].value] = (uint32_t)(r->context_attr_count - 1);
	}
	free(list);
	return 0;
}

/* ---- regions ---- */

/* None if the program names none, and nothing is counted by phase. */
static int list_regions(struct merge *m)
{
	struct nm_regions *regions = &m->engine->regions;
	struct nm_result *r = m->result;
	const size_t count = regions->list.count;

	nm_regions_run(regions, 0, nm_replay_measured(&m->engine->replay));
	r->by_phase = nm_replay_is_by_phase(&m->engine->replay);
	if (count == 1 && !r->by_phase)
		return 0;
	r->regions = calloc(count, sizeof *r->regions);
	if (!r->regions)
		return NM_ENOMEM;
	r->region_count = count;
	for (size_t i = 0; i < count; i++)
		r->regions[i] =
		    (struct nm_result_region){regions->list.at[i].path, regions->list.at[i].entries,
					      regions->list.at[i].instructions, regions->list.at[i].phase};
	return 0;
}

/* ---- references ---- */

static void add_reference(struct nm_counts *c, const struct nm_attr_references *references)
{
	c->reads += references->count[0];
	c->writes += references->count[1];
}

/* The references of data (0) or fetches (1) that the program made are those of one level. */
static void add_references_to(struct merge *m, struct nm_result_level *level, int of_code)
{
	const struct nm_engine *e = m->engine;

	for (size_t i = 1; i < e->attrs.list.count; i++) {
		int code = e->space.objects.at[e->attrs.list.at[i].object].kind == NM_OBJECT_CODE;

		if (code == of_code)
			add_reference(&level->counts[m->attrs[i]], &e->attrs.references[i]);
	}
	for (size_t i = 1; e->calls && i < e->calls->attrs.count; i++) {
		const struct nm_context_attr *c = &e->calls->attrs.at[i];
		int code = e->space.objects.at[e->attrs.list.at[c->attr].object].kind == NM_OBJECT_CODE;

		if (code == of_code)
			add_reference(&level->context_counts[m->by_context[i]], &c->references);
	}
}

/* Those that the program made go to the first level of their side of each machine; without a pass that
 * simulates it (options->pass), there are no counts. */
static void add_references(struct merge *m, struct nm_result_level *levels)
{
	const struct nm_machine *machine = &m->engine->machine;

	for (unsigned i = 0; i < machine->count && levels[i].counts; i++)
		for (int code = 0; code < 2; code++)
			if (nm_machine_first(machine, i, code ? NM_SIDE_INSTRUCTION : NM_SIDE_DATA))
				add_references_to(m, &levels[i], code);
}

/* ---- modules ---- */

/* Valgrind's own libraries are in every program. */
static int is_valgrinds(const struct nm_module *m) { return !strncmp(nm_module_name(m), "vgpreload_", 10); }

static int add_module(struct nm_result *r, struct nm_module *m)
{
	const char *build_id = nm_module_build_id(m);
	struct nm_result_module *more =
	    build_id ? realloc(r->modules, (r->module_count + 1) * sizeof *more) : NULL;

	if (!more)
		return NM_ENOMEM;
	r->modules = more;
	r->modules[r->module_count++] =
	    (struct nm_result_module){nm_module_path(m), nm_module_name(m), *build_id ? build_id : NULL};
	return 0;
}

static int add_undebugged(struct nm_result *r, struct nm_module *m)
{
	const char **more = realloc(r->undebugged, (r->undebugged_count + 1) * sizeof *more);

	if (!more)
		return NM_ENOMEM;
	r->undebugged = more;
	r->undebugged[r->undebugged_count++] = nm_module_path(m);
	return 0;
}

/* A module, or NULL; those without debug information matter if their code accessed data. */
static int see_module(struct nm_result *r, struct nm_map *seen, struct nm_module *m, int has_accessed)
{
	if (!m || nm_map_get(seen, (uintptr_t)m, 0))
		return 0;
	if (nm_map_put(seen, (uintptr_t)m, 1))
		return NM_ENOMEM;
	if (is_valgrinds(m))
		return 0;
	if (add_module(r, m))
		return NM_ENOMEM;
	return has_accessed && nm_module_debug_level(m) != NM_DEBUG_DWARF ? add_undebugged(r, m) : 0;
}

static int list_modules(struct merge *m)
{
	const struct nm_engine *e = m->engine;
	struct nm_map seen = {0};
	int status = 0;

	for (size_t i = 0; i < e->attrs.instructions.count && !status; i++)
		status = see_module(m->result, &seen, e->attrs.instructions.at[i].module, 1);
	for (size_t i = 0; i < e->space.mappings.count && !status; i++)
		status = see_module(m->result, &seen, e->space.mappings.at[i].module, 0);
	nm_map_done(&seen);
	return status;
}

/* ---- all ---- */

static int merge_all(struct merge *m)
{
	struct nm_engine *e = m->engine;
	struct nm_result *r = m->result;
	size_t keys = nm_engine_attr_count(e), attrs = e->attrs.list.count;
	struct nm_pass_merge merge = {.program = e, .key_count = keys, .objects = m->objects};
	int status = e->options.heap_chains ? nm_engine_name_chains(e, r) : 0;

	m->attrs = calloc(attrs + 1, sizeof *m->attrs);
	r->sites = calloc(e->attrs.sites.count + 1, sizeof *r->sites);
	r->attrs = calloc(attrs + 1, sizeof *r->attrs);
	if (!m->attrs || !r->sites || !r->attrs)
		return NM_ENOMEM;
	r->site_count = e->attrs.sites.count;
	if (r->site_count)
		memcpy(r->sites, e->attrs.sites.at, r->site_count * sizeof *r->sites);
	merge_objects(m);
	if (!status)
		status = merge_attrs(m, attrs);
	if (!status)
		status = list_regions(m);
	m->keys = m->attrs;
	if (!status && e->calls)
		status = merge_contexts(m) || merge_context_attrs(m, keys) || nm_engine_find_destroyed(r)
			     ? NM_ENOMEM
			     : 0;
	merge.keys = m->keys;
	merge.contexts = m->by_context;
	merge.attrs = m->attrs;
	if (!status)
		status = nm_passes_finish(&e->feed.passes, &merge, r);
	if (!status && e->output.member)
		status = nm_member_keep(e->output.member, &merge, r);
	else if (!status)
		nm_result_share_chases(r);
	if (!status)
		status = nm_schedules_finish(e->output.schedules, &merge, r);
	if (!status)
		status = nm_layouts_finish(e->output.layouts, &merge, r);
	if (!status)
		status = nm_visits_end(e->output.visits);
	if (status)
		return status;
	add_references(m, r->levels);
	for (size_t i = 0; i < r->layout_count; i++)
		add_references(m, r->layouts[i].levels);
	r->by_instruction = e->options.by_instruction;
	if (r->by_instruction && nm_engine_list_code(e, r))
		return NM_ENOMEM;
	return list_modules(m);
}

int nm_engine_merge(struct nm_engine *e, struct nm_result *result, const uint32_t *objects)
{
	struct merge f = {.engine = e, .result = result, .objects = objects};
	int status = merge_all(&f);

	if (f.keys != f.attrs)
		free(f.keys);
	free(f.by_context);
	free(f.attrs);
	result->process = e->name ? e->name : "<unknown>";
	result->command = e->command ? e->command : "";
	result->exit_status = e->exit_status;
	result->instructions = e->replay.clock - e->replay.unmeasured;
	result->repeated = nm_replay_repeated(&e->replay);
	result->references = e->replay.builder.references;
	result->sampling = (struct nm_result_sampling){e->sampled.options.rate, e->sampled.options.line,
						       e->sampled.options.seed, e->sampled.taken};
	result->lost_words = e->lost;
	result->window_met = e->replay.window_met;
	return status;
}
