/* SPDX-License-Identifier: MIT
 *
 * batch_builder.c - appends references to the batch, counts them by attribution key, and submits full batches.
 */
#include "engine_priv.h"

int nm_engine_append(struct nm_engine *e, struct nm_ref ref, uint32_t access_site)
{
	struct nm_batch_builder *b = &e->builder;

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

int nm_engine_flush(struct nm_engine *e)
{
	struct nm_batch_builder *b = &e->builder;
	size_t count = b->count;
	int status = nm_engine_resolve_pending(e);

	if (!count || status)
		return status;
	count_references(e);
	if (e->calls && nm_calls_translate(e->calls, b->refs, count))
		return NM_ENOMEM;
	b->count = 0;
	nm_bursts_next(&b->bursts);
	if (nm_engine_must_announce(e) && nm_engine_announce(e))
		return NM_ENOMEM;
	nm_coalesced_raise_limit(e->resolver.coalesced, (uint32_t)nm_engine_attr_count(e));
	status = nm_workers_submit(b->workers, count);
	if (b->instruction_clock)
		nm_instruction_clock_next(b->instruction_clock);
	b->refs = nm_workers_buffer(b->workers);
	if (!status && b->submitted++ >= NM_WORKERS_QUEUE)
		status = nm_passes_retired(&e->feed.passes, e, b->submitted - NM_WORKERS_QUEUE - 1);
	return status;
}
