/* SPDX-License-Identifier: MIT
 *
 * batch_builder.c - what orders threads within a batch.
 */
#include "batch_builder.h"

#include <assert.h>
#include <stdlib.h>

int nm_batch_builder_order_threads(struct nm_batch_builder *b)
{
	b->syncs = malloc(NM_SYNCS * sizeof *b->syncs);
	return b->syncs ? 0 : NM_ENOMEM;
}

void nm_batch_builder_synchronise_by(struct nm_batch_builder *b, uint8_t kind)
{
	assert(b->syncs && b->count && b->sync_count < NM_SYNCS);
	b->syncs[b->sync_count++] = (struct nm_sync){.kind = kind, .index = (uint32_t)b->count - 1};
}
