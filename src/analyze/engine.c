/* SPDX-License-Identifier: MIT
 *
 * engine.c - the engine's life and its loop over records.
 */
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "engine_priv.h"
#include "schedules.h"

nm_execute_function *nm_execute_supported(unsigned i)
{
	nm_execute_function *list[2];
	unsigned n = 0;
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		list[n++] = nm_execute_avx2;
#endif
	list[n++] = nm_execute_plain;
	return i < n ? list[i] : NULL;
}

static int run_passes(struct nm_engine *e, enum nm_pass_part part, const struct nm_batch *submitted,
		      const struct nm_ref *next)
{
	struct nm_pass_batch batch = {.refs = submitted->refs,
				      .count = submitted->count,
				      .turns = submitted->turns,
				      .turn_count = submitted->turn_count,
				      .uncounted = submitted->uncounted,
				      .next = next};
	int status;

	if (e->executor.builder.instruction_clock && part & NM_PASSES_TOGETHER)
		batch.clock = nm_instruction_clock_read(e->executor.builder.instruction_clock);
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
static int start_passes(struct nm_engine *e, struct nm_error *err)
{
	const int two = e->options.threads > 2 && nm_passes_have_separate(&e->feed.passes);
	int status = nm_workers_add(e->output.workers, two ? run_together : run_all, e, err);

	return status || !two ? status : nm_workers_add(e->output.workers, run_separate, e, err);
}

static int make_passes(struct nm_engine *e, struct nm_error *err)
{
	struct nm_pass_setup setup = {
	    .options = &e->options, .coalesced = e->executor.resolver.coalesced, .sampler = &e->sampler};
	int status = nm_passes_make(&e->feed.passes, &setup, err);

	if (!status)
		status = nm_schedules_new(&e->output.schedules, e, &setup, err);
	return status ? status : start_passes(e, err);
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

/* The executor, which works on the engine's process. */
static int init_executor(struct nm_engine *e, unsigned needs)
{
	struct nm_executor *x = &e->executor;
	const struct nm_executor_process process = {.attrs = &e->attrs,
						    .calls = e->calls,
						    .space = &e->space,
						    .contexts = &e->contexts,
						    .threads = &e->threads};

	x->execute = nm_execute_supported(0);
	x->fetch_line = fetch_line(&e->machine);
	x->fetching = e->options.instructions && x->fetch_line;
	x->resolver.heap_chains = e->options.heap_chains;
	x->builder.submit = nm_engine_submit;
	x->builder.sample = nm_engine_sample;
	x->builder.arg = e;
	if (needs & NM_PASS_CLOCK && !(x->builder.instruction_clock = nm_instruction_clock_new()))
		return NM_ENOMEM;
	return nm_executor_init(x, &process);
}

/* The process of the stream, still empty. */
static int init_process(struct nm_engine *e, unsigned needs)
{
	e->exit_status = -1;
	if ((e->options.contexts && !(e->calls = nm_calls_new())) || nm_attributions_init(&e->attrs) ||
	    nm_contexts_init(&e->contexts) || nm_space_init(&e->space, e->symbols))
		return NM_ENOMEM;
	e->attrs.by_instruction = e->options.by_instruction || needs & NM_PASS_INSTRUCTIONS;
	e->attrs.by_pc = (needs & NM_PASS_INSTRUCTIONS) != 0;
	e->attrs.symbols = e->symbols;
	e->attrs.user_folders = e->options.user_folders;
	return 0;
}

int nm_engine_new(struct nm_engine **ret_engine, const struct nm_engine_options *options,
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
	if (!status && (init_process(e, needs) || init_executor(e, needs) ||
			(e->machine.cores > 1 && nm_engine_interleave(e))))
		status = nm_fail_memory(err);
	if (!status)
		status = make_passes(e, err);
	if (status) {
		nm_engine_free(e);
		return status;
	}
	e->executor.builder.refs = nm_workers_buffer(e->output.workers);
	*ret_engine = e;
	return 0;
}

static void free_threads(struct nm_engine *e)
{
	for (size_t i = 0; i < e->threads.count; i++) {
		free(e->threads.at[i]->decoded_blocks);
		nm_frames_done(&e->threads.at[i]->frames);
		nm_signals_done(&e->threads.at[i]->signals);
	}
	nm_vec_free(&e->threads);
}

void nm_engine_free(struct nm_engine *e)
{
	if (!e)
		return;
	nm_workers_free(e->output.workers);
	nm_interleave_free(e->output.interleave);
	nm_schedules_free(e->output.schedules);
	nm_passes_free(&e->feed.passes);
	free_threads(e);
	nm_executor_done(&e->executor);
	nm_attributions_done(&e->attrs);
	nm_calls_free(e->calls);
	nm_contexts_done(&e->contexts);
	nm_space_done(&e->space);
	nm_sampler_done(&e->sampler);
	nm_sampled_done(&e->sampled);
	for (size_t i = 0; i < e->children.count; i++)
		nm_engine_free(e->children.at[i].engine);
	nm_vec_free(&e->children);
	free(e);
}

/* Why a batch failed: the status says only that memory is exhausted. */
static int failed(const struct nm_engine *e, int status, struct nm_error *err)
{
	nm_workers_drain(e->output.workers);
	return e->feed.broken_promise
		   ? nm_fail(err, NM_EPLUGIN, "a plug-in put a line where its level has no place")
		   : status;
}

int nm_engine_feed(struct nm_engine *e, const uint64_t *words, size_t count, struct nm_error *err)
{
	struct nm_wire_scan scan = nm_wire_scan_over(words, count);
	struct nm_wire_record r;
	int status = 0;

	while (scan.at < count && !status) {
		uint64_t w = words[scan.at];

		if (nm_wire_is_header(w) && nm_wire_kind(w) == NM_WIRE_BLOCK) {
			long taken = e->executor.execute(&e->executor, words + scan.at, count - scan.at, err);

			if (taken < 0)
				return failed(e, (int)taken, err);
			scan.at += (size_t)taken;
			continue;
		}
		status = nm_wire_scan_next(&scan, &r, err);
		if (status <= 0) /* the end, or a truncated record */
			break;
		status = nm_engine_event(e, &r, err);
	}
	NM_CHECK(status || nm_executor_is_valid(&e->executor));
	return status < 0 ? failed(e, status, err) : status;
}

/* Which core each thread ran on, and in which order. */
static int list_threads(const struct nm_engine *e, struct nm_result *result)
{
	size_t count = e->machine.cores > 1 ? e->threads.count : 0;

	if (!count)
		return 0;
	result->order = (struct nm_result_order){
	    .quantum = e->options.order.quantum ? e->options.order.quantum : NM_QUANTUM,
	    .random = e->options.order.random,
	    .seed = e->options.order.seed,
	    .stalls = nm_interleave_stalls(e->output.interleave)};
	result->threads = calloc(count, sizeof *result->threads);
	if (!result->threads)
		return NM_ENOMEM;
	for (; result->thread_count < count; result->thread_count++) {
		uint32_t number = e->threads.at[result->thread_count]->number;

		result->threads[result->thread_count] =
		    (struct nm_result_thread){number, nm_machine_core(&e->machine, number)};
	}
	return 0;
}

/* Frees what only the stream needed, before the result takes memory of its own. */
static void let_go(struct nm_engine *e)
{
	free_threads(e);
	nm_executor_free_code(&e->executor);
	nm_blocks_done(&e->space.heap);
	nm_blocks_done(&e->space.chunks);
	nm_blocks_done(&e->space.named);
	nm_map_done(&e->attrs.attr_of);
}

int nm_engine_finish(struct nm_engine *e, struct nm_result *ret_result, struct nm_error *err)
{
	struct nm_result result = {.machine = e->machine};
	uint32_t *objects = NULL;
	int status = nm_engine_drain_threads(e), drained;

	nm_resolver_credit_members(&e->executor.resolver);
	if (!status) /* while the models may still be at work */
		status = nm_engine_name_objects(e, &result, &objects);
	drained = nm_workers_drain(e->output.workers);
	if (!status)
		status = drained;
	if (!status)
		status = list_threads(e, &result);
	if (!status)
		status = nm_engine_end_samples(e);
	if (!status)
		status = nm_passes_ending(&e->feed.passes, e);
	if (!status)
		status = nm_schedules_ending(e->output.schedules);
	let_go(e);
	if (!status)
		status = nm_engine_merge(e, &result, objects);
	free(objects);
	if (status) {
		nm_result_free(&result);
		return failed(e, nm_fail_memory(err), err);
	}
	*ret_result = result;
	return 0;
}

uint64_t nm_engine_references(const struct nm_engine *e) { return e->executor.builder.references; }

struct nm_engine *nm_engine_take_child(struct nm_engine *e, uint32_t *ret_ordinal)
{
	if (!e->children.count)
		return NULL;
	e->children.count--;
	*ret_ordinal = e->children.at[e->children.count].ordinal;
	return e->children.at[e->children.count].engine;
}
