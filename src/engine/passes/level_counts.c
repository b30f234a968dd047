/* SPDX-License-Identifier: MIT */
#include "level_counts.h"

#include <stdlib.h>

_Static_assert(sizeof(struct nm_counts) % sizeof(uint64_t) == 0 &&
		   sizeof(struct nm_extras) % sizeof(uint64_t) == 0,
	       "counts are all uint64_t");

static int take_level(struct nm_hierarchy *h, unsigned level, struct nm_level_counts *ret,
		      struct nm_result_level *out)
{
	int status = nm_hierarchy_counts(h, level, &ret->counts, &ret->rows);

	if (!status)
		status = nm_hierarchy_extra_counts(h, level, &ret->extras, &ret->extra_rows);
	if (status)
		return status;
	nm_hierarchy_total(h, level, &out->total);
	return nm_hierarchy_evictions(h, level, &out->evictions, &out->eviction_count);
}

static void *sum_figures(const uint32_t *to, size_t rows, const void *figures, size_t count, size_t bytes)
{
	return nm_pass_sum(to, rows, figures, count, bytes / sizeof(uint64_t));
}

/* Takes what was charged to references that do not count out of the level's figures; lines that were evicted
 * by them stay so. */
static void leave_out_uncounted(const struct nm_pass_merge *m, const struct nm_result *r,
				struct nm_level_counts *l, struct nm_result_level *out)
{
	size_t kept = 0;

	for (size_t key = 1; key < l->rows && key < m->key_count; key++) {
		if (nm_pass_counts_key(m, r, key))
			continue;
		nm_counts_subtract(&out->total, &l->counts[key]);
		l->counts[key] = (struct nm_counts){0};
		if (l->extras)
			l->extras[key] = (struct nm_extras){0};
	}
	for (size_t i = 0; i < out->eviction_count; i++)
		if (nm_pass_counts_key(m, r, out->evictions[i].victim))
			out->evictions[kept++] = out->evictions[i];
	out->eviction_count = kept;
}

static int merge_level(const struct nm_pass_merge *m, struct nm_level_counts *l, const struct nm_result *r,
		       struct nm_result_level *out)
{
	leave_out_uncounted(m, r, l, out);
	out->counts = sum_figures(m->keys, r->attr_count, l->counts, l->rows, sizeof *l->counts);
	if (l->extras)
		out->extras =
		    sum_figures(m->keys, r->attr_count, l->extras, l->extra_rows, sizeof *l->extras);
	if (m->contexts)
		out->context_counts =
		    sum_figures(m->contexts, r->context_attr_count, l->counts, l->rows, sizeof *l->counts);
	for (size_t i = 0; i < out->eviction_count; i++) {
		out->evictions[i].evictor = m->keys[out->evictions[i].evictor];
		out->evictions[i].victim = m->keys[out->evictions[i].victim];
	}
	return out->counts && (out->extras || !l->extras) && (out->context_counts || !m->contexts)
		   ? 0
		   : NM_ENOMEM;
}

/* Of keys of one attribution the walk that has most loads. */
static int take_walks(const struct nm_hierarchy *h, const struct nm_pass_merge *m, struct nm_result *r)
{
	if (!r->machine.prefetchers)
		return 0;
	r->walks = calloc(r->attr_count + 1, sizeof *r->walks);
	for (size_t key = 1; r->walks && key < m->key_count; key++) {
		const struct nm_walk walk = nm_hierarchy_walk(h, (uint32_t)key);
		struct nm_walk *to = &r->walks[m->keys[key]];

		if (walk.loads > to->loads)
			*to = walk;
	}
	return r->walks ? 0 : NM_ENOMEM;
}

int nm_level_counts_take(struct nm_level_counts *levels, struct nm_hierarchy *h,
			 const struct nm_pass_merge *m, struct nm_result *r)
{
	int status = 0;

	for (unsigned i = 0; i < r->machine.count && !status; i++)
		status = take_level(h, i, &levels[i], &r->levels[i]);
	return status ? status : take_walks(h, m, r);
}

int nm_level_counts_merge(struct nm_level_counts *levels, const struct nm_pass_merge *m, struct nm_result *r,
			  int status)
{
	for (unsigned i = 0; i < r->machine.count; i++) {
		if (!status)
			status = merge_level(m, &levels[i], r, &r->levels[i]);
		free(levels[i].counts);
		free(levels[i].extras);
	}
	return status;
}
