/* SPDX-License-Identifier: MIT
 *
 * touch_times.h - a set of times that can count those later than a given one: how many lines were touched since.
 *
 * There is a bit for each time. *Leaves* count the bits of 512 times, *twigs* those of 32 leaves, *branches*
 * those of 16 twigs, *trunks* those of 16 branches. Counting or changing a time reads one cache line of each,
 * and all trunks that are later. The set takes little more than a bit for each time.
 */
#ifndef NM_TOUCH_TIMES_H
#define NM_TOUCH_TIMES_H

#include <stdint.h>

enum { NM_LEAF_BITS = 9, NM_TWIG_BITS = 14, NM_BRANCH_BITS = 18, NM_TRUNK_BITS = 22 };

struct nm_touch_times {
	uint64_t *bits;
	uint16_t *leaves;                    /* sums of 2^NM_LEAF_BITS times, */
	uint32_t *twigs, *branches, *trunks; /* of 2^NM_TWIG_BITS, and so on */
	uint32_t room, next; /* times are below room; next: the one that is added next, from 1 on */
	uint32_t live;       /* times in the set */
};

/* An empty set with room for so many times at least.  0 or NM_ENOMEM. */
int touch_times_new(struct nm_touch_times *ret_timeline, uint64_t times);
void touch_times_free(struct nm_touch_times *timeline);
uint64_t touch_times_bytes(const struct nm_touch_times *timeline);

static inline int touch_times_is_full(const struct nm_touch_times *t) { return t->next == t->room; }

/* Adds the next time and returns it; the set is not full. */
uint32_t touch_times_add(struct nm_touch_times *timeline);

/* Adds the times 1 ... count to an empty set. */
void touch_times_fill(struct nm_touch_times *timeline, uint32_t count);

/* Removes a time of the set. */
void touch_times_remove(struct nm_touch_times *timeline, uint32_t time);

/* How many times of the set are later than this one, which is in the set. */
uint32_t touch_times_later(const struct nm_touch_times *timeline, uint32_t time);

/* Fetches what touch_times_later reads.  Any time. Always inline, as nm_line_prefetch. */
__attribute__((always_inline)) static inline void nm_timeline_prefetch(const struct nm_touch_times *t,
								       uint32_t time)
{
	__builtin_prefetch(&t->bits[time >> NM_LEAF_BITS << (NM_LEAF_BITS - 6)], 1);
	__builtin_prefetch(&t->leaves[time >> NM_LEAF_BITS], 1);
}

#endif
