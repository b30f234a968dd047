/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <assert.h>
#include <stdlib.h>

static int start_batch(struct nm_calls *calls)
{
	calls->changes.count = 0;
	return nm_vec_push(&calls->changes, (struct nm_calls_change){0, calls->current});
}

struct nm_calls *nm_calls_new(void)
{
	struct nm_calls *calls = calloc(1, sizeof *calls);

	if (calls && (nm_vec_push(&calls->list, (struct nm_call){.site = NM_CALLS_SITE_MAX}) ||
		      nm_vec_push(&calls->attrs, (struct nm_context_attr){0}) || start_batch(calls))) {
		nm_calls_free(calls);
		return NULL;
	}
	return calls;
}

void nm_calls_free(struct nm_calls *calls)
{
	if (!calls)
		return;
	nm_vec_free(&calls->list);
	nm_vec_free(&calls->attrs);
	nm_vec_free(&calls->changes);
	nm_map_done(&calls->callees);
	nm_map_done(&calls->attr_of);
	free(calls);
}

static uint64_t key_of(const struct nm_call *call)
{
	return (uint64_t)call->parent << 46 | (uint64_t)call->site << 22 | call->function;
}

/* The context of a call below that of its caller (call.parent): one that is in the chain already, or a new
 * one. */
static int make_context(struct nm_calls *calls, struct nm_call call, uint32_t *ret_context)
{
	for (uint32_t c = call.parent; c; c = calls->list.at[c].parent)
		if (calls->list.at[c].site == call.site && calls->list.at[c].function == call.function) {
			*ret_context = c;
			return 0;
		}
	*ret_context = call.parent;
	if (calls->list.count == NM_CALLS_MAX)
		return 0;
	*ret_context = (uint32_t)calls->list.count;
	return nm_vec_push(&calls->list, call);
}

static int find_context(struct nm_calls *calls, struct nm_call call, uint32_t *ret_context)
{
	uint64_t known = nm_map_get(&calls->callees, key_of(&call), UINT64_MAX);

	if (known == UINT64_MAX) {
		if (make_context(calls, call, ret_context) ||
		    nm_map_put(&calls->callees, key_of(&call), *ret_context))
			return NM_ENOMEM;
	} else {
		*ret_context = (uint32_t)known;
	}
	calls->list.at[*ret_context].count++;
	return 0;
}

int nm_calls_signal(struct nm_calls *calls, unsigned number, uint32_t *ret_context)
{
	uint32_t signal = number < NM_CALLS_SIGNALS ? number : NM_CALLS_SIGNALS - 1;

	return find_context(calls,
			    (struct nm_call){.site = NM_CALLS_SITE_MAX, .function = NM_CALLS_SIGNAL + signal},
			    ret_context);
}

/* Enters the function that was called, or that a trampoline jumped to. */
static int enter_function(struct nm_calls *calls, struct nm_stack *s, uint32_t function, int is_trampoline)
{
	struct nm_call call = {.parent = s->context, .function = function, .is_trampoline = is_trampoline};
	struct nm_call *through = &calls->list.at[s->context];

	if (call.function > NM_CALLS_FUNCTION_MAX)
		call.function = NM_CALLS_FUNCTION_MAX;
	if (s->pending == NM_CALLS_TRAMPOLINE) {
		if (through->function == call.function)
			return 0;
		through->count--;
		call.parent = through->parent;
		call.site = through->site;
	} else {
		call.site = s->pending - 1;
	}
	s->pending = is_trampoline ? NM_CALLS_TRAMPOLINE : 0;
	return find_context(calls, call, &s->context);
}

static int change_context(struct nm_calls *calls, size_t at, uint32_t context)
{
	struct nm_calls_change *last = &calls->changes.at[calls->changes.count - 1];

	calls->current = context;
	if (last->from < at)
		return nm_vec_push(&calls->changes, (struct nm_calls_change){(uint32_t)at, context});
	last->context = context;
	return 0;
}

int nm_calls_run(struct nm_calls *calls, struct nm_stack *s, uint32_t function, int is_trampoline, size_t at)
{
	assert(calls->changes.count && at <= NM_BATCH);
	assert(s->context < calls->list.count);
	if (s->pending && enter_function(calls, s, function, is_trampoline))
		return NM_ENOMEM;
	return s->context == calls->current ? 0 : change_context(calls, at, s->context);
}

void nm_calls_end(const struct nm_calls *calls, const struct nm_attributions *attrs, struct nm_stack *s,
		  uint64_t pc)
{
	uint64_t instruction = pc ? nm_map_get(&attrs->instruction_of_pc, pc, UINT64_MAX) : 0;
	uint32_t site = NM_CALLS_SITE_MAX;

	assert(s->context < calls->list.count);
	if (!pc) {
		s->pending = calls->list.at[s->context].is_trampoline ? NM_CALLS_TRAMPOLINE : 0;
		return;
	}
	if (instruction != UINT64_MAX && attrs->instructions.at[instruction].site < NM_CALLS_SITE_MAX)
		site = attrs->instructions.at[instruction].site;
	s->pending = site + 1;
}

static uint32_t look_up(struct nm_calls *calls, uint64_t key)
{
	uint64_t attr = nm_map_get(&calls->attr_of, key, 0);

	if (attr)
		return (uint32_t)attr;
	attr = calls->attrs.count;
	if (nm_vec_push(&calls->attrs,
			(struct nm_context_attr){.attr = (uint32_t)key, .context = (uint32_t)(key >> 32)}) ||
	    nm_map_put(&calls->attr_of, key, attr))
		return 0;
	return (uint32_t)attr;
}

uint32_t nm_calls_key(struct nm_calls *calls, uint32_t attr)
{
	return look_up(calls, (uint64_t)calls->current << 32 | attr);
}

static int translate_range(struct nm_calls *calls, struct nm_ref *r, uint32_t context)
{
	uint64_t key = (uint64_t)context << 32 | r->attr;
	unsigned i = (context * 2654435761u ^ r->attr * 40503u) >> 4 & (NM_CALLS_RECENT - 1);

	if (!calls->recent[i].attr || calls->recent[i].key != key) {
		calls->recent[i].key = key;
		calls->recent[i].attr = look_up(calls, key);
	}
	r->attr = calls->recent[i].attr;
	if (!r->attr)
		return NM_ENOMEM;
	calls->attrs.at[r->attr].references.count[r->kind == NM_REF_WRITE] += r->weight;
	return 0;
}

int nm_calls_translate(struct nm_calls *calls, struct nm_ref *batch, size_t count)
{
	assert(count <= NM_BATCH);
	for (size_t k = 0; k < calls->changes.count; k++) {
		const struct nm_calls_change *c = &calls->changes.at[k];
		size_t end = k + 1 < calls->changes.count ? calls->changes.at[k + 1].from : count;

		for (size_t i = c->from; i < end; i++)
			if (translate_range(calls, &batch[i], c->context))
				return NM_ENOMEM;
	}
	return start_batch(calls);
}
