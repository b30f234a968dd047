/* SPDX-License-Identifier: MIT
 *
 * spec_fit.c - completes and checks a level that spec.c has read: its geometry, then its keys.
 */
#include "index.h"
#include "policy.h"
#include "spec_priv.h"

/* Checks the keys of a prefetcher. */
static int fit_prefetch(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	const struct nm_spec_positions *at = &d->at;
	const char *alone = at->degree     ? at->degree
			    : at->distance ? at->distance
			    : at->table    ? at->table
					   : at->cross;

	if (alone && !d->level->prefetch)
		return nm_spec_fault(r, alone, "degree, distance, table and cross are of prefetch=");
	return prefetch_fault(d->level)
		   ? nm_spec_fault(r, at->table ? at->table : at->prefetch, "%s", prefetch_fault(d->level))
		   : 0;
}

/* Checks that policy and index suit the geometry of the level. */
static int fit_ways_to_choose(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	struct nm_level_spec *level = d->level;
	const char *lacks;

	if (d->at.slices && level->index != NM_INDEX_SLICES)
		return nm_spec_fault(r, d->at.slices, "slices are of index=slices");
	if (nm_level_looks_ahead(level) && (level->no_allocate || level->inclusion || d->at.sector))
		return nm_spec_fault(r, d->at.policy,
				     "policy=opt goes with neither allocate=no nor an inclusion nor sectors");
	if (level->huge && !level->pages)
		return nm_spec_fault(r, d->at.huge, "huge= stands with pages=");
	if (d->at.seed && !nm_level_policy(level)->draws)
		return nm_spec_fault(r, d->at.seed, "policy=%s draws no random numbers, so it takes no seed",
				     nm_level_policy(level)->name);
	level->sector = d->sector < level->line ? (uint32_t)d->sector : 0;
	if (d->at.sector && sector_fault(level))
		return nm_spec_fault(r, d->at.sector, "%s", sector_fault(level));
	if (d->at.plugin && (level->policy || level->index))
		return nm_spec_fault(r, d->at.plugin, "a plug-in is policy and index itself");
	if (fit_prefetch(r, d))
		return NM_EINVAL;
	level->slices = level->index != NM_INDEX_SLICES ? 0 : d->at.slices ? (uint32_t)d->slices : 4;
	lacks = nm_indexes[level->index].lacks ? nm_indexes[level->index].lacks(level) : NULL;
	return lacks ? nm_spec_fault(r, d->at.index, "%s: %s", level->name, lacks) : 0;
}

/* Makes size, ways and sets agree. */
int model_spec_fit(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	struct nm_level_spec *level = d->level;
	const struct nm_spec_positions *at = &d->at;
	const int full = d->full;
	uint64_t ways = d->ways, line = d->line, sets = d->sets;

	if (level->pages) {
		unsigned smallest = (unsigned)__builtin_ctz(level->pages);

		if (line != 1u << nm_page_shifts[smallest])
			return nm_spec_fault(r, at->line,
					     "the line of a TLB is the smallest of its pages: %s",
					     nm_page_names[smallest]);
	} else if (line < 8 || line > MAX_LINE_BYTES || (line & (line - 1)))
		return nm_spec_fault(r, at->line, "a line must be a power of two from 8 to %d bytes",
				     MAX_LINE_BYTES);
	if (!full && !ways)
		return nm_spec_fault(r, at->ways, "a level needs at least one way");
	if (full && at->sets)
		return nm_spec_fault(r, at->sets, "a fully associative level has one set");
	if (full)
		ways = level->size / line;
	if (ways > MAX_LINES)
		return nm_spec_fault(r, full ? at->size : at->ways, "more than %d ways", MAX_LINES);
	if (at->sets) {
		if (sets > MAX_LINES / ways)
			return nm_spec_fault(r, at->sets, "more than %d lines", MAX_LINES);
		level->size = sets * ways * line;
	}
	if (!level->size || !ways || level->size % (ways * line))
		return nm_spec_fault(r, at->size,
				     "%s: %llu bytes are not a multiple of %llu ways of %llu bytes",
				     level->name, (unsigned long long)level->size,
				     (unsigned long long)(ways ? ways : 1), (unsigned long long)line);
	level->sets = level->size / (ways * line);
	if (level->sets > MAX_LINES / ways)
		return nm_spec_fault(r, at->size, "%s has more than %d lines", level->name, MAX_LINES);
	level->ways = (uint32_t)ways;
	level->line = (uint32_t)line;
	return fit_ways_to_choose(r, d);
}
