/* SPDX-License-Identifier: MIT
 *
 * batches.c - appends references to the batch, counts them, and submits full batches.
 */
#include <assert.h>
#include <stdlib.h>

#include "replay.h"

enum { NM_BATCHES_COUNTED = UINT32_MAX / NM_BATCH / 2 /* after so many, runs are counted */ };

int nm_replay_append(struct nm_replay *r, struct nm_ref ref, uint32_t access_site)
{
	struct nm_batch_builder *b = &r->builder;

	assert(b->count <= NM_BATCH && ref.attr);
	if (b->count == NM_BATCH && nm_replay_flush(r))
		return NM_ENOMEM;
	if (b->instruction_clock)
		nm_instruction_clock_note(b->instruction_clock, b->count, b->instructions);
	b->bursts.access[b->count] = access_site;
	b->bursts.frame_end[b->count] = r->running.window.low + r->running.window.own;
	b->refs[b->count++] = ref;
	r->attrs->references[ref.attr].count[ref.kind == NM_REF_WRITE] += ref.weight;
	b->references += ref.kind == NM_REF_FETCH ? 0 : ref.weight;
	return 0;
}

static struct nm_software_prefetch prefetch_of(const struct nm_ref *ref, unsigned flags)
{
	return (struct nm_software_prefetch){.address = ref->address,
					     .attr = ref->attr,
					     .depth = flags & NM_WIRE_TO_L3   ? 2
						      : flags & NM_WIRE_TO_L2 ? 1
									      : 0,
					     .alone = (flags & NM_WIRE_NON_TEMPORAL) != 0};
}

int nm_replay_hint(struct nm_replay *r, const struct nm_ref *ref, unsigned flags)
{
	struct nm_batch_builder *b = &r->builder;
	struct nm_cache_hint *hint;

	if (!b->hints && !(b->hints = malloc(NM_BATCH * sizeof *b->hints)))
		return NM_ENOMEM;
	if ((b->count == NM_BATCH || b->hint_count == NM_BATCH) && nm_replay_flush(r))
		return NM_ENOMEM;
	hint = &b->hints[b->hint_count++];
	*hint = (struct nm_cache_hint){.before = (uint16_t)b->count,
				       .syncs = (uint16_t)b->sync_count,
				       .is_store = !(flags & NM_WIRE_PREFETCH)};
	if (hint->is_store)
		return 0;
	hint->prefetch = prefetch_of(ref, flags);
	if (r->calls)
		hint->prefetch.attr = nm_calls_key(r->calls, ref->attr);
	return hint->prefetch.attr ? 0 : NM_ENOMEM;
}

uint64_t nm_replay_references(const struct nm_replay *r)
{
	uint64_t references = r->builder.references;

	for (size_t i = 0; i < r->decoder.decoded.count; i++) {
		const struct nm_decoded_block *decoded = r->decoder.decoded.at[i];

		references += (uint64_t)decoded->runs * nm_tables_of(decoded)->accesses;
	}
	return references;
}

void nm_replay_note_string(struct nm_replay *r, uint32_t bytes, uint64_t repetitions)
{
	r->strings.instructions += repetitions;
	r->strings.bytes += repetitions * bytes;
}

uint64_t nm_replay_repeated(const struct nm_replay *r)
{
	const uint64_t needed = (r->strings.bytes + NM_STRING_BYTES - 1) / NM_STRING_BYTES;

	return r->strings.instructions > needed ? r->strings.instructions - needed : 0;
}

void nm_replay_count_runs(struct nm_replay *r)
{
	for (size_t i = 0; i < r->decoder.decoded.count; i++) {
		const struct nm_decoded_block *decoded = r->decoder.decoded.at[i];

		if (nm_tables_of(decoded)->string_bytes)
			nm_replay_note_string(r, nm_tables_of(decoded)->string_bytes,
					      (uint64_t)decoded->runs * decoded->instructions);
	}
	r->builder.references = nm_replay_references(r);
	nm_resolver_count_runs(&r->resolver);
}

int nm_replay_flush(struct nm_replay *r)
{
	struct nm_batch_builder *b = &r->builder;
	const struct nm_thread_batch batch = {.refs = b->refs,
					      .count = b->count,
					      .syncs = b->syncs,
					      .sync_count = b->sync_count,
					      .hints = b->hints,
					      .hint_count = b->hint_count,
					      .clock =
						  b->instruction_clock ? b->instruction_clock->draft : NULL};
	int status = nm_replay_resolve_pending(r);

	if ((!batch.count && !batch.sync_count && !batch.hint_count) || status)
		return status;
	if (!(++b->submitted % NM_BATCHES_COUNTED))
		nm_replay_count_runs(r);
	if (r->calls && nm_calls_translate(r->calls, b->refs, b->count))
		return NM_ENOMEM;
	b->count = b->sync_count = b->hint_count = 0;
	if (batch.count)
		nm_bursts_next(&b->bursts);
	return b->submit(b->arg, &batch);
}

int nm_replay_synchronise(struct nm_replay *r, struct nm_sync sync)
{
	struct nm_batch_builder *b = &r->builder;
	int status = 0;

	if (!b->syncs)
		return 0;
	if (b->sync_count >= NM_SYNCS - NM_BATCH)
		status = nm_replay_flush(r);
	sync.index = (uint32_t)b->count;
	b->syncs[b->sync_count++] = sync;
	return status;
}

/* ---- pending ---- */

/* References whose attribution keys can wait until the run of blocks ends (execute.c), and those
 * that cannot.
 *
 * A reference near the running stack cannot wait: the next call or return changes whose frame it is to. Nor can
 * one of a function that copies or clears memory, which may be part of an allocation (resolve.c).
 */

int nm_replay_defer(struct nm_replay *r, const struct nm_decoded_block *decoded, size_t at, unsigned entries)
{
	const uint64_t access_site = decoded->first_access_site + at;

	for (; entries; entries &= entries - 1) {
		const unsigned entry = (unsigned)__builtin_ctz(entries);
		const size_t index = r->builder.count + entry;
		struct nm_ref *ref = &r->builder.refs[index];
		uint32_t attr;

		if (!decoded->fills && !nm_is_near_stack(ref->address, &r->running.window)) {
			r->pending[r->pending_count++] = (access_site + entry) << 32 | index;
			continue;
		}
		if (nm_replay_resolve_pending(r))
			return NM_ENOMEM;
		attr = nm_resolver_find(&r->resolver, decoded, (uint32_t)access_site + entry, ref->address);
		nm_resolver_recount(&r->resolver, ref, attr);
		if (!attr)
			return NM_ENOMEM;
	}
	return 0;
}

int nm_replay_resolve_list(struct nm_replay *r)
{
	struct nm_batch_builder *b = &r->builder;
	int status = nm_resolver_find_all(&r->resolver, b->refs, r->pending, r->pending_count);

	if (status)
		return status;
	r->pending_count = 0;
	if (b->bursts.taken >= b->count)
		return 0;
	status = b->sample(b->arg);
	b->bursts.taken = b->count;
	return status;
}
