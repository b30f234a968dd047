/* SPDX-License-Identifier: MIT
 *
 * patterns.h - access patterns: by how many bytes an access steps from its last address to the next.
 *
 * A stride is the distance between two successive addresses that one instruction reads (or writes) in one
 * object. Strides are counted per attribution key, that is for all accesses of a line of code to an object,
 * in a few counters each: one that finds none of its own takes one off the smallest, and its place when that
 * is down to 0.  So a count is never too high, and exact as long as there are no more strides than counters;
 * a stride that more than half of the accesses follow is always among them.
 *
 * To look at a reference takes longer than all else that is done for it, so some are looked at: bursts of
 * batches, long enough for inner loops to show, all in the beginning and ever fewer, down to one of 256. 
 * Gaps between bursts vary, so that they do not fall into step with the program, but depend on nothing but
 * how many batches came before: the same program gives the same figures.  Which access made a reference is
 * written down while a burst lasts, and looked at when the reference has its attribution key.
 *
 * Dropped: the last address and a majority vote in each entry of the hot path (inline_cache.h), which more
 * than doubles what a group of entries reads and writes.
 */
#ifndef NM_PATTERNS_H
#define NM_PATTERNS_H

#include <stdint.h>

#include "decoded_block.h"
#include "hierarchy.h"
#include "result.h"
#include "vector.h"

enum {
	NM_STEPS_BITS = 12, /* instructions with attribution keys that a burst remembers, as a power of two */
	NM_BURST = 8        /* batches */
};

#define NM_NO_ACCESS UINT32_MAX /* not an access, but a fetch */

/* Where an access was last. */
struct nm_step {
	uint64_t key; /* instruction, read or write, attribution key */
	uint64_t address;
	uint64_t burst;
};

struct nm_patterns {
	int sampling;
	size_t taken; /* references of the batch that were looked at; SIZE_MAX: none are to be */
	uint64_t batch,
	    until;      /* number of the batch; of the first one that is sampled, or not, in its turn */
	uint64_t burst; /* 1, 2, ... */
	struct nm_vec(struct nm_result_strides) list;
	struct nm_vec(uint32_t) of_attr; /* index in list and 1, or 0 */
	/* While sampling, of each reference of the batch: its access site, and the end of the frame that was
	 * running. */
	uint32_t access[NM_BATCH];
	uint64_t frame_end[NM_BATCH];
	struct nm_step steps[1 << NM_STEPS_BITS];
};

/* Of zeros. */
void nm_patterns_init(struct nm_patterns *patterns);
void nm_patterns_done(struct nm_patterns *patterns);

/* References [taken, count) of the batch have their attribution keys.  sites: of all access sites.  0 or
 * NM_ENOMEM. */
int nm_patterns_take(struct nm_patterns *patterns, const uint32_t *sites, const struct nm_ref *batch,
		     size_t count);

/* The next batch begins. */
void nm_patterns_next(struct nm_patterns *patterns);

#endif
