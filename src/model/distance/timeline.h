/* SPDX-License-Identifier: MIT
 *
 * timeline.h - a set of times, of which the later ones are counted: how many lines were touched since.
 *
 * A bit for each time, and sums of 512 times, of 32 such sums, of 16 of those, and of 16 of those: what a
 * count or a change looks at is one cache line of each height. A set takes an eighth of a byte a time.
 */
#ifndef NM_TIMELINE_H
#define NM_TIMELINE_H

#include <stdint.h>

enum { NM_LEAF_BITS = 9, NM_TWIG_BITS = 14, NM_BRANCH_BITS = 18, NM_TRUNK_BITS = 22 };

struct nm_timeline {
	uint64_t *bits;
	uint16_t *leaves;                    /* sums of 2^NM_LEAF_BITS times, */
	uint32_t *twigs, *branches, *trunks; /* of 2^NM_TWIG_BITS, and so on */
	uint32_t room, next;                 /* times are below room; next: the one that comes, from 1 on */
	uint32_t live;                       /* times in the set */
};

/* An empty set with room for so many times at least.  0 or NM_ENOMEM. */
int nm_timeline_new(struct nm_timeline *ret_timeline, uint64_t times);
void nm_timeline_free(struct nm_timeline *timeline);
uint64_t nm_timeline_bytes(const struct nm_timeline *timeline);

static inline int nm_timeline_is_full(const struct nm_timeline *t) { return t->next == t->room; }

/* Adds the next time and returns it; the set is not full. */
uint32_t nm_timeline_add(struct nm_timeline *timeline);

/* Adds the times 1 ... count to an empty set. */
void nm_timeline_fill(struct nm_timeline *timeline, uint32_t count);

/* Removes a time that is there. */
void nm_timeline_remove(struct nm_timeline *timeline, uint32_t time);

/* How many times of the set are later than one that is there. */
uint32_t nm_timeline_later(const struct nm_timeline *timeline, uint32_t time);

/* Fetches what nm_timeline_later reads.  Any time. Always inline, as nm_line_prefetch. */
__attribute__((always_inline)) static inline void nm_timeline_prefetch(const struct nm_timeline *t,
								       uint32_t time)
{
	__builtin_prefetch(&t->bits[time >> NM_LEAF_BITS << (NM_LEAF_BITS - 6)], 1);
	__builtin_prefetch(&t->leaves[time >> NM_LEAF_BITS], 1);
}

#endif
