/* SPDX-License-Identifier: MIT
 *
 * batch_builder.h - the batch being filled, with notes on its references.
 */
#ifndef NM_BATCH_BUILDER_H
#define NM_BATCH_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "bursts.h"
#include "hierarchy.h"
#include "instruction_clock.h"
#include "interleave.h"
#include "workers.h"

struct nm_engine;
struct nm_schedules;

struct nm_batch_builder {
	struct nm_ref *refs; /* the buffer of the workers */
	size_t count;
	uint64_t references;              /* loads and stores of the batches before */
	uint64_t submitted;               /* batches */
	struct nm_interleave *interleave; /* NULL: the machine has one core */
	struct nm_schedules *schedules;   /* further orders of the threads, or NULL */
	struct nm_sync *syncs;            /* [NM_SYNCS] of the batch, if there are several */
	size_t sync_count;
	struct nm_workers *workers;
	struct nm_bursts bursts;
	struct nm_instruction_clock *instruction_clock; /* NULL unless an event is waited for */
	uint64_t instructions; /* for it: measured, up to that of the reference that is made */
};

/* Appends a reference, whose attribution key is known; access_site: of it, or NM_NO_ACCESS. 0 or
 * NM_ENOMEM. */
int nm_engine_append(struct nm_engine *engine, struct nm_ref ref, uint32_t access_site);

enum { NM_SYNCS = 2 * NM_BATCH };

/* Where the machine has several cores: merges what the program's threads do. 0 or NM_ENOMEM. */
int nm_engine_interleave(struct nm_engine *engine);

/* Submits the batch to the passes, or has it merged, with all its attribution keys found; and what was held
 * back in merging. 0 or an error code. */
int nm_engine_flush(struct nm_engine *engine);
int nm_engine_drain_threads(struct nm_engine *engine);

/* Before the batch's next reference something orders threads (struct nm_sync, whose index is not read). 0 or
 * a code. */
int nm_engine_synchronise(struct nm_engine *engine, struct nm_sync sync);

/* The reference that was just appended does: NM_SYNC_ATOMIC or NM_SYNC_UPDATE. */
void nm_engine_synchronise_by(struct nm_engine *engine, uint8_t kind);

#endif
