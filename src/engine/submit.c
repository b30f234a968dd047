/* SPDX-License-Identifier: MIT
 *
 * submit.c - sends batches to the passes: as they are or, if the machine has several cores, merged into an
 * order in which the threads might have run. Shows the passes the references that are sampled.
 */
#include <assert.h>

#include "engine_priv.h"
#include "layouts.h"
#include "one_machine.h"
#include "schedules.h"
#include "visits.h"

static int submit_batch(struct nm_engine *e, struct nm_batch *batch, const uint64_t *clock)
{
	struct nm_output *o = &e->output;
	int status;

	assert(batch->count <= NM_BATCH);
	if (clock)
		nm_instruction_clock_submit(e->replay.builder.instruction_clock, clock, batch->count);
	batch->uncounted = e->replay.has_paused;
	batch->instructions = e->replay.clock - e->replay.unmeasured;
	status = nm_workers_submit(o->workers, batch);
	if (!status && o->submitted++ >= NM_BATCHES_IN_FLIGHT)
		status = nm_passes_retired(&e->feed.passes, e, o->submitted - NM_BATCHES_IN_FLIGHT - 1);
	return status;
}

static int submit_merged(void *arg, const struct nm_merged *merged)
{
	struct nm_batch batch = {.refs = merged->refs,
				 .count = merged->count,
				 .time_slices = merged->time_slices,
				 .time_slice_count = merged->time_slice_count,
				 .hints = merged->hints,
				 .hint_count = merged->hint_count};

	return submit_batch(arg, &batch, merged->clock);
}

int nm_engine_interleave(struct nm_engine *e)
{
	struct nm_replay *r = &e->replay;
	const struct nm_interleave_setup setup = {.machine = &e->machine,
						  .order = e->options.order,
						  .clocked = r->builder.instruction_clock != NULL,
						  .output = submit_merged,
						  .arg = e};

	assert(!e->output.interleave);
	if (nm_batch_builder_order_threads(&r->builder) || nm_interleave_new(&e->output.interleave, &setup))
		return NM_ENOMEM;
	nm_interleave_set_coalesced(e->output.interleave, r->resolver.coalesced);
	return 0;
}

int nm_engine_submit(void *arg, const struct nm_thread_batch *built)
{
	struct nm_engine *e = arg;
	struct nm_output *o = &e->output;
	const size_t hints =
	    o->layouts ? 0 : built->hint_count; /* candidates have none, and are compared with it */
	int status;

	assert(built->count <= NM_BATCH);
	if (nm_engine_must_announce(e) && nm_engine_announce(e))
		return NM_ENOMEM;
	nm_coalesced_raise_limit(e->replay.resolver.coalesced, (uint32_t)nm_engine_attr_count(e));
	if (o->member && (status = nm_member_add(o->member, built)))
		return status;
	if (!o->interleave) {
		status = nm_layouts_add(o->layouts, built->refs, built->count, e->replay.has_paused);
		if (!status)
			status = nm_visits_add(o->visits, built->refs, built->count);
		return status || !(built->count + hints)
			   ? status
			   : submit_batch(e,
					  &(struct nm_batch){.refs = built->refs,
							     .count = built->count,
							     .hints = built->hints,
							     .hint_count = hints},
					  built->clock);
	}
	status = nm_schedules_add(o->schedules, built, e->replay.has_paused);
	return status ? status : nm_interleave_add(o->interleave, built);
}

int nm_engine_sample(void *arg)
{
	struct nm_engine *e = arg;
	const struct nm_decoder *decoder = &e->replay.decoder;
	const struct nm_bursts *b = &e->replay.builder.bursts;
	const struct nm_pass_sample sample = {.refs = e->replay.builder.refs,
					      .from = b->taken,
					      .end = e->replay.builder.count,
					      .access = b->access,
					      .instructions = decoder->access_instructions.at,
					      .chases = decoder->access_chases.at,
					      .frame_end = b->frame_end,
					      .burst = b->burst,
					      .batch = b->batch,
					      .left = b->until - b->batch};

	return nm_passes_sample(&e->feed.passes, e, &sample);
}

int nm_engine_drain_threads(struct nm_engine *e)
{
	struct nm_output *o = &e->output;
	int status = nm_replay_flush(&e->replay);

	if (!status && o->interleave)
		status = nm_interleave_drain(o->interleave);
	return status ? status : nm_schedules_drain(o->schedules);
}

int nm_engine_drain_passes(struct nm_engine *e)
{
	const int status = nm_layouts_run(e->output.layouts), drained = nm_workers_drain(e->output.workers);

	return status ? status : drained;
}
