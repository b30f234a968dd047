/* SPDX-License-Identifier: MIT
 *
 * moments.h - how many instructions had been executed when a reference was made.
 *
 * What a model finds out about a reference it finds out later, in a batch that the decoder has left behind
 * (workers.h). So the decoder notes the count beside each reference, in as many lists as there can be
 * batches between the two, and the model looks it up by the number of the reference.  Only where a single
 * event was asked for: references are then made one by one (single_step.c).
 */
#ifndef NM_MOMENTS_H
#define NM_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "hierarchy.h"
#include "workers.h"

enum { NM_MOMENTS = NM_WORKERS_QUEUE + 1 };

struct nm_moments {
	uint64_t (*lists)[NM_BATCH]; /* [NM_MOMENTS] */
	size_t filling;              /* the decoder's */
	size_t taking;               /* the models' */
	uint64_t references;         /* of the batches that were taken */
};

/* NULL: memory is exhausted. */
struct nm_moments *nm_moments_new(void);
void nm_moments_free(struct nm_moments *moments);

/* The decoder: of the batch's reference at an index; the batch was handed over. */
static inline void nm_moments_note(struct nm_moments *moments, size_t index, uint64_t instructions)
{
	moments->lists[moments->filling][index] = instructions;
}

static inline void nm_moments_next(struct nm_moments *moments)
{
	moments->filling = (moments->filling + 1) % NM_MOMENTS;
}

/* The models: the next batch was run.  The instructions up to the reference of this number, 0: it is of
 * another batch. */
uint64_t nm_moments_take(struct nm_moments *moments, const struct nm_ref *refs, size_t count,
			 uint64_t reference);

#endif
