/* SPDX-License-Identifier: MIT
 *
 * batches.c - appends references to the batch, counts them by attribution key, and submits full batches.
 */
#include <assert.h>

#include "executor.h"

int nm_executor_append(struct nm_executor *x, struct nm_ref ref, uint32_t access_site)
{
	struct nm_batch_builder *b = &x->builder;

	assert(b->count <= NM_BATCH && ref.attr);
	if (b->count == NM_BATCH && nm_executor_flush(x))
		return NM_ENOMEM;
	if (b->instruction_clock)
		nm_instruction_clock_note(b->instruction_clock, b->count, b->instructions);
	b->bursts.access[b->count] = access_site;
	b->bursts.frame_end[b->count] = x->running.window.low + x->running.window.own;
	b->refs[b->count++] = ref;
	return 0;
}

/* Counts the batch's references: members of coalesced accesses are counted at the end
 * (nm_resolver_credit_members). */
static void count_references(struct nm_executor *x)
{
	struct nm_attr_references *const of = x->attrs->references;
	uint64_t data = 0;

	for (const struct nm_ref *r = x->builder.refs, *end = r + x->builder.count; r != end; r++) {
		if (nm_ref_is_coalesced(r))
			nm_coalesced_at(x->resolver.coalesced, r->attr)->count++;
		else
			of[r->attr].count[r->kind == NM_REF_WRITE] += r->weight;
		data += r->kind == NM_REF_FETCH ? 0 : r->weight;
	}
	x->builder.references += data;
}

int nm_executor_flush(struct nm_executor *x)
{
	struct nm_batch_builder *b = &x->builder;
	const struct nm_built_batch batch = {.refs = b->refs,
					     .count = b->count,
					     .syncs = b->syncs,
					     .sync_count = b->sync_count,
					     .clock =
						 b->instruction_clock ? b->instruction_clock->draft : NULL};
	int status = nm_executor_resolve_pending(x);

	if ((!batch.count && !batch.sync_count) || status)
		return status;
	count_references(x);
	if (x->calls && nm_calls_translate(x->calls, b->refs, b->count))
		return NM_ENOMEM;
	b->count = b->sync_count = 0;
	if (batch.count)
		nm_bursts_next(&b->bursts);
	return b->submit(b->arg, &batch);
}

int nm_executor_synchronise(struct nm_executor *x, struct nm_sync sync)
{
	struct nm_batch_builder *b = &x->builder;
	int status = 0;

	if (!b->syncs)
		return 0;
	if (b->sync_count >= NM_SYNCS - NM_BATCH)
		status = nm_executor_flush(x);
	sync.index = (uint32_t)b->count;
	b->syncs[b->sync_count++] = sync;
	return status;
}
