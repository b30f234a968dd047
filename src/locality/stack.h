/* SPDX-License-Identifier: MIT
 *
 * stack.h - exact stack and reuse distances of a stream of references, one line size.
 *
 * Counting rules. The *stack distance* of a touch is the number of other lines touched since the line was
 * touched last: a fully associative LRU cache of C lines hits if it is below C (Mattson et al. 1970). Its
 * *reuse distance* is the number of references since then (Berg and Hagersten 2004, section 2.1). Both are 0
 * for a touch of the line touched last; callers count those themselves.
 *
 * Structure. Most touches are of the 80 lines touched last (recent.h), which know their order. Every other
 * line has the *time* at which it left those, in a hash table (line_table.h). All times are in a set that
 * counts how many are later than a given one (touch_times.h). Questions to the table and the set are gathered
 * and answered together, so that memory is prefetched. When the times are used up, those in use are
 * renumbered from 1.
 *
 * Limit. With a limit, distances of that many lines and more are *beyond*. When times are renumbered, lines
 * that far down are forgotten, except for a bit that tells them from cold ones. So at most four times as many
 * lines as the limit are known, or 65,536.
 */
#ifndef NM_STACK_H
#define NM_STACK_H

#include <stddef.h>
#include <stdint.h>

#define NM_STACK_BEYOND (UINT64_MAX - 1)
#define NM_STACK_COLD UINT64_MAX

/* Successive touches of one line. */
struct nm_touch {
	uint64_t line;          /* not that of the touch before */
	uint64_t first, last;   /* references have numbers that grow; one may touch several lines */
	uint32_t key, last_key; /* who made the first and the last */
	uint32_t previous;      /* found: who touched the line before; 0: cold or beyond */
	uint64_t stack,
	    reuse; /* found: distances; both NM_STACK_COLD or NM_STACK_BEYOND where there are none */
};

struct nm_lru_stack;

/* limit: lines, or 0.  NULL: out of memory. */
struct nm_lru_stack *nm_stack_new(uint64_t limit);
void nm_stack_free(struct nm_lru_stack *stack);

/* Finds what the next touches ask for.  0 or NM_ENOMEM. */
int nm_stack_touch(struct nm_lru_stack *stack, struct nm_touch *touches, size_t count);

/* Lines that are known, and bytes that the stack takes. */
uint64_t nm_stack_lines(const struct nm_lru_stack *stack);
uint64_t nm_stack_bytes(const struct nm_lru_stack *stack);

#endif
