/* SPDX-License-Identifier: MIT
 *
 * batches.c - appends references to the batch, counts them, and submits full batches.
 */
#include <assert.h>

#include "replay.h"

enum { NM_BATCHES_COUNTED = UINT32_MAX / NM_BATCH / 2 /* after so many, runs are counted */ };

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
	x->attrs->references[ref.attr].count[ref.kind == NM_REF_WRITE] += ref.weight;
	b->references += ref.kind == NM_REF_FETCH ? 0 : ref.weight;
	return 0;
}

uint64_t nm_executor_references(const struct nm_executor *x)
{
	uint64_t references = x->builder.references;

	for (size_t i = 0; i < x->decoder.decoded.count; i++) {
		const struct nm_decoded_block *decoded = x->decoder.decoded.at[i];

		references += (uint64_t)decoded->runs * nm_tables_of(decoded)->accesses;
	}
	return references;
}

void nm_executor_note_string(struct nm_executor *x, uint32_t bytes, uint64_t repetitions)
{
	x->strings.instructions += repetitions;
	x->strings.bytes += repetitions * bytes;
}

uint64_t nm_executor_repeated(const struct nm_executor *x)
{
	const uint64_t needed = (x->strings.bytes + NM_STRING_BYTES - 1) / NM_STRING_BYTES;

	return x->strings.instructions > needed ? x->strings.instructions - needed : 0;
}

void nm_executor_count_runs(struct nm_executor *x)
{
	for (size_t i = 0; i < x->decoder.decoded.count; i++) {
		const struct nm_decoded_block *decoded = x->decoder.decoded.at[i];

		if (nm_tables_of(decoded)->string_bytes)
			nm_executor_note_string(x, nm_tables_of(decoded)->string_bytes,
						(uint64_t)decoded->runs * decoded->instructions);
	}
	x->builder.references = nm_executor_references(x);
	nm_resolver_count_runs(&x->resolver);
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
	if (!(++b->submitted % NM_BATCHES_COUNTED))
		nm_executor_count_runs(x);
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
