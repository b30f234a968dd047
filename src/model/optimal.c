/* SPDX-License-Identifier: MIT
 *
 * optimal.c - Belady's OPT: of a full set, the line whose next use is farthest away leaves.
 *
 * One pass from the end finds for each reference when its line is next used.  The pass from the start keeps the ways
 * of each set in a heap, the farthest use on top.  A hit puts its line's use off, which only rises in the heap; a load
 * replaces the top: the logarithm of the ways a reference.  A line that is never used again is as far as any other
 * such: which of them leaves changes no count.
 */
#include "optimal.h"

#include <stdlib.h>

#include "index.h"
#include "map.h"

struct entry {
	uint64_t line, use; /* use: position in the list; `count` and above: never */
};

struct optimal {
	uint32_t ways;
	struct entry *heaps; /* [sets][ways] */
	uint32_t *filled;    /* per set */
	struct nm_map where; /* line to its place in `heaps` */
	int failed;
};

static void put(struct optimal *o, struct entry *heap, uint32_t at, struct entry e)
{
	heap[at] = e;
	o->failed |= nm_map_put(&o->where, e.line, (uint64_t)(&heap[at] - o->heaps)) != 0;
}

static void rise(struct optimal *o, struct entry *heap, uint32_t at, struct entry e)
{
	for (; at && heap[(at - 1) / 2].use < e.use; at = (at - 1) / 2)
		put(o, heap, at, heap[(at - 1) / 2]);
	put(o, heap, at, e);
}

static void sink(struct optimal *o, struct entry *heap, uint32_t count, struct entry e)
{
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < count) {
		child += child + 1 < count && heap[child + 1].use > heap[child].use;
		if (heap[child].use <= e.use)
			break;
		put(o, heap, at, heap[child]);
		at = child;
	}
	put(o, heap, at, e);
}

/* 1 if the line is loaded. */
static int reference(struct optimal *o, uint64_t set, struct entry e)
{
	struct entry *heap = o->heaps + set * o->ways;
	uint64_t at = nm_map_get(&o->where, e.line, UINT64_MAX);

	if (at != UINT64_MAX) {
		rise(o, heap, (uint32_t)(at - set * o->ways), e);
		return 0;
	}
	if (o->filled[set] < o->ways) {
		rise(o, heap, o->filled[set]++, e);
	} else {
		nm_map_remove(&o->where, heap[0].line);
		sink(o, heap, o->ways, e);
	}
	return 1;
}

/* When the line of each reference is used next. */
static int find_uses(const uint64_t *lines, size_t count, uint64_t *uses)
{
	struct nm_map next = {0};
	int code = 0;

	for (size_t i = count; i-- && !code;) {
		uses[i] = nm_map_get(&next, lines[i], count);
		code = nm_map_put(&next, lines[i], i);
	}
	nm_map_done(&next);
	return code;
}

int nm_optimal_loads(const struct nm_level_spec *spec, const uint64_t *lines, size_t count,
		     unsigned char *ret_loads, uint64_t *ret_count)
{
	struct optimal o = {.ways = spec->ways,
			    .heaps = calloc(spec->sets * spec->ways, sizeof *o.heaps),
			    .filled = calloc(spec->sets, sizeof *o.filled)};
	uint64_t *uses = malloc((count + 1) * sizeof *uses), loads = 0;
	struct nm_placement placement;

	nm_placement_init(&placement, spec);
	o.failed = !o.heaps || !o.filled || !uses || find_uses(lines, count, uses);
	for (size_t i = 0; i < count && !o.failed; i++) {
		uint64_t set = nm_indexes[spec->index].set(&placement, lines[i]);
		int load = reference(&o, set, (struct entry){lines[i], uses[i]});

		loads += (unsigned)load;
		if (ret_loads)
			ret_loads[i] = (unsigned char)load;
	}
	nm_map_done(&o.where);
	free(o.heaps);
	free(o.filled);
	free(uses);
	if (o.failed)
		return NM_ENOMEM;
	*ret_count = loads;
	return 0;
}
