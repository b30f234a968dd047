/* SPDX-License-Identifier: MIT
 *
 * prefetchers.c - the table of prefetchers, and their memory.
 */
#include <stdlib.h>

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
