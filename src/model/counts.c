/* SPDX-License-Identifier: MIT
 *
 * counts.c - reads the counters of levels: for one attribution key, for all of them, and for pairs that evict
 * each other.
 *
 * Counting rule: the references of a level behind another are the fills of the levels above it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy_priv.h"

/* The counts of an attribution key at a unit of a level, from its loads and from the residencies that they
 * began. */
static struct nm_counts counts_of(const struct nm_hierarchy *h, unsigned level, const struct nm_cache *c,
				  size_t attr)
{
	/* the first machine's alone, of which the unit may be */
	const struct nm_coverage *coverage = c->level == level ? c->coverage : NULL;
	const struct nm_loads *l = &c->counters.loads[attr];
	const struct nm_residency_sums *s = &c->counters.residencies[attr];
	struct nm_counts n = {.reads = c->first ? 0 : c->counters.own[attr][0],
			      .writes = c->first ? 0 : c->counters.own[attr][1],
			      .read_misses = l->fills[0] - l->extra[0],
			      .write_misses = l->fills[1] + l->around - l->extra[1],
			      .cold = l->of_class[NM_MISS_COLD],
			      .capacity = l->of_class[NM_MISS_CAPACITY],
			      .conflict = l->of_class[NM_MISS_CONFLICT],
			      .coherence = c->counters.extras ? c->counters.extras[attr].coherence : 0,
			      .loads = l->fills[0] + l->fills[1],
			      .reuse = s->reuse,
			      .used_bytes = s->used_bytes,
			      .evictions = s->evictions,
			      .writebacks = s->writebacks,
			      .weighted_bytes = s->weighted_bytes,
			      .covered = coverage ? c->counters.covered[attr] : 0};

	if (coverage && c == entry_levels_of(h, 0)->entry[0] && attr < coverage->walks.count)
		n.page_walks = coverage->walks.at[attr].page_walks;
	n.loaded_bytes = (n.loads + (c->counters.extras ? c->counters.extras[attr].prefetches : 0))
			 << c->line_shift;
	for (const struct nm_cache *above = h->units; above < c; above++)
		if (takes_fills(c, above)) {
			n.reads += above->counters.loads[attr].fills[0];
			n.writes += above->counters.loads[attr].fills[1];
		}
	return n;
}

/* Adds counts `times` times. */
static void add_times(struct nm_counts *to, const struct nm_counts *counts, int times)
{
	uint64_t sums[sizeof *to / sizeof(uint64_t)], row[sizeof *to / sizeof(uint64_t)];

	memcpy(sums, to, sizeof sums);
	memcpy(row, counts, sizeof row);
	for (size_t f = 0; f < sizeof row / sizeof row[0]; f++)
		sums[f] += (uint64_t)times * row[f];
	memcpy(to, sums, sizeof sums);
}

void nm_counts_add(struct nm_counts *to, const struct nm_counts *counts) { add_times(to, counts, 1); }

void nm_counts_subtract(struct nm_counts *from, const struct nm_counts *counts)
{
	add_times(from, counts, -1);
}

int nm_hierarchy_counts(const struct nm_hierarchy *h, unsigned level, struct nm_counts **ret_counts,
			size_t *ret_attr_count)
{
	const unsigned of = h->same[level];
	const size_t attrs = unit_of(h, level, 0)->counters.attr_count; /* the same in all */
	struct nm_counts *counts = calloc(attrs, sizeof *counts);

	assert(level < h->count);
	if (!counts)
		return NM_ENOMEM;
	for (unsigned u = h->begin[of]; u < h->begin[of + 1]; u++)
		for (size_t i = 0; i < attrs; i++) {
			struct nm_counts of_unit = counts_of(h, level, &h->units[u], i);

			add_times(&counts[i], &of_unit, 1);
		}
	*ret_attr_count = attrs;
	*ret_counts = counts;
	return 0;
}

int nm_hierarchy_extra_counts(const struct nm_hierarchy *h, unsigned level, struct nm_extras **ret_extras,
			      size_t *ret_attr_count)
{
	const unsigned of = h->same[level];
	const struct nm_counters *first =
	    &unit_of(h, level, 0)->counters; /* as many attribution keys in all */

	assert(level < h->count);
	*ret_attr_count = first->attr_count;
	*ret_extras = NULL;
	if (!first->has_extras)
		return 0;
	*ret_extras = calloc(first->attr_count + 1, sizeof **ret_extras);
	if (!*ret_extras)
		return NM_ENOMEM;
	for (unsigned u = h->begin[of]; u < h->begin[of + 1]; u++)
		for (size_t i = 0; i < first->attr_count; i++)
			nm_extras_add(&(*ret_extras)[i], &h->units[u].counters.extras[i]);
	return 0;
}

void nm_hierarchy_total(const struct nm_hierarchy *h, unsigned level, struct nm_counts *ret_total)
{
	const unsigned of = h->same[level];

	assert(level < h->count);
	*ret_total = (struct nm_counts){0};
	for (unsigned u = h->begin[of]; u < h->begin[of + 1]; u++) {
		const struct nm_cache *c = &h->units[u];

		for (size_t i = 0; i < c->counters.attr_count; i++) {
			struct nm_counts counts = counts_of(h, level, c, i);

			add_times(ret_total, &counts, 1);
		}
		ret_total->reads += c->first ? c->counters.reads : 0;
		ret_total->writes += c->first ? c->counters.writes : 0;
	}
}

struct nm_walk nm_hierarchy_walk(const struct nm_hierarchy *h, uint32_t attr)
{
	const struct nm_walk_state *w;

	if (!h->coverage || attr >= h->coverage->walks.count)
		return (struct nm_walk){0};
	w = &h->coverage->walks.at[attr];
	return (struct nm_walk){w->loads, w->followed, w->step};
}

static struct nm_eviction eviction_of(const struct nm_pair *pair)
{
	uint32_t evictor = (uint32_t)(pair->key >> 32);

	return (struct nm_eviction){.evictor = evictor & ~NM_BY_PREFETCH,
				    .victim = (uint32_t)pair->key,
				    .count = pair->count,
				    .prefetch = (evictor & NM_BY_PREFETCH) != 0};
}

int nm_hierarchy_evictions(const struct nm_hierarchy *h, unsigned level, struct nm_eviction **ret_list,
			   size_t *ret_count)
{
	const unsigned of = h->same[level];
	struct nm_eviction *list;
	size_t n = 1;

	assert(level < h->count);
	for (unsigned u = h->begin[of]; u < h->begin[of + 1]; u++)
		n += h->units[u].counters.pair_count;
	list = malloc(n * sizeof *list);
	if (!list)
		return NM_ENOMEM;
	n = 0;
	for (unsigned u = h->begin[of]; u < h->begin[of + 1]; u++) {
		const struct nm_counters *c = &h->units[u].counters;

		for (size_t i = 0; i <= c->pair_mask; i++)
			if (c->pairs[i].count)
				list[n++] = eviction_of(&c->pairs[i]);
	}
	*ret_list = list;
	*ret_count = n;
	return 0;
}
