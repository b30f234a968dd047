/* SPDX-License-Identifier: MIT
 *
 * pass_cache.c - the memory hierarchy: misses, their classes, reuse and evictions per cell and level.
 */
#include <stdlib.h>
#include <string.h>

#include "pass.h"

static int make(void **ret_self, const struct nm_machine *machine, struct nm_error *err)
{
	struct nm_hierarchy *h;
	int status = nm_hierarchy_new(&h, machine, err);

	if (!status)
		*ret_self = h;
	return status;
}

static int batch(void *self, const struct nm_ref *refs, size_t count)
{
	return nm_hierarchy_run(self, refs, count);
}

static int finish_level(struct nm_hierarchy *h, unsigned level, struct nm_result *result)
{
	struct nm_result_level *out = &result->levels[level];
	struct nm_counts *counts;
	size_t cells;
	int status = nm_hierarchy_counts(h, level, &counts, &cells);

	if (status)
		return status;
	out->counts = calloc(result->cell_count + 1, sizeof *out->counts);
	if (out->counts)
		memcpy(out->counts, counts,
		       (cells < result->cell_count ? cells : result->cell_count) * sizeof *counts);
	free(counts);
	if (!out->counts)
		return NM_ENOMEM;
	nm_hierarchy_total(h, level, &out->total);
	return nm_hierarchy_evictions(h, level, &out->evictions, &out->eviction_count);
}

static int finish(void *self, struct nm_result *result)
{
	int status = nm_hierarchy_finish(self);

	for (unsigned level = 0; level < result->machine.count && !status; level++)
		status = finish_level(self, level, result);
	return status;
}

static void release(void *self) { nm_hierarchy_free(self); }

const struct nm_pass nm_pass_cache = {"cache", make, batch, finish, release};
