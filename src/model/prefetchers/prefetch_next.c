/* SPDX-License-Identifier: MIT
 *
 * prefetch_next.c - the next line: a miss, and the first use of a line that was prefetched, names `degree`
 * lines, from the `distance`-th after it on. This is tagged prefetch (Smith, "Cache Memories", ACM Computing
 * Surveys 14:3, 1982): the tag marks a line that was prefetched and not used yet, so that a walk through
 * memory misses once.
 */
#include "prefetch.h"

static void next_train(struct nm_prefetch *p, const struct nm_demand *d)
{
	uint64_t line = (d->address >> p->line_shift) + p->distance;

	for (uint32_t i = 0; i < p->degree && (d->missed || d->fresh); i++)
		nm_prefetch_name(p, d, line + i);
}

const struct nm_prefetcher nm_prefetcher_next = {.name = "next",
						 .summary = "the lines behind one that missed",
						 .degree = 1,
						 .distance = 1,
						 .see = next_train};
