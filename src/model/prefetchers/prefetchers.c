/* SPDX-License-Identifier: MIT
 *
 * prefetchers.c - the table of prefetchers, and the lines that they name.
 *
 * Prefetchers name lines while a reference passes through the levels; the lines are loaded when it is done,
 * so that they cannot evict a line that it has just found.
 */
#include <stdlib.h>

#include "general.h"
#include "prefetch.h"

enum { PAGE_SHIFT = 12 };

const struct nm_prefetcher *const nm_prefetchers[NM_PREFETCH_COUNT] = {
    [NM_PREFETCH_NEXT] = &nm_prefetcher_next,
    [NM_PREFETCH_STRIDE] = &nm_prefetcher_stride,
    [NM_PREFETCH_STREAM] = &nm_prefetcher_stream,
};

int nm_prefetch_init(struct nm_prefetch *p, const struct nm_level_spec *spec, unsigned line_shift)
{
	const struct nm_prefetcher *by = nm_prefetchers[spec->prefetch];

	*p = (struct nm_prefetch){.by = by, .line_shift = line_shift, .cross = spec->cross_pages};
	if (!by)
		return 0;
	p->degree = spec->degree ? spec->degree : by->degree;
	p->distance = spec->distance ? spec->distance : by->distance;
	p->entries = spec->table ? spec->table : by->entries;
	p->table = calloc((size_t)p->entries + 1, by->entry_bytes + 1);
	return p->table ? 0 : NM_ENOMEM;
}

void nm_prefetch_done(struct nm_prefetch *p) { free(p->table); }

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

void nm_prefetch_issue(struct nm_prefetch_queue *queue)
{
	for (size_t i = 0; i < queue->list.count; i++)
		nm_general_prefetch(queue->list.at[i].level, queue->list.at[i].line, queue->list.at[i].attr);
	queue->list.count = 0;
}
