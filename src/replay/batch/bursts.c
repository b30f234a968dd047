/* SPDX-License-Identifier: MIT
 *
 * bursts.c - see bursts.h.
 */
#include "bursts.h"

#include <string.h>

#include "map.h"

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
