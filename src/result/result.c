/* SPDX-License-Identifier: MIT */
#include "result.h"
#include "event_query.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
    [NM_OBJECT_UNKNOWN] = "unknown",
    [NM_OBJECT_GLOBAL] = "global",
    [NM_OBJECT_STATIC] = "static",
    [NM_OBJECT_THREAD_LOCAL] = "thread-local",
    [NM_OBJECT_HEAP] = "heap",
    [NM_OBJECT_STACK] = "stack",
    [NM_OBJECT_MAPPED] = "mapped",
    [NM_OBJECT_ANONYMOUS] = "anonymous",
    [NM_OBJECT_LIBRARY_DATA] = "library data",
    [NM_OBJECT_NAMED] = "named",
    [NM_OBJECT_CODE] = "code",
    [NM_OBJECT_UNMEASURED] = "unmeasured",
    [NM_OBJECT_LOCAL] = "local",
};

const char *nm_object_kind_name(enum nm_object_kind kind)
{
	assert(kind < sizeof kind_names / sizeof *kind_names);
	return kind_names[kind];
}

int nm_result_add_figure(struct nm_result *result, const char *pass, const char *name, uint32_t object,
			 uint64_t value)
{
	assert(object < result->object_count);
	if (result->figure_count == result->figure_room) {
		size_t room = result->figure_room ? 2 * result->figure_room : 64;
		struct nm_result_figure *more = realloc(result->figures, room * sizeof *more);

		if (!more)
			return NM_ENOMEM;
		result->figures = more;
		result->figure_room = room;
	}
	result->figures[result->figure_count++] = (struct nm_result_figure){pass, name, object, value};
	return 0;
}

static void free_coherence(struct nm_result_coherence *machines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(machines[i].touches);
		free(machines[i].pairs);
		free(machines[i].latent_touches);
		free(machines[i].latent);
	}
	free(machines);
}

struct nm_result nm_result_with_layout(const struct nm_result *result, size_t layout)
{
	const struct nm_result_layout *l = &result->layouts[layout];
	struct nm_result r = *result;

	assert(layout < result->layout_count);
	memcpy(r.levels, l->levels, sizeof r.levels);
	r.walks = l->walks;
	r.relocated = l->relocated;
	r.field_count = r.field_use_count = r.affinity_count = r.line_count = r.stride_count = 0;
	r.interval_count = r.interval_part_count = r.stretch_count = r.phase_count = 0;
	r.distance_count = r.estimate_count = r.figure_count = r.pmu_sample_count = 0;
	memset(&r.pmu, 0, sizeof r.pmu);
	return r;
}

static void count_dependent(struct nm_counts *counts, const struct nm_result_chasing *of)
{
	const uint64_t chases = of->chases < of->accesses ? of->chases : of->accesses;

	if (chases)
		counts->dependent = (counts->loads - counts->covered) * chases / of->accesses;
}

void nm_result_share_chases(struct nm_result *r)
{
	for (unsigned l = 0; r->chasing && l < r->machine.count && r->machine.prefetchers; l++) {
		struct nm_result_level *level = &r->levels[l];

		if (!nm_machine_same(r->machine.levels[0].name, r->machine.levels[l].name))
			continue;
		assert(level->counts);
		for (size_t i = 0; i < r->attr_count; i++) {
			count_dependent(&level->counts[i], &r->chasing[i]);
			level->total.dependent += level->counts[i].dependent;
		}
		for (size_t i = 0; level->context_counts && i < r->context_attr_count; i++)
			count_dependent(&level->context_counts[i], &r->chasing[r->context_attrs[i].attr]);
	}
	free(r->chasing);
	r->chasing = NULL;
}

static void free_levels(struct nm_result_level *levels)
{
	for (unsigned i = 0; i < NM_MAX_LEVELS; i++) {
		free(levels[i].counts);
		free(levels[i].context_counts);
		free(levels[i].extras);
		free(levels[i].evictions);
	}
}

void nm_result_free(struct nm_result *result)
{
	free_levels(result->levels);
	for (size_t i = 0; i < result->layout_count; i++) {
		free_levels(result->layouts[i].levels);
		free(result->layouts[i].walks);
		free(result->layouts[i].relocated);
	}
	free(result->layouts);
	free(result->objects);
	free(result->sites);
	free(result->attrs);
	free(result->regions);
	free(result->threads);
	for (size_t i = 0; i < result->code_count; i++) {
		free(result->code[i].bytes);
		free(result->code[i].lines);
	}
	free(result->code);
	free(result->contexts);
	free(result->context_attrs);
	free(result->undebugged);
	free(result->modules);
	free(result->events.rows);
	free(result->events.residencies);
	free(result->events.logged);
	free(result->figures);
	free(result->strides);
	free(result->chasing);
	free(result->walks);
	free(result->fields);
	free(result->field_uses);
	free(result->affinities);
	free(result->lines);
	free(result->distances);
	free(result->estimates);
	free(result->samples);
	free(result->relocated);
	free(result->pmu_samples);
	free(result->intervals);
	free(result->interval_levels);
	free(result->interval_parts);
	free(result->stretches);
	free(result->phases);
	free_coherence(result->coherence, result->coherence_count);
	for (size_t i = 0; i < result->schedule_count; i++) {
		for (unsigned k = 0; k < NM_MAX_LEVELS; k++) {
			free(result->schedules[i].counts[k]);
			free(result->schedules[i].extras[k]);
		}
		free_coherence(result->schedules[i].coherence, result->schedules[i].coherence_count);
	}
	free(result->schedules);
	memset(result, 0, sizeof *result);
}

/* ---- names of phases ---- */

/* What dominates a phase: "sweep, wide"; malloc'ed, NULL: out of memory. */
static char *describe_phase(const struct nm_result *r, const struct nm_result_phase *phase)
{
	const struct nm_result_site *site = phase->site == UINT32_MAX ? NULL : &r->sites[phase->site];
	const char *code = site ? site->user_function ? site->user_function : site->function : NULL;
	const char *object = phase->object == UINT32_MAX ? NULL : r->objects[phase->object].name;
	char *name = NULL;

	if (phase->is_quiet || (!code && !object))
		return strdup("few misses");
	return asprintf(&name, "%s%s%s", code ? code : "", code && object ? ", " : "", object ? object : "") <
		       0
		   ? NULL
		   : name;
}

char *nm_result_phase_name(const struct nm_result *r, size_t phase)
{
	char *name = describe_phase(r, &r->phases[phase]), *numbered = NULL;
	unsigned same = 1;

	assert(phase < r->phase_count);
	assert(phase < r->phase_count);
	for (size_t i = 0; i < phase && name; i++) {
		char *other = describe_phase(r, &r->phases[i]);

		same += other && !strcmp(other, name);
		free(other);
	}
	if (!name || same == 1)
		return name;
	if (asprintf(&numbered, "%s (%u)", name, same) < 0)
		numbered = NULL;
	free(name);
	return numbered;
}

/* ---- event query ---- */

void nm_event_query_sets(struct nm_event_query *ret_query, const struct nm_machine *machine)
{
	*ret_query =
	    (struct nm_event_query){.mode = NM_QUERY_SETS, .end = UINT64_MAX, .by_attr = 1, .of_objects = 1};
	for (unsigned i = 0; i < machine->count; i++)
		ret_query->kinds[i] = 1u << NM_EVENT_LOAD | 1u << NM_EVENT_REPLACE |
				      1u << NM_EVENT_INVALIDATE | 1u << NM_EVENT_PREFETCH;
}
