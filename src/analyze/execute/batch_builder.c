/* SPDX-License-Identifier: MIT
 *
 * batch_builder.c - appends references to the batch, counts them by attribution key, and sends full batches
 * to the passes, interleaved by core if the machine has several.
 */
#include <assert.h>
#include <stdlib.h>

#include "engine_priv.h"
#include "schedules.h"

int nm_engine_append(struct nm_engine *e, struct nm_ref ref, uint32_t access_site)
{
	struct nm_batch_builder *b = &e->builder;

	assert(b->count <= NM_BATCH && ref.attr);
	if (b->count == NM_BATCH && nm_engine_flush(e))
		return NM_ENOMEM;
	if (b->instruction_clock)
		nm_instruction_clock_note(b->instruction_clock, b->count, b->instructions);
	b->bursts.access[b->count] = access_site;
	b->bursts.frame_end[b->count] = e->window.low + e->window.own;
	b->refs[b->count++] = ref;
	return 0;
}

/* Counts the batch's references: members of coalesced accesses are counted at the end (nm_engine_share). */
static void count_references(struct nm_engine *e)
{
	struct nm_attr_references *const of = e->attrs.references;
	uint64_t data = 0;

	for (const struct nm_ref *r = e->builder.refs, *end = r + e->builder.count; r != end; r++) {
		if (nm_ref_is_coalesced(r))
			nm_coalesced_at(e->resolver.coalesced, r->attr)->count++;
		else
			of[r->attr].count[r->kind == NM_REF_WRITE] += r->weight;
		data += r->kind == NM_REF_FETCH ? 0 : r->weight;
	}
	e->builder.references += data;
}

static int submit(struct nm_engine *e, struct nm_batch *batch, const uint64_t *clock)
{
	struct nm_batch_builder *b = &e->builder;
	int status;

	if (nm_engine_must_announce(e) && nm_engine_announce(e))
		return NM_ENOMEM;
	nm_coalesced_raise_limit(e->resolver.coalesced, (uint32_t)nm_engine_attr_count(e));
	if (b->instruction_clock)
		nm_instruction_clock_submit(b->instruction_clock, clock, batch->count);
	batch->uncounted = e->has_paused;
	status = nm_workers_submit(b->workers, batch);
	if (!status && b->submitted++ >= NM_WORKERS_QUEUE)
		status = nm_passes_retired(&e->feed.passes, e, b->submitted - NM_WORKERS_QUEUE - 1);
	return status;
}

static int submit_merged(void *arg, const struct nm_merged *merged)
{
	struct nm_batch batch = {merged->refs, merged->count, merged->turns, merged->turn_count, 0};

	return submit(arg, &batch, merged->clock);
}

int nm_engine_interleave(struct nm_engine *e)
{
	struct nm_batch_builder *b = &e->builder;
	const struct nm_interleave_setup setup = {.machine = &e->machine,
						  .order = e->options.order,
						  .clocked = b->instruction_clock != NULL,
						  .output = submit_merged,
						  .arg = e};

	b->syncs = malloc(NM_SYNCS * sizeof *b->syncs);
	if (!b->syncs || nm_interleave_new(&b->interleave, &setup))
		return NM_ENOMEM;
	nm_interleave_set_coalesced(b->interleave, e->resolver.coalesced);
	return 0;
}

int nm_engine_flush(struct nm_engine *e)
{
	struct nm_batch_builder *b = &e->builder;
	const size_t count = b->count, sync_count = b->sync_count;
	const uint64_t *clock = b->instruction_clock ? b->instruction_clock->draft : NULL;
	int status = nm_engine_resolve_pending(e);

	if ((!count && !sync_count) || status)
		return status;
	count_references(e);
	if (e->calls && nm_calls_translate(e->calls, b->refs, count))
		return NM_ENOMEM;
	b->count = b->sync_count = 0;
	if (count)
		nm_bursts_next(&b->bursts);
	if (!b->interleave)
		return submit(e, &(struct nm_batch){.refs = b->refs, .count = count}, clock);
	status = nm_schedules_add(b->schedules, b->refs, count, b->syncs, sync_count);
	return status ? status
		      : nm_interleave_add(b->interleave, b->refs, count, clock, b->syncs, sync_count);
}

int nm_engine_drain_threads(struct nm_engine *e)
{
	struct nm_batch_builder *b = &e->builder;
	int status = nm_engine_flush(e);

	if (!status && b->interleave)
		status = nm_interleave_drain(b->interleave);
	return status ? status : nm_schedules_drain(b->schedules);
}

int nm_engine_synchronise(struct nm_engine *e, struct nm_sync sync)
{
	struct nm_batch_builder *b = &e->builder;
	int status = 0;

	if (!b->interleave)
		return 0;
	if (b->sync_count >= NM_SYNCS - NM_BATCH)
		status = nm_engine_flush(e);
	sync.index = (uint32_t)b->count;
	b->syncs[b->sync_count++] = sync;
	return status;
}

void nm_engine_synchronise_by(struct nm_engine *e, uint8_t kind)
{
	struct nm_batch_builder *b = &e->builder;

	assert(b->interleave && b->count && b->sync_count < NM_SYNCS);
	b->syncs[b->sync_count++] = (struct nm_sync){.kind = kind, .index = (uint32_t)b->count - 1};
}
