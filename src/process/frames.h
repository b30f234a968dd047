/* SPDX-License-Identifier: MIT
 *
 * frames.h - the call stack of a thread, rebuilt from calls and returns.
 *
 * A frame is identified by its *slot*: the address of its return address. Stacks grow down, so the frames of
 * one stack have falling slots, and a return to a slot ends every frame below it: that alone makes longjmp,
 * exceptions and tail calls come out right. A thread may own several stacks (signal stacks, coroutines); a
 * call or return outside the current stack switches.
 */
#ifndef NM_FRAMES_H
#define NM_FRAMES_H

#include <stdint.h>

#include "checks.h"
#include "errors.h"
#include "vector.h"

struct nm_frame {
	uint64_t slot;
	uint64_t call_pc; /* the call instruction */
	/* stack object of the function that made the call, which owns the memory above slot */
	uint32_t caller;
	uint32_t context;   /* of the caller (calls.h) */
	uint32_t user_call; /* of the caller (user_calls.h) */
};

struct nm_stack {
	uint64_t low, end;
	struct nm_vec(struct nm_frame) frames; /* oldest first */
	uint32_t context, pending;             /* of the running function (calls.h) */
	uint32_t user_call;                    /* that led to it, if it is library code (user_calls.h) */
};

/* Addresses that one stack holds: of several, the oldest. */
struct nm_stack_part {
	uint64_t low, end;
	size_t stack;
};

struct nm_frames {
	struct nm_vec(struct nm_stack) stacks;
	struct nm_vec(
	    struct nm_stack_part) parts; /* disjoint, by address: programs may have thousands of stacks */
	size_t current;                  /* index into stacks */
	uint64_t returned_from; /* call_pc of the frame that the latest return ended, or 0: unknown; */
	uint32_t returned_to;   /* its caller */
};

int nm_frames_init(struct nm_frames *frames, uint64_t stack_low, uint64_t stack_end);
void nm_frames_done(struct nm_frames *frames);

/* Adds a stack [low, end). 0 or NM_ENOMEM. */
int nm_frames_add(struct nm_frames *frames, uint64_t low, uint64_t end);

/* Makes the stack that holds slot the current one; if none does, a new one, [low, end). 0 or NM_ENOMEM. */
int nm_frames_switch(struct nm_frames *frames, uint64_t slot, uint64_t low, uint64_t end);

static inline struct nm_stack *nm_frames_stack(struct nm_frames *frames)
{
	return &frames->stacks.at[frames->current];
}

static inline int nm_stack_holds(const struct nm_stack *stack, uint64_t address)
{
	return address - stack->low < stack->end - stack->low;
}

/* Ends the frames at or below slot, which is within the stack. Returns the oldest of them, or NULL. */
static inline const struct nm_frame *nm_stack_end(struct nm_stack *s, uint64_t slot)
{
	size_t n = s->frames.count;
	const struct nm_frame *next = s->frames.at + n;

	if (!n || next[-1].slot > slot)
		return NULL;
	do
		next--;
	while (--n && next[-1].slot <= slot);
	s->frames.count = n;
	s->context = next->context;
	s->user_call = next->user_call;
	return next;
}

/* For slots within the current stack. push: 0 or NM_ENOMEM. put: there is room for a frame. */
static inline void nm_stack_put(struct nm_stack *s, uint64_t slot, uint64_t call_pc, uint32_t caller)
{
	struct nm_frame *fresh;

	(void)nm_stack_end(s, slot);
	NM_CHECK(s->frames.count < s->frames.room && nm_stack_holds(s, slot));
	fresh = &s->frames.at[s->frames.count++];
	fresh->slot = slot;
	fresh->call_pc = call_pc;
	fresh->caller = caller;
	fresh->context = s->context;
	fresh->user_call = s->user_call;
}

static inline int nm_stack_push(struct nm_stack *s, uint64_t slot, uint64_t call_pc, uint32_t caller)
{
	if (nm_vec_reserve(&s->frames, 1))
		return NM_ENOMEM;
	nm_stack_put(s, slot, call_pc, caller);
	return 0;
}

static inline void nm_frames_pop(struct nm_frames *frames, struct nm_stack *s, uint64_t slot)
{
	const struct nm_frame *ended = nm_stack_end(s, slot);

	frames->returned_from = ended && ended->slot == slot ? ended->call_pc : 0;
	frames->returned_to = ended ? ended->caller : 0;
}

/* Where the running function's frame ends: above its return address. */
static inline uint64_t nm_stack_top(const struct nm_stack *s)
{
	return s->frames.count ? s->frames.at[s->frames.count - 1].slot + 8 : s->end;
}

/* The slot of the running function: the stack below it is its own. The stack's end if unknown. */
static inline uint64_t nm_frames_top(struct nm_frames *frames)
{
	struct nm_stack *s = nm_frames_stack(frames);

	return s->frames.count ? s->frames.at[s->frames.count - 1].slot : s->end;
}

/* The pc of the function with this slot: its call towards the running function, or `pc` if it runs itself. */
static inline uint64_t nm_stack_pc(const struct nm_stack *s, uint64_t slot, uint64_t pc)
{
	for (size_t i = s->frames.count; i-- > 0 && s->frames.at[i].slot < slot;)
		pc = s->frames.at[i].call_pc;
	return pc;
}

/* A function's frame: its stack object, where it begins, and where the caller's frame begins. */
struct nm_frame_place {
	uint32_t object; /* 0: none */
	uint64_t slot, end;
};

/* The frame that holds an address at or above the top slot of any of the thread's stacks; none if it lies
 * above the oldest known frame or on no stack. */
struct nm_frame_place nm_frames_owner(const struct nm_frames *frames, uint64_t address);

/* The same for a stack that contains the address. */
struct nm_frame_place nm_stack_owner(const struct nm_stack *stack, uint64_t address);

#endif
