/* SPDX-License-Identifier: MIT
 *
 * engine.c - makes and frees engines.
 */
#include <assert.h>
#include <stdlib.h>

#include "engine_priv.h"
#include "layouts.h"
#include "one_machine.h"
#include "schedules.h"
#include "visits.h"

static int run_passes(struct nm_engine *e, enum nm_pass_part part, const struct nm_batch *submitted,
		      const struct nm_ref *next)
{
	struct nm_pass_batch batch = {.refs = submitted->refs,
				      .count = submitted->count,
				      .time_slices = submitted->time_slices,
				      .time_slice_count = submitted->time_slice_count,
				      .hints = submitted->hints,
				      .hint_count = submitted->hint_count,
				      .uncounted = submitted->uncounted,
				      .instructions = submitted->instructions,
				      .next = next};
	int status;

	if (e->replay.builder.instruction_clock && part & NM_PASSES_TOGETHER)
		batch.clock = nm_instruction_clock_read(e->replay.builder.instruction_clock);
	status = nm_passes_batch(&e->feed.passes, part, &batch);
	if (status == NM_EPLUGIN)
		e->feed.broken_promise = 1;
	return status;
}

static int run_all(void *engine, const struct nm_batch *batch, const struct nm_ref *next)
{
	return run_passes(engine, NM_PASSES_ALL, batch, next);
}

static int run_together(void *engine, const struct nm_batch *batch, const struct nm_ref *next)
{
	return run_passes(engine, NM_PASSES_TOGETHER, batch, next);
}

static int run_separate(void *engine, const struct nm_batch *batch, const struct nm_ref *next)
{
	return run_passes(engine, NM_PASSES_SEPARATE, batch, next);
}

/* Every batch goes to every pass, on one thread or two. */
static void start_passes(struct nm_engine *e)
{
	const int two = e->options.threads > 2 && nm_passes_have_separate(&e->feed.passes);

	nm_workers_add(e->output.workers, two ? run_together : run_all, e);
	if (two)
		nm_workers_add(e->output.workers, run_separate, e);
}

int nm_engine_make_passes(struct nm_engine *e, struct nm_error *err)
{
	struct nm_pass_setup setup = {.options = &e->options,
				      .program = e,
				      .coalesced = e->replay.resolver.coalesced,
				      .areas = &e->areas,
				      .sampler = &e->sampler};
	const struct nm_interleave_setup merge = {.machine = &e->machine, .order = e->options.order};
	int status = nm_passes_make(&e->feed.passes, &setup, err);

	e->feed.has_passes = 1;
	if (!status && !e->options.one_machine) /* which has them for all its processes */
		status = nm_schedules_new(&e->output.schedules, &setup, &merge, err);
	if (!status)
		status = nm_layouts_new(&e->output.layouts, e, &setup, err);
	if (!status && nm_visits_new(&e->output.visits, e, setup.coalesced))
		status = nm_fail_memory(err);
	if (!status)
		start_passes(e);
	return status;
}

/* The shortest line of the levels that take fetches first, at most LONGEST; 0 if there are none. */
static uint32_t fetch_line(const struct nm_machine *machine)
{
	enum { LONGEST = 128 /* so that a run's length fits into a byte */ };
	uint32_t line = 0;

	for (unsigned i = 0; i < machine->count; i++) {
		const struct nm_level_spec *l = &machine->levels[i];
		uint32_t run = nm_level_unit(l) < LONGEST ? nm_level_unit(l) : LONGEST;
		int takes =
		    l->pages ? l->side != NM_SIDE_DATA : nm_machine_first(machine, i, NM_SIDE_INSTRUCTION);

		if (takes && (!line || run < line))
			line = run;
	}
	return line;
}

/* The replay, which works on the engine's process. */
static int init_replay(struct nm_engine *e, unsigned needs)
{
	struct nm_replay *r = &e->replay;
	const struct nm_replay_process process = {.attrs = &e->attrs,
						  .calls = e->calls,
						  .regions = &e->regions,
						  .space = &e->space,
						  .contexts = &e->contexts,
						  .threads = &e->threads};

	r->execute = nm_execute_supported(0);
	r->fetch_line = fetch_line(&e->machine);
	r->fetching = e->options.instructions && r->fetch_line;
	r->resolver.heap_chains = e->options.heap_chains;
	r->builder.submit = nm_engine_submit;
	r->builder.sample = nm_engine_sample;
	r->builder.arg = e;
	if (needs & NM_PASS_CLOCK && !(r->builder.instruction_clock = nm_instruction_clock_new()))
		return NM_ENOMEM;
	if (nm_replay_init(r, &process))
		return NM_ENOMEM;
	r->paused = e->options.paused;
	nm_replay_set_window(r, &e->options.window);
	return 0;
}

/* The process of the stream, still empty. */
static int init_process(struct nm_engine *e, unsigned needs)
{
	e->exit_status = -1;
	if ((e->options.contexts && !(e->calls = nm_calls_new())) || nm_attributions_init(&e->attrs) ||
	    nm_regions_init(&e->regions) || nm_contexts_init(&e->contexts) ||
	    nm_space_init(&e->space, e->symbols))
		return NM_ENOMEM;
	e->attrs.by_instruction = e->options.by_instruction || needs & NM_PASS_INSTRUCTIONS;
	e->attrs.by_pc = (needs & NM_PASS_INSTRUCTIONS) != 0;
	e->attrs.symbols = e->symbols;
	e->attrs.user_folders = e->options.user_folders;
	e->namer = (struct nm_namer){.symbols = e->symbols,
				     .space = &e->space,
				     .contexts = &e->contexts,
				     .attrs = &e->attrs,
				     .allocators = e->options.allocators,
				     .pools = e->options.pools,
				     .allocator_count = e->options.allocator_count,
				     .pool_count = e->options.pool_count};
	return 0;
}

int nm_engine_new_without_passes(struct nm_engine **ret_engine, const struct nm_engine_options *options,
				 struct nm_error *err)
{
	struct nm_engine *e = calloc(1, sizeof *e);
	unsigned needs;
	int status;

	if (!e)
		return nm_fail_memory(err);
	e->symbols = options->symbols;
	e->machine = *options->machine;
	e->options = *options;
	e->options.contexts |= options->heap_chains;
	needs = nm_passes_need(options);
	e->feed.memory_changed = (needs & NM_PASS_MEMORY) != 0;
	nm_sampler_init(&e->sampler);
	status = nm_workers_new(&e->output.workers, options->threads, options->idle, err);
	if (!status && (init_process(e, needs) || init_replay(e, needs) ||
			(options->one_machine ? nm_batch_builder_order_threads(&e->replay.builder)
					      : e->machine.cores > 1 && nm_engine_interleave(e)) ||
			(options->candidate_count && nm_layouts_add_areas(&e->areas))))
		status = nm_fail_memory(err);
	if (status) {
		nm_engine_free(e);
		return status;
	}
	e->replay.builder.refs = nm_workers_buffer(e->output.workers);
	*ret_engine = e;
	return 0;
}

int nm_engine_new(struct nm_engine **ret_engine, const struct nm_engine_options *options,
		  struct nm_error *err)
{
	struct nm_engine *e;
	int status = nm_engine_new_without_passes(&e, options, err);

	if (status)
		return status;
	status = nm_engine_make_passes(e, err);
	if (status)
		nm_engine_free(e);
	else
		*ret_engine = e;
	return status;
}

int nm_engine_follow_phases(struct nm_engine *e, const struct nm_phase_plan *plan)
{
	assert(!e->replay.phases);
	e->replay.phases = plan;
	nm_replay_ask(&e->replay, e->replay.asked); /* the first phase may not be asked for */
	return nm_replay_turn(&e->replay);
}

void nm_engine_free_thread(struct nm_thread *t)
{
	nm_thread_free_lanes(t);
	nm_vec_free(&t->open);
	nm_vec_free(&t->open_calls);
	nm_frames_done(&t->frames);
	nm_signals_done(&t->signals);
}

void nm_engine_free_threads(struct nm_engine *e)
{
	for (size_t i = 0; i < e->threads.count; i++)
		nm_engine_free_thread(e->threads.at[i]);
	nm_vec_free(&e->threads);
}

void nm_engine_free(struct nm_engine *e)
{
	if (!e)
		return;
	if (e->output.member)
		nm_member_leave(e->output.member);
	nm_workers_free(e->output.workers);
	nm_interleave_free(e->output.interleave);
	nm_schedules_free(e->output.schedules);
	nm_layouts_free(e->output.layouts);
	nm_visits_free(e->output.visits);
	nm_passes_free(&e->feed.passes);
	nm_engine_free_threads(e);
	nm_replay_done(&e->replay);
	nm_attributions_done(&e->attrs);
	nm_calls_free(e->calls);
	nm_regions_done(&e->regions);
	nm_contexts_done(&e->contexts);
	nm_namer_done(&e->namer);
	nm_perf_map_done(&e->perf_map);
	nm_space_done(&e->space);
	nm_areas_done(&e->areas);
	nm_sampler_done(&e->sampler);
	nm_sampled_done(&e->sampled);
	for (size_t i = 0; i < e->children.count; i++)
		nm_engine_free(e->children.at[i].engine);
	nm_vec_free(&e->children);
	free(e);
}

void nm_engine_pause(struct nm_engine *e, int paused)
{
	e->options.paused = paused;
	nm_replay_pause(&e->replay, paused);
}

int nm_engine_before_fork(struct nm_engine *e)
{
	const int status = nm_workers_drain(e->output.workers);

	if (!status)
		nm_workers_before_fork(e->output.workers);
	return status;
}

void nm_engine_after_fork(struct nm_engine *e, int is_child)
{
	nm_workers_after_fork(e->output.workers, is_child);
}

uint64_t nm_engine_references(const struct nm_engine *e) { return nm_replay_references(&e->replay); }

struct nm_engine *nm_engine_take_child(struct nm_engine *e, uint32_t *ret_ordinal)
{
	if (!e->children.count)
		return NULL;
	e->children.count--;
	*ret_ordinal = e->children.at[e->children.count].ordinal;
	return e->children.at[e->children.count].engine;
}
