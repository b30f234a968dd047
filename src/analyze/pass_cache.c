/* SPDX-License-Identifier: MIT
 *
 * pass_cache.c - the memory hierarchy: misses, their classes, reuse and evictions per attribution key and
 * level; and what was asked for of its single events.
 */
#include <stdlib.h>
#include <string.h>

#include "instruction_clock.h"
#include "pass.h"

struct cache {
	struct nm_hierarchy *hierarchy;
	struct nm_event_filter *filter;                 /* or NULL */
	struct nm_instruction_clock *instruction_clock; /* or NULL */
	uint64_t references;                            /* of the batches before */
};

static void release(void *self)
{
	struct cache *c = self;

	nm_hierarchy_free(c->hierarchy);
	nm_event_filter_free(c->filter);
	free(c);
}

static int make(void **ret_self, const struct nm_engine_options *options, struct nm_error *err)
{
	struct cache *c = calloc(1, sizeof *c);
	int status;

	if (!c)
		return nm_fail_memory(err);
	status = nm_hierarchy_new_with_oracle(&c->hierarchy, options->machine, options->oracle, err);
	if (!status && options->event_query) {
		status = nm_event_filter_new(&c->filter, options->event_query, options->machine);
		if (status)
			nm_fail_memory(err);
		else
			nm_event_filter_attach(c->filter, c->hierarchy);
		c->instruction_clock = options->instruction_clock;
	}
	if (!status && nm_hierarchy_set_coalesced(c->hierarchy, options->coalesced))
		status = nm_fail_memory(err);
	if (!status && !options->instructions)
		nm_hierarchy_expect_data(c->hierarchy);
	if (!status && options->sampler)
		nm_hierarchy_set_sampler(c->hierarchy, options->sampler);
	if (status)
		release(c);
	else
		*ret_self = c;
	return status;
}

/* The event that the query waits for may have come in this batch: notes how many instructions had run by then. */
static void date_event(struct cache *c, const struct nm_ref *refs, size_t count)
{
	const uint64_t *instructions = nm_instruction_clock_read(c->instruction_clock);
	const uint64_t reference = nm_event_filter_reference(c->filter);

	for (size_t i = 0; i < count; i++) {
		c->references += refs[i].weight;
		if (c->references == reference)
			nm_event_filter_set_instructions(c->filter, instructions[i]);
	}
}

static int batch(void *self, const struct nm_ref *refs, size_t count, const struct nm_ref *next)
{
	struct cache *c = self;
	int status;

	nm_hierarchy_expect(c->hierarchy, next);
	status = nm_hierarchy_run(c->hierarchy, refs, count);
	if (c->instruction_clock)
		date_event(c, refs, count);
	return status;
}

static int memory(void *self, const struct nm_range *ranges, size_t count)
{
	return nm_hierarchy_set_memory(((struct cache *)self)->hierarchy, ranges, count);
}

static void core(void *self, unsigned running)
{
	nm_hierarchy_set_core(((struct cache *)self)->hierarchy, running);
}

static int add_instructions(void *self, const uint32_t *instructions, size_t count)
{
	return nm_hierarchy_add_instructions(((struct cache *)self)->hierarchy, instructions, count);
}

static int ending(void *self) { return nm_hierarchy_sample_rest(((struct cache *)self)->hierarchy); }

/* An array of figures of the attribution keys that the model has met becomes one of all attribution keys of
 * the result. */
static void *of_all_attrs(void *figures, size_t attrs, const struct nm_result *result, size_t size)
{
	char *all = realloc(figures, (result->attr_count + 1) * size);

	if (!all)
		free(figures);
	else if (attrs < result->attr_count)
		memset(all + attrs * size, 0, (result->attr_count - attrs) * size);
	return all;
}

/* What only some levels count. */
static int finish_extras(struct nm_hierarchy *h, unsigned level, struct nm_result *result)
{
	struct nm_extras *extras;
	size_t attrs;
	int status = nm_hierarchy_extras(h, level, &extras, &attrs);

	if (status || !extras)
		return status;
	result->levels[level].extras = of_all_attrs(extras, attrs, result, sizeof *extras);
	return result->levels[level].extras ? 0 : NM_ENOMEM;
}

static int finish_level(struct nm_hierarchy *h, unsigned level, struct nm_result *result)
{
	struct nm_result_level *out = &result->levels[level];
	struct nm_counts *counts;
	size_t attrs;
	int status = nm_hierarchy_counts(h, level, &counts, &attrs);

	if (status)
		return status;
	out->counts = of_all_attrs(counts, attrs, result, sizeof *counts);
	if (!out->counts)
		return NM_ENOMEM;
	nm_hierarchy_total(h, level, &out->total);
	if (finish_extras(h, level, result))
		return NM_ENOMEM;
	return nm_hierarchy_evictions(h, level, &out->evictions, &out->eviction_count);
}

static int finish(void *self, struct nm_result *result)
{
	struct cache *c = self;
	int status = nm_hierarchy_finish(c->hierarchy);

	for (unsigned level = 0; level < result->machine.count && !status; level++)
		status = finish_level(c->hierarchy, level, result);
	if (c->filter && !status)
		status = nm_event_filter_take(c->filter, &result->events);
	return status;
}

const struct nm_pass nm_pass_cache = {"cache",          make,   batch,  memory, core,
				      add_instructions, ending, finish, release};
