/* SPDX-License-Identifier: MIT
 *
 * prefetchers.c - the table of prefetchers, their memory, the lines that they name, and the next-line prefetcher.
 */
#include <stdlib.h>

#include "cache.h"
#include "prefetch.h"

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

/* ---- prefetch ---- */

/* The lines that prefetchers name.
 *
 * They are queued while a reference passes through the levels and loaded when it is done (prefetch_fill.c),
 * so that they cannot evict a line that it has just found.
 */

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

/* ---- prefetch next ---- */

/* The next line: a miss, and the first use of a line that was prefetched, names `degree`
 * lines, from the `distance`-th after it on. This is tagged prefetch (Smith, "Cache Memories", ACM Computing
 * Surveys 14:3, 1982): the tag marks a line that was prefetched and not used yet, so that a walk through
 * memory misses once.
 */

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
