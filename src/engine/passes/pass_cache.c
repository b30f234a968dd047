/* SPDX-License-Identifier: MIT
 *
 * pass_cache.c - the memory hierarchy: misses, their classes, reuse and evictions per attribution key and
 * level; and the single events that a query selects.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "contended.h"
#include "event_filter.h"
#include "event_places.h"
#include "intervals.h"
#include "level_counts.h"
#include "pass.h"
#include "prefetch.h"

struct cache {
	struct nm_hierarchy *hierarchy;
	struct nm_event_filter *filter; /* or NULL */
	struct nm_event_places *places; /* before the filter, or NULL */
	struct nm_contended *contended; /* or NULL */
	struct nm_intervals *intervals; /* NULL: this is a further order of the threads (schedules.c) */
};

static void cache_release(void *self)
{
	struct cache *c = self;

	if (c->intervals)
		nm_intervals_done(c->intervals);
	free(c->intervals);
	nm_hierarchy_free(c->hierarchy);
	nm_event_places_free(c->places);
	nm_event_filter_free(c->filter);
	nm_contended_free(c->contended);
	free(c);
}

/* Pages depend on what memory there is, where a level is a TLB. */
static int has_tlbs(const struct nm_machine *machine)
{
	for (unsigned i = 0; i < machine->count; i++)
		if (machine->levels[i].pages)
			return 1;
	return 0;
}

static int prefetches_by_instruction(const struct nm_machine *machine)
{
	for (unsigned i = 0; i < machine->count; i++)
		if (machine->levels[i].prefetch == NM_PREFETCH_STRIDE)
			return 1;
	return 0;
}

static unsigned cache_needs(const struct nm_engine_options *options)
{
	int logs = options->event_query && options->event_query->mode == NM_QUERY_LOG;

	return (has_tlbs(options->machine) ? NM_PASS_MEMORY : 0u) |
	       (prefetches_by_instruction(options->machine) ? NM_PASS_KEYS | NM_PASS_INSTRUCTIONS : 0u) |
	       (logs ? NM_PASS_CLOCK : 0u);
}

static int watch_events(struct cache *c, const struct nm_engine_options *options)
{
	const struct nm_event_query *query = options->event_query;
	int status = nm_event_filter_new(&c->filter, query, options->machine);

	if (!status && (query->slice || query->mode == NM_QUERY_LOG))
		status = nm_event_places_new(&c->places, query, c->filter, options->machine);
	if (status)
		return status;
	if (c->places)
		nm_event_places_attach(c->places, c->hierarchy);
	else
		nm_event_filter_attach(c->filter, c->hierarchy);
	return 0;
}

static int divide_levels(struct cache *c, unsigned levels)
{
	assert(!c->intervals && levels <= NM_MAX_LEVELS);
	c->intervals = calloc(1, sizeof *c->intervals);
	return c->intervals ? nm_intervals_init(c->intervals, c->hierarchy, levels) : NM_ENOMEM;
}

static int cache_make(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	const struct nm_engine_options *options = setup->options;
	struct cache *c = calloc(1, sizeof *c);
	int status;

	if (!c)
		return nm_fail_memory(err);
	status = options->event_query
		     ? nm_hierarchy_new_with_oracle(&c->hierarchy, options->machine, options->oracle, err)
		     : nm_hierarchy_new_shared(&c->hierarchy, options->machine, options->oracle,
					       !options->instructions, err);
	if (!status && options->event_query && watch_events(c, options))
		status = nm_fail_memory(err);
	if (!status && nm_hierarchy_set_coalesced(c->hierarchy, setup->coalesced))
		status = nm_fail_memory(err);
	if (!status &&
	    nm_contended_new(&c->contended, c->hierarchy, options->machine->count, setup->one_machine))
		status = nm_fail_memory(err);
	if (!status && setup->sampler && divide_levels(c, options->machine->count))
		status = nm_fail_memory(err);
	if (!status && !options->instructions)
		nm_hierarchy_set_data_only(c->hierarchy);
	if (!status)
		nm_hierarchy_set_sampler(c->hierarchy, setup->sampler);
	if (status)
		cache_release(c);
	else
		*ret_self = c;
	return status;
}

static int cache_batch(void *self, const struct nm_pass_batch *b)
{
	struct cache *c = self;
	int status = nm_hierarchy_set_hints(c->hierarchy, b->hints, b->hint_count);

	if (status)
		return status;
	if (b->uncounted)
		nm_hierarchy_allow_uncounted(c->hierarchy);
	nm_hierarchy_prefetch_host(c->hierarchy, b->next);
	status = b->time_slices ? nm_hierarchy_run_time_slices(c->hierarchy, b->refs, b->time_slices,
							       b->time_slice_count)
				: nm_hierarchy_run(c->hierarchy, b->refs, b->count);
	if (c->places)
		nm_event_places_batch(c->places, b);
	return status || !c->intervals ? status : nm_intervals_step(c->intervals, b->instructions);
}

static int cache_memory(void *self, const struct nm_range *ranges, size_t count)
{
	return nm_hierarchy_set_memory(((struct cache *)self)->hierarchy, ranges, count);
}

/* Sites are instructions then (pass.h), whatever the object, the thread and the context. */
static int cache_keys(void *self, const struct nm_attribution *attributions, size_t count)
{
	uint32_t *instructions = malloc((count + 1) * sizeof *instructions);
	int status = instructions ? 0 : NM_ENOMEM;

	for (size_t i = 0; i < count && !status; i++)
		instructions[i] = attributions[i].site;
	if (!status)
		status =
		    nm_hierarchy_add_instructions(((struct cache *)self)->hierarchy, instructions, count);
	free(instructions);
	return status;
}

static void cache_released(void *self, uint64_t address, uint64_t size, uint32_t object)
{
	struct cache *c = self;

	nm_contended_released(c->contended, address, size, object);
	if (c->places)
		nm_event_places_released(c->places, address, size, object);
}

static int cache_retired(void *self, struct nm_engine *program, uint64_t batch)
{
	struct cache *c = self;
	int status = nm_contended_retired(c->contended, program);

	(void)batch;
	return status || !c->places ? status : nm_event_places_retired(c->places, program);
}

static int cache_ending(void *self, struct nm_engine *program)
{
	const struct cache *c = self;
	int status = nm_contended_ending(c->contended, program);

	if (!status && c->places)
		status = nm_event_places_ending(c->places, program);
	return status ? status : nm_hierarchy_sample_rest(c->hierarchy);
}

/* ---- the result ----------------------------------------------------------------------------------- */

static void merge_events(const struct nm_pass_merge *m, struct nm_filtered_events *events)
{
	for (size_t i = 0; i < events->row_count; i++) {
		events->rows[i].attr = m->keys[events->rows[i].attr];
		events->rows[i].victim = m->keys[events->rows[i].victim];
	}
	for (size_t i = 0; i < events->residency_count; i++) {
		events->residencies[i].loader = m->keys[events->residencies[i].loader];
		events->residencies[i].evictor = m->keys[events->residencies[i].evictor];
	}
	for (size_t i = 0; i < events->logged_count; i++) {
		events->logged[i].at.attr = m->keys[events->logged[i].at.attr];
		events->logged[i].at.victim = m->keys[events->logged[i].at.victim];
	}
}

static int cache_finish(void *self, const struct nm_pass_merge *merge, struct nm_result *result)
{
	struct cache *c = self;
	struct nm_level_counts levels[NM_MAX_LEVELS] = {{0}};
	int status = 0;

	if (c->intervals)
		status = nm_intervals_end(c->intervals, nm_program_instructions(merge->program));
	if (!status)
		status = nm_hierarchy_finish(c->hierarchy);
	if (!status)
		status = nm_level_counts_take(levels, c->hierarchy, merge, result);
	if (!status)
		status = nm_contended_take(c->contended, result);
	if (c->filter && !status)
		status = nm_event_filter_take(c->filter, &result->events);
	if (c->places)
		result->events.slice_fit = nm_event_places_fit(c->places);
	nm_hierarchy_free(c->hierarchy);
	c->hierarchy = NULL;
	status = nm_level_counts_merge(levels, merge, result, status);
	if (!status && c->intervals)
		status = nm_intervals_finish(c->intervals, merge, result);
	if (!status)
		merge_events(merge, &result->events);
	if (!status)
		nm_contended_merge(merge, result);
	return status;
}

const struct nm_pass nm_pass_cache = {.name = "cache",
				      .needs = cache_needs,
				      .make = cache_make,
				      .batch = cache_batch,
				      .memory = cache_memory,
				      .keys = cache_keys,
				      .released = cache_released,
				      .retired = cache_retired,
				      .ending = cache_ending,
				      .finish = cache_finish,
				      .free = cache_release};
