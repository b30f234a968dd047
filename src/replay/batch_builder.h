/* SPDX-License-Identifier: MIT
 *
 * batch_builder.h - the batch that is being filled, with notes on its references.
 */
#ifndef NM_BATCH_BUILDER_H
#define NM_BATCH_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "bursts.h"
#include "hierarchy.h"
#include "instruction_clock.h"
#include "interleave.h"

enum { NM_SYNCS = 2 * NM_BATCH };

struct nm_batch_builder {
	struct nm_ref *refs; /* [NM_BATCH + NM_ENTRIES], borrowed: the last ones are written and ignored */
	size_t count;
	uint64_t references;   /* loads and stores, without those of runs (nm_replay_references) */
	uint64_t submitted;    /* batches */
	struct nm_sync *syncs; /* [NM_SYNCS] of the batch; NULL: the machine has one core */
	size_t sync_count;
	struct nm_cache_hint *hints; /* [NM_BATCH] of the batch; NULL: there was none yet */
	size_t hint_count;
	struct nm_bursts bursts;
	struct nm_instruction_clock *instruction_clock; /* NULL unless an event is waited for */
	uint64_t instructions; /* for the clock: measured ones, up to that of the next reference */

	/* Takes a full batch; looks at references [bursts.taken, count) of a burst. Both return 0 or a
	 * code. */
	int (*submit)(void *arg, const struct nm_thread_batch *batch);
	int (*sample)(void *arg);
	void *arg;
};

/* For machines with several cores: has what orders threads noted. 0 or NM_ENOMEM. */
int nm_batch_builder_order_threads(struct nm_batch_builder *builder);

/* The reference that was just appended orders threads: NM_SYNC_ATOMIC or NM_SYNC_UPDATE. */
void nm_batch_builder_synchronise_by(struct nm_batch_builder *builder, uint8_t kind);

#endif
