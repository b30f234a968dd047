/* SPDX-License-Identifier: MIT
 *
 * schedules.c - see schedules.h. Each further order is an instance of the cache pass behind a merge of its
 * own.
 */
#include "schedules.h"

#include <assert.h>
#include <stdlib.h>

#include "engine_priv.h"
#include "interleave.h"

struct schedule {
	struct nm_engine *program; /* NULL: of one machine */
	struct nm_thread_order order;
	struct nm_interleave *interleave;
	void *pass; /* of nm_pass_cache */
	int has_uncounted;
};

struct nm_schedules {
	unsigned count;
	struct nm_engine_options options; /* of the passes; single events are kept for the first order only */
	struct schedule at[];
};

static int simulate_merged(void *arg, const struct nm_merged *merged)
{
	struct schedule *s = arg;
	const struct nm_pass_batch batch = {.refs = merged->refs,
					    .count = merged->count,
					    .time_slices = merged->time_slices,
					    .time_slice_count = merged->time_slice_count,
					    .hints = merged->hints,
					    .hint_count = merged->hint_count,
					    .uncounted = s->has_uncounted};
	int status = nm_pass_cache.batch(s->pass, &batch);

	return status ? status : nm_pass_cache.retired(s->pass, s->program, 0);
}

static int start_schedule(struct schedule *s, const struct nm_pass_setup *setup,
			  const struct nm_interleave_setup *first, struct nm_error *err)
{
	struct nm_interleave_setup merge = *first;

	merge.order = s->order;
	merge.output = simulate_merged;
	merge.arg = s;
	if (nm_interleave_new(&s->interleave, &merge))
		return nm_fail_memory(err);
	nm_interleave_set_coalesced(s->interleave, setup->coalesced);
	return nm_pass_cache.make(&s->pass, setup, err);
}

int nm_schedules_new(struct nm_schedules **ret_schedules, const struct nm_pass_setup *setup,
		     const struct nm_interleave_setup *merge, struct nm_error *err)
{
	const unsigned wanted = setup->options->schedules,
		       count = merge->machine->cores > 1 && wanted > 1 ? wanted - 1 : 0;
	struct nm_pass_setup further = *setup;
	struct nm_schedules *all;
	int status = 0;

	if (!count)
		return 0;
	all = calloc(1, sizeof *all + count * sizeof *all->at);
	if (!all)
		return nm_fail_memory(err);
	all->options = *setup->options;
	all->options.event_query = NULL;
	further.options = &all->options;
	further.sampler = NULL;
	for (; all->count < count && !status; all->count++) {
		struct schedule *s = &all->at[all->count];

		*s = (struct schedule){.program = setup->program,
				       .order = nm_thread_order_next(&merge->order, all->count + 1)};
		status = start_schedule(s, &further, merge, err);
	}
	if (status)
		nm_schedules_free(all);
	else
		*ret_schedules = all;
	return status;
}

static void end_pass(struct schedule *s)
{
	if (s->pass)
		nm_pass_cache.free(s->pass);
	s->pass = NULL;
}

void nm_schedules_free(struct nm_schedules *all)
{
	for (unsigned i = 0; all && i < all->count; i++) {
		nm_interleave_free(all->at[i].interleave);
		end_pass(&all->at[i]);
	}
	free(all);
}

/* Calls a function for each order until one fails. */
#define FOR_ALL(all, call)                                                            \
	({                                                                            \
		int status_ = 0;                                                      \
		for (unsigned i_ = 0; (all) && i_ < (all)->count && !status_; i_++) { \
			struct schedule *s = &(all)->at[i_];                          \
			status_ = (call);                                             \
		}                                                                     \
		status_;                                                              \
	})

int nm_schedules_add(struct nm_schedules *all, const struct nm_thread_batch *batch, int has_uncounted)
{
	struct nm_thread_batch untimed = *batch;

	untimed.clock = NULL;
	return FOR_ALL(all, (s->has_uncounted |= has_uncounted, nm_interleave_add(s->interleave, &untimed)));
}

int nm_schedules_drain(struct nm_schedules *all) { return FOR_ALL(all, nm_interleave_drain(s->interleave)); }

int nm_schedules_settle(struct nm_schedules *all)
{
	return FOR_ALL(all, nm_interleave_settle(s->interleave));
}

int nm_schedules_catch_up(struct nm_schedules *all)
{
	return FOR_ALL(all, nm_interleave_send(s->interleave));
}

int nm_schedules_are_over(const struct nm_schedules *all, uint32_t thread)
{
	for (unsigned i = 0; all && i < all->count; i++)
		if (!nm_interleave_is_over(all->at[i].interleave, thread))
			return 0;
	return 1;
}

int nm_schedules_memory(struct nm_schedules *all, const struct nm_range *ranges, size_t count)
{
	assert(ranges || !count);
	return FOR_ALL(all, nm_pass_cache.memory(s->pass, ranges, count));
}

int nm_schedules_keys(struct nm_schedules *all, const struct nm_attribution *attributions, size_t count)
{
	assert(attributions || !count);
	return FOR_ALL(all, nm_pass_cache.keys(s->pass, attributions, count));
}

void nm_schedules_released(struct nm_schedules *all, uint64_t address, uint64_t size, uint32_t object)
{
	for (unsigned i = 0; all && i < all->count; i++)
		nm_pass_cache.released(all->at[i].pass, address, size, object);
}

int nm_schedules_ending(struct nm_schedules *all)
{
	return FOR_ALL(all, nm_pass_cache.ending(s->pass, s->program));
}

/* Keeps levels and coherence of one order; all else that the pass found is the same in each. */
static int finish_schedule(struct schedule *s, const struct nm_pass_merge *merge,
			   const struct nm_result *first, struct nm_result_schedule *to)
{
	struct nm_result r = {.machine = first->machine,
			      .objects = first->objects,
			      .object_count = first->object_count,
			      .attrs = first->attrs,
			      .attr_count = first->attr_count,
			      .context_attr_count = first->context_attr_count};
	int status = nm_pass_cache.finish(s->pass, merge, &r);

	end_pass(s);
	to->order = (struct nm_result_order){.quantum = s->order.quantum,
					     .random = s->order.random,
					     .seed = s->order.seed,
					     .stalls = nm_interleave_forced_progress(s->interleave)};
	for (unsigned i = 0; i < r.machine.count; i++) {
		struct nm_result_level *level = &r.levels[i];

		to->totals[i] = level->total;
		to->extras[i] = level->extras;
		level->extras = NULL;
		if (s->program)
			continue;
		to->counts[i] = level->counts; /* of which processes have their shares */
		level->counts = NULL;
	}
	to->coherence = r.coherence;
	to->coherence_count = r.coherence_count;
	r.coherence = NULL;
	r.coherence_count = 0;
	r.objects = NULL;
	r.object_count = 0;
	r.attrs = NULL;
	nm_result_free(&r);
	return status;
}

int nm_schedules_finish(struct nm_schedules *all, const struct nm_pass_merge *merge, struct nm_result *result)
{
	int status = 0;

	if (!all)
		return 0;
	result->schedules = calloc(all->count, sizeof *result->schedules);
	if (!result->schedules)
		return NM_ENOMEM;
	for (unsigned i = 0; i < all->count && !status; i++)
		status =
		    finish_schedule(&all->at[i], merge, result, &result->schedules[result->schedule_count++]);
	return status;
}
