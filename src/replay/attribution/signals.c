/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <assert.h>
#include <string.h>

void nm_signals_done(struct nm_signals *signals) { nm_vec_free(&signals->list); }

/* The latest signal on a stack, or NULL. */
static struct nm_signal *latest_signal(const struct nm_signals *signals, size_t stack)
{
	for (size_t i = signals->list.count; i-- > 0;)
		if (signals->list.at[i].stack == stack)
			return &signals->list.at[i];
	return NULL;
}

static void forget_handlers(struct nm_signals *signals, struct nm_signal *gone)
{
	size_t behind = (size_t)(signals->list.at + signals->list.count - (gone + 1));

	memmove(gone, gone + 1, behind * sizeof *gone);
	signals->list.count--;
}

/* Drops handlers whose slots are up to this one: a jump has left them. */
static void cut_handlers(struct nm_signals *signals, struct nm_frames *frames, size_t stack, uint64_t slot)
{
	struct nm_stack *s = &frames->stacks.at[stack];
	struct nm_signal *t;

	assert(stack < frames->stacks.count);
	while ((t = latest_signal(signals, stack)) && t->slot <= slot) {
		(void)nm_stack_end(s, t->slot);
		s->context = t->context;
		s->user_call = t->user_call;
		s->pending = 0;
		forget_handlers(signals, t);
	}
}

/* Drops handlers on other stacks that had interrupted this one: a jump has left them. */
static void come_back(struct nm_signals *signals, size_t stack)
{
	for (size_t i = signals->list.count; i-- > 0;)
		if (signals->list.at[i].from == stack && signals->list.at[i].stack != stack)
			forget_handlers(signals, &signals->list.at[i]);
}

size_t nm_signals_resume(struct nm_signals *signals, struct nm_frames *frames)
{
	size_t stack = frames->current;
	struct nm_signal *t;

	while ((t = latest_signal(signals, stack)) && t->state == NM_SIGNAL_LEAVING) {
		struct nm_stack *s = &frames->stacks.at[stack];

		s->context = t->context;
		s->pending = t->pending;
		s->user_call = t->user_call;
		stack = t->from;
		forget_handlers(signals, t);
	}
	return stack;
}

int nm_signals_enter(struct nm_signals *signals, struct nm_calls *calls, struct nm_frames *frames,
		     size_t from, uint64_t slot, unsigned number)
{
	struct nm_stack *s = nm_frames_stack(frames);
	struct nm_signal fresh = {.slot = slot, .stack = (uint32_t)frames->current, .from = (uint32_t)from};

	assert(from < frames->stacks.count);
	cut_handlers(signals, frames, frames->current, slot);
	fresh.context = s->context;
	fresh.pending = s->pending;
	fresh.user_call = s->user_call;
	if ((calls && nm_calls_signal(calls, number, &fresh.own)) || nm_vec_push(&signals->list, fresh))
		return NM_ENOMEM;
	/* On a stack that is not known otherwise, what lies above the frame is not the handler's. */
	if (fresh.stack != from && nm_stack_push(s, slot, 0, 0))
		return NM_ENOMEM;
	s->context = fresh.own;
	s->pending = calls ? NM_CALLS_SITE_MAX + 1 : 0;
	return 0;
}

void nm_signals_leave(struct nm_signals *signals, struct nm_frames *frames, uint64_t slot, int is_return)
{
	struct nm_stack *s = nm_frames_stack(frames);
	struct nm_signal *t;

	come_back(signals, frames->current);
	cut_handlers(signals, frames, frames->current, slot - (is_return != 0));
	t = latest_signal(signals, frames->current);
	if (!is_return || !t || t->slot != slot)
		return;
	(void)nm_stack_end(s, slot);
	s->context = t->own;
	s->pending = 0;
	t->state = NM_SIGNAL_RETURNED;
}

/* ---- longjmp ---- */

/* The context of the function in the innermost frame, or before the last handler, of a stack; UINT32_MAX:
 * none. */
static uint32_t innermost_context(const struct nm_signals *signals, const struct nm_calls *calls,
				  const struct nm_frames *frames, size_t stack, uint32_t function)
{
	const struct nm_stack *s = &frames->stacks.at[stack];
	size_t k = signals->list.count, f = s->frames.count;

	assert(stack < frames->stacks.count);
	for (;;) {
		uint32_t context;

		while (k && signals->list.at[k - 1].stack != stack)
			k--;
		if (!f && !k)
			return UINT32_MAX;
		if (k && (!f || signals->list.at[k - 1].slot <= s->frames.at[f - 1].slot))
			context = signals->list.at[--k].context;
		else
			context = s->frames.at[--f].context;
		if (calls->list.at[context].function == function)
			return context;
	}
}

/* Whether the function continues in a context of a stack. */
static int find_context(const struct nm_signals *signals, const struct nm_calls *calls,
			struct nm_frames *frames, size_t stack, uint32_t function)
{
	struct nm_stack *s = &frames->stacks.at[stack];
	uint32_t context = s->context;

	assert(stack < frames->stacks.count);
	if (calls->list.at[context].function != function)
		context = innermost_context(signals, calls, frames, stack, function);
	if (context == UINT32_MAX)
		return 0;
	s->context = context;
	s->pending = 0;
	return 1;
}

/* longjmp has reached the function: on this stack, or on the one that the handler on this one interrupted. */
static size_t land_jump(struct nm_signals *signals, const struct nm_calls *calls, struct nm_frames *frames,
			uint32_t function)
{
	size_t stack = frames->current;
	const struct nm_signal *s;

	while (!calls || !find_context(signals, calls, frames, stack, function)) {
		s = latest_signal(signals, stack);
		if (!s || s->from == stack)
			break;
		stack = s->from;
		come_back(signals, stack);
	}
	return stack;
}

size_t nm_signals_run(struct nm_signals *signals, const struct nm_calls *calls, struct nm_frames *frames,
		      uint32_t function)
{
	size_t stack = nm_signals_resume(signals, frames);
	const struct nm_stack *s = &frames->stacks.at[stack];
	struct nm_signal *t = latest_signal(signals, stack);

	if (t && t->state == NM_SIGNAL_RETURNED)
		t->state = NM_SIGNAL_LEAVING;
	else if (signals->leaping && !s->pending)
		stack = land_jump(signals, calls, frames, function);
	return stack;
}
