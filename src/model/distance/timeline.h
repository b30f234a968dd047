/* SPDX-License-Identifier: MIT
 *
 * timeline.h - a set of times, of which the later ones are counted: how many lines were touched since.
 *
 * A bit for each time, and sums of 256 times, of 64 such sums, and of 64 of those: a count looks at the rest
 * of one node of each height, a change at one counter of each. A set takes 2 bits and a quarter a time.
 */
#ifndef NM_TIMELINE_H
#define NM_TIMELINE_H

#include <stdint.h>

struct nm_timeline {
	uint64_t *bits;
	uint16_t *leaves;            /* sums of 2^NM_LEAF_BITS times, */
	uint32_t *branches, *trunks; /* of 2^NM_BRANCH_BITS, of 2^NM_TRUNK_BITS */
	uint32_t room, next;         /* times are below room; next: the one that comes, from 1 on */
	uint32_t live;               /* times in the set */
};

enum { NM_LEAF_BITS = 8, NM_BRANCH_BITS = 14, NM_TRUNK_BITS = 20 };

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

#endif
