/* SPDX-License-Identifier: MIT
 *
 * batch_builder.c - what orders threads within a batch.
 */
#include "batch_builder.h"
#include "bursts.h"
#include "instruction_clock.h"
#include "map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int nm_batch_builder_order_threads(struct nm_batch_builder *b)
{
	assert(!b->syncs);
	b->syncs = malloc(NM_SYNCS * sizeof *b->syncs);
	return b->syncs ? 0 : NM_ENOMEM;
}

void nm_batch_builder_synchronise_by(struct nm_batch_builder *b, uint8_t kind)
{
	assert(b->syncs && b->count && b->sync_count < NM_SYNCS);
	b->syncs[b->sync_count++] = (struct nm_sync){.kind = kind, .index = (uint32_t)b->count - 1};
}

/* ---- bursts ---- */

enum {
	GAP_MOST = 2040, /* batches, on average, in the long run */
	GAP_GROWTH = 4,  /* until then, a gap is this part of all batches so far */
	EARLY_MOST = 64
};

static void begin_batch(struct nm_bursts *b)
{
	b->taken = b->sampling ? 0 : SIZE_MAX;
	if (b->sampling)
		memset(b->access, 0xff, sizeof b->access);
}

void nm_bursts_init(struct nm_bursts *b)
{
	b->batch = 0;
	b->sampling = 1;
	b->until = NM_BURST;
	b->burst = 1;
	begin_batch(b);
}

/* The length of the gap after so many batches. */
static uint64_t gap_after(uint64_t batches)
{
	uint64_t mean = batches / GAP_GROWTH < GAP_MOST ? batches / GAP_GROWTH : GAP_MOST;

	return mean / 2 + nm_mix64(batches) % (mean + 1);
}

void nm_bursts_next(struct nm_bursts *b)
{
	const int early = b->has_new_code && !b->sampling && b->early < EARLY_MOST;

	assert(b->batch < b->until);
	b->has_new_code = 0;
	b->early += (unsigned)early;
	if (++b->batch == b->until || early) {
		uint64_t gap = b->sampling ? gap_after(b->batch) : 0;

		b->burst += !b->sampling;
		b->sampling = !gap;
		b->until = b->batch + (gap ? gap : NM_BURST);
	}
	begin_batch(b);
}

/* ---- instruction clock ---- */

struct nm_instruction_clock *nm_instruction_clock_new(void)
{
	struct nm_instruction_clock *m = calloc(1, sizeof *m);

	if (m && !(m->lists = malloc(NM_INSTRUCTION_CLOCK_LISTS * sizeof *m->lists))) {
		free(m);
		return NULL;
	}
	return m;
}

void nm_instruction_clock_free(struct nm_instruction_clock *c)
{
	if (!c)
		return;
	free(c->lists);
	free(c);
}
