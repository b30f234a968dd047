/* SPDX-License-Identifier: MIT
 *
 * submit.c - sends batches to the passes: as they are or, if the machine has several cores, merged into an
 * order in which the threads might have run. Shows the passes the references that are sampled.
 */
#include "engine_priv.h"
#include "layouts.h"
#include "schedules.h"

static int submit(struct nm_engine *e, struct nm_batch *batch, const uint64_t *clock)
{
	struct nm_output *o = &e->output;
	int status;

	if (clock)
		nm_instruction_clock_submit(e->executor.builder.instruction_clock, clock, batch->count);
	batch->uncounted = e->executor.has_paused;
	batch->instructions = e->executor.clock - e->executor.unmeasured;
	status = nm_workers_submit(o->workers, batch);
	if (!status && o->submitted++ >= NM_BATCHES_IN_FLIGHT)
		status = nm_passes_retired(&e->feed.passes, e, o->submitted - NM_BATCHES_IN_FLIGHT - 1);
	return status;
}

static int submit_merged(void *arg, const struct nm_merged *merged)
{
	struct nm_batch batch = {merged->refs, merged->count, merged->turns, merged->turn_count, 0, 0};

	return submit(arg, &batch, merged->clock);
}

int nm_engine_interleave(struct nm_engine *e)
{
	struct nm_executor *x = &e->executor;
	const struct nm_interleave_setup setup = {.machine = &e->machine,
						  .order = e->options.order,
						  .clocked = x->builder.instruction_clock != NULL,
						  .output = submit_merged,
						  .arg = e};

	if (nm_batch_builder_order_threads(&x->builder) || nm_interleave_new(&e->output.interleave, &setup))
		return NM_ENOMEM;
	nm_interleave_set_coalesced(e->output.interleave, x->resolver.coalesced);
	return 0;
}

int nm_engine_submit(void *arg, const struct nm_built_batch *built)
{
	struct nm_engine *e = arg;
	struct nm_output *o = &e->output;
	int status;

	if (nm_engine_must_announce(e) && nm_engine_announce(e))
		return NM_ENOMEM;
	nm_coalesced_raise_limit(e->executor.resolver.coalesced, (uint32_t)nm_engine_attr_count(e));
	if (!o->interleave) {
		status = nm_layouts_add(o->layouts, built->refs, built->count, e->executor.has_paused);
		return status ? status
			      : submit(e, &(struct nm_batch){.refs = built->refs, .count = built->count},
				       built->clock);
	}
	status = nm_schedules_add(o->schedules, built->refs, built->count, built->syncs, built->sync_count);
	return status ? status
		      : nm_interleave_add(o->interleave, built->refs, built->count, built->clock,
					  built->syncs, built->sync_count);
}

int nm_engine_sample(void *arg)
{
	struct nm_engine *e = arg;
	const struct nm_decoder *decoder = &e->executor.decoder;
	const struct nm_bursts *b = &e->executor.builder.bursts;
	const struct nm_pass_sample sample = {.refs = e->executor.builder.refs,
					      .from = b->taken,
					      .end = e->executor.builder.count,
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
	int status = nm_executor_flush(&e->executor);

	if (!status && o->interleave)
		status = nm_interleave_drain(o->interleave);
	return status ? status : nm_schedules_drain(o->schedules);
}
