/* SPDX-License-Identifier: MIT
 *
 * prefetch.c - the lines that prefetchers name.
 *
 * They are queued while a reference passes through the levels and loaded when it is done (prefetch_fill.c),
 * so that they cannot evict a line that it has just found.
 */
#include "prefetch.h"
#include "cache.h"

enum { PAGE_SHIFT = 12 };

int nm_prefetch_name(struct nm_prefetch *p, const struct nm_demand *d, uint64_t line)
{
	const uint64_t address = line << p->line_shift;

	if (address >> p->line_shift != line ||
	    (!p->cross && address >> PAGE_SHIFT != d->address >> PAGE_SHIFT))
		return 0;
	if (nm_vec_push(&p->queue->list, (struct nm_prefetch_request){p->level, line, d->attr}))
		p->level->failed = 1;
	return 1;
}
