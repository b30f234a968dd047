/* SPDX-License-Identifier: MIT */
#include "contexts.h"

#include <assert.h>
#include <string.h>

#include "errors.h"
#include "frames.h"
#include "space.h"

void nm_chain_add(struct nm_chain *chain, uint64_t pc, uint32_t function)
{
	const uint64_t bit = function ? 1ull << (function & 63) : 0;

	assert(chain->count <= NM_CONTEXT_DEPTH);
	if (chain->seen & bit)
		for (uint32_t i = chain->count; i-- > 0;)
			if (chain->functions[i] == function) {
				chain->folded = 1;
				return;
			}
	if (chain->count == NM_CONTEXT_DEPTH)
		return;
	chain->seen |= bit;
	chain->functions[chain->count] = function;
	chain->pcs[chain->count++] = pc;
	chain->unfolded += !chain->folded;
}

void nm_chain_add_stack(struct nm_chain *chain, const struct nm_stack *stack, size_t frames,
			const struct nm_object *objects)
{
	assert(frames <= stack->frames.count);
	for (size_t k = frames; k-- > 0 && chain->count < NM_CONTEXT_DEPTH;) {
		const struct nm_frame *f = &stack->frames.at[k];

		if (frames - k > NM_CHAIN_INNER && k > NM_CHAIN_OUTER) {
			k = NM_CHAIN_OUTER;
			chain->folded = 1;
			continue;
		}
		nm_chain_add(chain, f->call_pc, objects[f->caller].nameless ? 0 : f->caller);
	}
}

int nm_contexts_init(struct nm_contexts *contexts)
{
	memset(contexts, 0, sizeof *contexts);
	return nm_vec_push(&contexts->list, (struct nm_context){0});
}

void nm_contexts_done(struct nm_contexts *contexts)
{
	nm_arena_done(&contexts->arena);
	nm_map_done(&contexts->ids);
	nm_vec_free(&contexts->list);
}

int nm_contexts_copy(struct nm_contexts *to, const struct nm_contexts *from)
{
	memset(to, 0, sizeof *to);
	if (nm_map_copy(&to->ids, &from->ids) || nm_vec_reserve(&to->list, from->list.count))
		return NM_ENOMEM;
	for (size_t i = 0; i < from->list.count; i++) {
		struct nm_context c = from->list.at[i];
		uint64_t *pcs = nm_arena_alloc(&to->arena, c.count * sizeof *pcs + 1);

		if (!pcs)
			return NM_ENOMEM;
		if (c.count)
			memcpy(pcs, c.pcs, c.count * sizeof *pcs);
		c.pcs = pcs;
		to->list.at[to->list.count++] = c;
	}
	return 0;
}

static int same_chain(const struct nm_context *c, const uint64_t *pcs, uint32_t count)
{
	return c->count == count && !memcmp(c->pcs, pcs, count * sizeof *pcs);
}

int nm_contexts_get(struct nm_contexts *contexts, const uint64_t *pcs, uint32_t count, uint32_t *ret_context)
{
	uint64_t key = count;
	uint64_t id, *copy;

	assert(count <= NM_CONTEXT_DEPTH);
	assert(count <= NM_CONTEXT_DEPTH);
	for (uint32_t i = 0; i < count; i++)
		key = (key ^ pcs[i]) * 0x9e3779b97f4a7c15ull;
	while ((id = nm_map_get(&contexts->ids, key, 0)) && !same_chain(&contexts->list.at[id], pcs, count))
		key++; /* another chain has this hash: take the next free key */
	if (!id) {
		copy = nm_arena_alloc(&contexts->arena, count * sizeof *pcs + 1);
		id = contexts->list.count;
		if (!copy || nm_vec_push(&contexts->list, (struct nm_context){copy, count, 0, {0}, {0}}) ||
		    nm_map_put(&contexts->ids, key, id))
			return NM_ENOMEM;
		memcpy(copy, pcs, count * sizeof *pcs);
	}
	*ret_context = (uint32_t)id;
	return 0;
}

int nm_contexts_enter(struct nm_contexts *contexts, const uint64_t *pcs, uint32_t count,
		      uint32_t *ret_context)
{
	if (nm_contexts_get(contexts, pcs, count, ret_context))
		return NM_ENOMEM;
	contexts->list.at[*ret_context].entered++;
	return 0;
}

unsigned nm_context_wrappers(const struct nm_context *context)
{
	unsigned n = 0;

	while (n < NM_FORWARD_LEVELS && n + 1 < context->count &&
	       context->forwarded[n] * 10 >= context->entered * 9)
		n++;
	return n;
}

void nm_wrapper_probe_return(struct nm_wrapper_probe *probe, struct nm_contexts *contexts, uint64_t slot,
			     uint64_t next_slot)
{
	if (slot < probe->slot) /* a function that it has called meanwhile */
		return;
	if (slot > probe->slot || probe->ran > NM_FORWARD_INSTRUCTIONS) {
		probe->context = 0;
		return;
	}
	contexts->list.at[probe->context].forwarded[probe->level]++;
	probe->level++;
	probe->slot = next_slot;
	probe->ran = 0;
	if (probe->level == probe->levels)
		probe->context = 0;
}
