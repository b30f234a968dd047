/* SPDX-License-Identifier: MIT
 *
 * bursts.h - chooses batches to sample in detail, and records details of their references.
 *
 * Some analyses need more than the simulation gets: which access made a reference, and the state of the
 * program at that moment. Recording that costs more than everything else done for a reference. So only bursts
 * of batches are sampled, long enough to show inner loops: all batches at first, then ever fewer, down to one
 * in 256. The gaps between bursts vary, so that sampling does not fall into step with the program, but depend
 * only on the number of batches so far: the same program gives the same figures. New code ends a gap, so that a
 * loop is seen that runs once and is shorter than a gap; only so often, since some programs never stop to reach new
 * code.
 */
#ifndef NM_BURSTS_H
#define NM_BURSTS_H

#include <stddef.h>
#include <stdint.h>

#include "hierarchy.h"

enum { NM_BURST = 8 /* batches */ };

#define NM_NO_ACCESS UINT32_MAX /* not an access, but a fetch */

struct nm_bursts {
	int sampling;
	int has_new_code; /* the stream has defined code since the batch began */
	unsigned early;   /* bursts that new code has begun */
	size_t taken;     /* references of the batch that the passes have seen; SIZE_MAX: they see none */
	uint64_t batch;   /* number of the batch */
	uint64_t until;   /* number of the first batch that is not in this burst, or this gap */
	uint64_t burst;   /* 1, 2, ... */
	/* While sampling, for each reference of the batch: its access site, and the end of the running
	 * frame. */
	uint32_t access[NM_BATCH];
	uint64_t frame_end[NM_BATCH];
};

void nm_bursts_init(struct nm_bursts *bursts);

/* The next batch begins. */
void nm_bursts_next(struct nm_bursts *bursts);

#endif
