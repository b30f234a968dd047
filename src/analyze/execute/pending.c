/* SPDX-License-Identifier: MIT
 *
 * pending.c - references whose attribution keys can wait until the run of blocks ends (execute.c), and those
 * that cannot.
 *
 * A reference near the running stack cannot wait: the next call or return changes whose frame it is to. Its
 * owner is looked up at once, and only its key waits. Nor can one of a function that copies or clears memory,
 * which may be part of an allocation (resolve.c).
 */
#include "executor.h"

/* The object in a frame of the running stack that an access, or all members of a coalesced one, is to; 0:
 * that is not known, or there are several. */
static uint32_t stack_owner(const struct nm_executor *x, uint32_t access_site, uint64_t address,
			    struct nm_frame_place frame)
{
	const struct nm_access_site *o = &x->decoder.access_sites.at[access_site];
	const struct nm_decoded_tables *t = &x->decoder.tables.at[o->decoded->tables];
	const struct nm_stack *stack = x->running.stack;
	uint32_t object = nm_space_object_in_frame(x->space, frame, address);
	struct nm_access_range s;

	if (!nm_word_is_coalesced(nm_entry_of(o, word)))
		return object;
	s = nm_word_accesses(t, o->access);
	for (uint32_t i = s.first; i < s.end; i++) {
		const uint64_t at = address + t->single[i].distance;

		if (!nm_stack_holds(stack, at) ||
		    nm_space_object_in_frame(x->space, nm_stack_owner(stack, at), at) != object)
			return 0;
	}
	return object;
}

/* A reference of the batch: its attribution key, unless that can wait. */
static int defer_one(struct nm_executor *x, const struct nm_decoded_block *decoded, uint32_t access_site,
		     uint32_t index)
{
	const struct nm_stack_window *window = &x->running.window;
	struct nm_ref *ref = &x->builder.refs[index];
	uint64_t depth = ref->address - window->low;
	uint32_t object = 0, attr;

	if (depth >= window->own && depth < window->length) {
		const struct nm_frame_place frame = nm_stack_owner(x->running.stack, ref->address);

		object = stack_owner(x, access_site, ref->address, frame);
		if (object && nm_resolver_keep_frame(&x->resolver, access_site, ref->address, frame))
			return NM_ENOMEM;
	}
	if (object || (depth >= window->length && depth < -(uint64_t)NM_BELOW && !decoded->fills)) {
		if (object) {
			nm_resolver_recount(&x->resolver, ref, 0);
			ref->attr = object;
		}
		x->pending[x->pending_count++] =
		    (uint64_t)access_site << 32 | (object ? NM_KNOWN : 0) | index;
		return 0;
	}
	if (nm_executor_resolve_pending(x))
		return NM_ENOMEM;
	attr = nm_resolver_find(&x->resolver, decoded, access_site, ref->address);
	nm_resolver_recount(&x->resolver, ref, attr);
	return attr ? 0 : NM_ENOMEM;
}

int nm_executor_defer(struct nm_executor *x, const struct nm_decoded_block *decoded, size_t at,
		      unsigned entries)
{
	uint32_t access_site = decoded->first_access_site + (uint32_t)at, index = (uint32_t)x->builder.count;
	int status = 0;

	for (unsigned left = entries; left && !status; left &= left - 1) {
		unsigned entry = (unsigned)__builtin_ctz(left);

		status = defer_one(x, decoded, access_site + entry, index + entry);
	}
	return status;
}

int nm_executor_resolve_list(struct nm_executor *x)
{
	struct nm_batch_builder *b = &x->builder;
	int status = nm_resolver_find_all(&x->resolver, b->refs, x->pending, x->pending_count);

	if (status)
		return status;
	x->pending_count = 0;
	if (b->bursts.taken >= b->count)
		return 0;
	status = b->sample(b->arg);
	b->bursts.taken = b->count;
	return status;
}
