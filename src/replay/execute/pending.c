/* SPDX-License-Identifier: MIT
 *
 * pending.c - references whose attribution keys can wait until the run of blocks ends (execute.c), and those
 * that cannot.
 *
 * A reference near the running stack cannot wait: the next call or return changes whose frame it is to. Nor can
 * one of a function that copies or clears memory, which may be part of an allocation (resolve.c).
 */
#include "replay.h"

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
