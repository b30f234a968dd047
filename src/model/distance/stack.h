/* SPDX-License-Identifier: MIT
 *
 * stack.h - exact stack and reuse distances of a stream of references, one line size.
 *
 * Counting rules. The *stack distance* of a touch is the number of other lines touched since the line was
 * touched last: a fully associative LRU cache of C lines hits if it is below C (Mattson et al. 1970). Its
 * *reuse distance* is the number of references since then (Berg and Hagersten 2004, section 2.1). Both are 0
 * for a touch of the line touched last; such touches yield nothing, because callers know their number without
 * them.
 *
 * Structure. The NM_RECENT lines touched last stand in an array in the order of their touches; most touches
 * end there. The other lines are in a hash (line_table.h) with the time at which they left the array, and
 * these times in a set of which the later ones can be counted (timeline.h). Touches are collected and
 * resolved together, so that what the hash holds is fetched ahead. When no time is left, the times that stand
 * are renumbered from 1.
 *
 * Bounded. With a limit, distances from that many lines on are *beyond*: lines that far down are forgotten
 * when times are renumbered, but for a bit that tells them from cold ones. Some four times as many lines, or
 * 65,536, are known at most.
 */
#ifndef NM_STACK_H
#define NM_STACK_H

#include <stddef.h>
#include <stdint.h>

enum { NM_RECENT = 16, NM_STACK_ROOM = 2048 };

#define NM_STACK_BEYOND (UINT64_MAX - 1)
#define NM_STACK_COLD UINT64_MAX

struct nm_touch {
	uint64_t line, reference; /* references have numbers that grow; one may touch several lines */
	uint64_t stack, reuse;    /* distances; both NM_STACK_COLD or NM_STACK_BEYOND where there are none */
	uint32_t key, previous;   /* who touches the line, who touched it before; 0: cold or beyond */
	uint32_t slot;            /* for stack.c */
};

struct nm_stack;

/* limit: lines, or 0.  NULL: out of memory. */
struct nm_stack *nm_stack_new(uint64_t limit);
void nm_stack_free(struct nm_stack *stack);

/* A touch of a line that is not the one touched last. 1: nm_stack_resolve must be called before the next
 * one. */
int nm_stack_touch(struct nm_stack *stack, uint64_t line, uint64_t reference, uint32_t key);

/* The line touched last was touched again since, at last by this reference of `key`. */
void nm_stack_touch_again(struct nm_stack *stack, uint64_t reference, uint32_t key);

/* Distances of the touches since the last call, in order; the array is the stack's, until the next touch. 0
 * or NM_ENOMEM. */
int nm_stack_resolve(struct nm_stack *stack, const struct nm_touch **ret_touches, size_t *ret_count);

/* Lines that are known, and bytes that the stack takes. */
uint64_t nm_stack_lines(const struct nm_stack *stack);
uint64_t nm_stack_bytes(const struct nm_stack *stack);

#endif
