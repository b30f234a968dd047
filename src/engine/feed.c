/* SPDX-License-Identifier: MIT
 *
 * feed.c - the engine's loop over the records of a stream, and the result at its end.
 */
#include <assert.h>
#include <stdlib.h>

#include "checks.h"
#include "engine_priv.h"
#include "one_machine.h"
#include "part.h"
#include "schedules.h"

/* Why a batch failed: the status says only that memory is exhausted. */
static int explain_failure(const struct nm_engine *e, int status, struct nm_error *err)
{
	nm_workers_drain(e->output.workers);
	return e->feed.broken_promise
		   ? nm_fail(err, NM_EPLUGIN, "a plug-in put a line where its level has no place")
		   : status;
}

/* Of a run in parts, in the manner that is set (part.h). */
static void begin_piece(struct nm_engine *e)
{
	const struct nm_run_part *part = e->options.part;

	e->replay.silent = part->manner == NM_PART_FOLLOW || part->manner == NM_PART_OUTLINE;
	e->replay.outline = part->manner == NM_PART_OUTLINE ? part->outline : NULL;
	nm_replay_choose_path(&e->replay);
}

static int end_piece(struct nm_engine *e)
{
	return e->replay.outline ? nm_outline_flush(e->replay.outline) : nm_replay_flush(&e->replay);
}

/* Stops behind a record that leaves a child, if `to_fork`. */
static int feed_words(struct nm_engine *e, const uint64_t *words, size_t count, int to_fork,
		      size_t *ret_taken, struct nm_error *err)
{
	struct nm_wire_scan scan = nm_wire_scan_over(words, count);
	struct nm_wire_record r;
	int status = e->feed.has_passes ? 0 : nm_engine_make_passes(e, err);

	*ret_taken = count;
	if (e->options.part)
		begin_piece(e);
	while (scan.at < count && !status && !(to_fork && e->children.count)) {
		uint64_t w = words[scan.at];

		if (nm_wire_is_header(w) && nm_wire_kind(w) == NM_WIRE_BLOCK) {
			long taken = e->replay.execute(&e->replay, words + scan.at, count - scan.at, err);

			if (taken < 0)
				return explain_failure(e, (int)taken, err);
			scan.at += (size_t)taken;
			continue;
		}
		status = nm_wire_scan_next(&scan, &r, err);
		if (status <= 0) /* the end, or a truncated record */
			break;
		if (e->replay.outline &&
		    nm_outline_record(e->replay.outline, words + r.offset, scan.at - (size_t)r.offset))
			return nm_fail_memory(err);
		status = nm_engine_event(e, &r, err);
	}
	NM_CHECK(status || nm_replay_is_valid(&e->replay));
	if (!status && e->options.part)
		status = end_piece(e);
	if (!status && e->output.member) {
		status = nm_replay_flush(&e->replay);
		nm_member_end_turn(e->output.member);
	}
	if (to_fork && e->children.count)
		*ret_taken = scan.at;
	return status < 0 ? explain_failure(e, status, err) : status;
}

int nm_engine_feed(struct nm_engine *e, const uint64_t *words, size_t count, struct nm_error *err)
{
	size_t taken;

	assert(words || !count);
	return feed_words(e, words, count, 0, &taken, err);
}

int nm_engine_feed_to_fork(struct nm_engine *e, const uint64_t *words, size_t count, size_t *ret_taken,
			   struct nm_error *err)
{
	assert(!e->children.count);
	return feed_words(e, words, count, 1, ret_taken, err);
}

/* Which core each thread ran on, and in which order. */
static int list_threads(const struct nm_engine *e, struct nm_result *result)
{
	size_t count = e->machine.cores > 1 ? e->threads_started : 0;

	if (!count)
		return 0;
	result->order = (struct nm_result_order){
	    .quantum = e->options.order.quantum ? e->options.order.quantum : NM_QUANTUM,
	    .random = e->options.order.random,
	    .seed = e->options.order.seed,
	    .stalls = e->output.interleave ? nm_interleave_forced_progress(e->output.interleave) : 0};
	result->threads = calloc(count, sizeof *result->threads);
	if (!result->threads)
		return NM_ENOMEM;
	for (; result->thread_count < count; result->thread_count++) {
		const uint32_t mine = (uint32_t)result->thread_count + 1;
		const uint32_t number = e->output.member ? nm_member_thread(e->output.member, mine) : mine;

		result->threads[result->thread_count] =
		    (struct nm_result_thread){number, nm_machine_core(&e->machine, number)};
	}
	return 0;
}

/* Frees what only the stream needed, before the result takes memory of its own. */
static void let_go(struct nm_engine *e)
{
	nm_engine_free_threads(e);
	nm_replay_free_code(&e->replay);
	nm_blocks_done(&e->space.heap);
	nm_blocks_done(&e->space.chunks);
	nm_blocks_done(&e->space.named);
	nm_map_done(&e->attrs.attr_of);
}

int nm_engine_finish(struct nm_engine *e, struct nm_result *ret_result, struct nm_error *err)
{
	struct nm_result result = {.machine = e->machine};
	uint32_t *objects = NULL;
	int status = e->feed.has_passes ? 0 : nm_engine_make_passes(e, err), drained;

	if (status)
		return status;
	status = nm_engine_drain_threads(e);
	if (!status && e->output.member)
		status = nm_one_machine_catch_up(e->options.one_machine);
	nm_replay_count_runs(&e->replay);
	nm_resolver_credit_members(&e->replay.resolver);
	if (!status) /* while the models may still be at work */
		status = nm_namer_objects(&e->namer, &result, &objects);
	drained = nm_engine_drain_passes(e);
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
		return explain_failure(e, nm_fail_memory(err), err);
	}
	*ret_result = result;
	return 0;
}
