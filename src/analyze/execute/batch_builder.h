/* SPDX-License-Identifier: MIT
 *
 * batch_builder.h - the batch that is being filled, and what is noted of its references.
 */
#ifndef NM_BATCH_BUILDER_H
#define NM_BATCH_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "bursts.h"
#include "hierarchy.h"
#include "instruction_clock.h"
#include "workers.h"

struct nm_engine;

struct nm_batch_builder {
	struct nm_ref *refs; /* a buffer of the workers */
	size_t count;
	uint64_t references; /* loads and stores of the batches submitted */
	uint64_t submitted;  /* batches */
	struct nm_workers *workers;
	struct nm_bursts bursts;
	struct nm_instruction_clock *instruction_clock; /* NULL unless an event is waited for */
	uint64_t instructions; /* for it: measured, up to that of the reference that is made */
};

/* Appends a reference, whose attribution key is known; access_site: of it, or NM_NO_ACCESS.  0 or NM_ENOMEM. */
int nm_engine_append(struct nm_engine *engine, struct nm_ref ref, uint32_t access_site);

/* Submits the batch to the passes, with all its attribution keys found.  0 or an error code. */
int nm_engine_flush(struct nm_engine *engine);

#endif
