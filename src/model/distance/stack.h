/* SPDX-License-Identifier: MIT
 *
 * stack.h - exact stack and reuse distances of a stream of references, one line size.
 *
 * Counting rules. The *stack distance* of a touch is the number of other lines touched since the line was
 * touched last: a fully associative LRU cache of C lines hits if it is below C (Mattson et al. 1970). Its
 * *reuse distance* is the number of references since then (Berg and Hagersten 2004, section 2.1). Both are 0
 * for a touch of the line touched last; callers count those without asking.
 *
 * Structure. The lines touched last (recent.h) answer most touches at once. All others are in a hash
 * (line_table.h) with the time at which they left the recent ones, and these times in a set whose later
 * members can be counted (timeline.h). What touches ask of those is resolved for many at a time, so that
 * memory is fetched ahead. When no time is left, the times in use are renumbered from 1.
 *
 * Bounded. With a limit, distances from that many lines on are *beyond*: lines that far down are forgotten
 * when times are renumbered, but for a bit that tells them from cold ones. Some four times as many lines, or
 * 65,536, are known at most.
 */
#ifndef NM_STACK_H
#define NM_STACK_H

#include <stddef.h>
#include <stdint.h>

#define NM_STACK_BEYOND (UINT64_MAX - 1)
#define NM_STACK_COLD UINT64_MAX

/* Touches of a line, one after another, that no touch of another line comes between. */
struct nm_touch {
	uint64_t line;          /* not that of the touch before */
	uint64_t first, last;   /* references have numbers that grow; one may touch several lines */
	uint32_t key, last_key; /* who made them */
	uint32_t previous;      /* found: who touched the line before; 0: cold or beyond */
	uint64_t stack,
	    reuse; /* found: distances; both NM_STACK_COLD or NM_STACK_BEYOND where there are none */
};

struct nm_stack;

/* limit: lines, or 0.  NULL: out of memory. */
struct nm_stack *nm_stack_new(uint64_t limit);
void nm_stack_free(struct nm_stack *stack);

/* Finds what the next touches ask for.  0 or NM_ENOMEM. */
int nm_stack_touch(struct nm_stack *stack, struct nm_touch *touches, size_t count);

/* Lines that are known, and bytes that the stack takes. */
uint64_t nm_stack_lines(const struct nm_stack *stack);
uint64_t nm_stack_bytes(const struct nm_stack *stack);

#endif
