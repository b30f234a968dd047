/* SPDX-License-Identifier: MIT
 *
 * instruction_clock.h - the number of instructions executed before each reference.
 *
 * The decoder stores the count beside each reference of a batch. Passes run later, maybe in another thread
 * (the engine's workers), so there is one list of counts for each batch that can be in flight. The clock exists only on
 * request: it makes the engine execute blocks one access at a time (single_step.c), which is slow.
 */
#ifndef NM_INSTRUCTION_CLOCK_H
#define NM_INSTRUCTION_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hierarchy.h"

enum {
	NM_BATCHES_IN_FLIGHT = 256, /* full but not run yet by all passes, at most */
	NM_INSTRUCTION_CLOCK_LISTS = NM_BATCHES_IN_FLIGHT + 1
};

struct nm_instruction_clock {
	uint64_t draft[NM_BATCH];    /* for the batch that is being filled */
	uint64_t (*lists)[NM_BATCH]; /* [NM_INSTRUCTION_CLOCK_LISTS] */
	size_t filling;              /* list of the batch that is handed over next */
	size_t reading;              /* list of the batch that the passes run */
};

struct nm_instruction_clock *nm_instruction_clock_new(void); /* NULL: out of memory */
void nm_instruction_clock_free(struct nm_instruction_clock *clock);

/* For the decoder: sets the count of the batch's reference `index`; hands over the counts of a batch. */
static inline void nm_instruction_clock_note(struct nm_instruction_clock *clock, size_t index,
					     uint64_t instructions)
{
	clock->draft[index] = instructions;
}

static inline void nm_instruction_clock_submit(struct nm_instruction_clock *clock, const uint64_t *counts,
					       size_t count)
{
	memcpy(clock->lists[clock->filling], counts, count * sizeof *counts);
	clock->filling = (clock->filling + 1) % NM_INSTRUCTION_CLOCK_LISTS;
}

/* For the passes, once per batch: the counts of the next batch, one for each reference. */
static inline const uint64_t *nm_instruction_clock_read(struct nm_instruction_clock *clock)
{
	const uint64_t *list = clock->lists[clock->reading];

	clock->reading = (clock->reading + 1) % NM_INSTRUCTION_CLOCK_LISTS;
	return list;
}

#endif
