/* SPDX-License-Identifier: MIT
 *
 * slice_resolve.c - settles what is open in a slice with what the slices before left, level by level.
 *
 * Why the list of misses is then that of the whole run, for a level whose references are exact:
 * - A set holds the lines touched last. When the slice has touched n lines of a set, these are the n latest there, and
 *   the other ways hold the latest of those that the slice before left, here the *rest*. Only a load of a line that the
 *   slice has not touched can meet one of the rest. With all ways filled there is no rest; before, the load takes an
 *   empty way, so it is open.
 * - An open load is done again as the level would have done it: the line is in the rest, so it is a hit, and the
 *   residency of the slice goes on with the earlier one, even if it has ended meanwhile; or it evicts the oldest of the
 *   rest where the set is full.
 * - A credit finds its line where the slice has loaded it; if not, in the rest.
 * - The shadow cache is a set of all lines. So it is the slice's first touches of lines, as many as it has ways, that
 *   may meet its rest; they are the misses that seemed cold. One that is no conflict is cold unless a slice before has
 *   seen the line. All other misses have their class.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "slices_priv.h"

/* The slice's first touches of lines, as the shadow cache sees them with what it held before. */
static int resolve_classes(struct nm_run_slice *s, const struct nm_run_slice_unit *unit,
			   struct nm_run_slice_level *l)
{
	uint64_t *const held = l->shadow.at;
	const size_t count = l->shadow.count;
	size_t oldest = 0, left = count;
	struct nm_map at = {0};
	uint64_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (nm_map_put(&at, held[i], i)) {
			nm_map_done(&at);
			return NM_ENOMEM;
		}
	for (size_t i = 0; i < unit->firsts.count && left; i++) {
		struct nm_miss *m = miss_at(&s->list, unit->firsts.at[i]);
		size_t found = nm_map_get(&at, m->line, count);

		if (found < count && held[found] == m->line) {
			m->class = NM_MISS_CONFLICT;
		} else if (left + i == l->capacity) {
			while (held[oldest] == NM_NO_LINE)
				oldest++;
			found = oldest;
		} else {
			continue;
		}
		held[found] = NM_NO_LINE;
		left--;
	}
	nm_map_done(&at);
	for (size_t i = 0; i < count; i++)
		if (held[i] != NM_NO_LINE)
			held[kept++] = held[i];
	l->shadow.count = kept;
	return 0;
}

/* Makes one residency of two of a line, the earlier of which another slice began. */
static void join(struct nm_residency *to, const struct nm_residency *earlier)
{
	run_slice_credit(to, earlier);
	to->attr = earlier->attr;
}

/* The miss was none: nothing comes of it. */
static void cancel(struct nm_miss *m)
{
	m->line = m->left = NM_NO_LINE;
	m->class = NM_MISS_NONE;
}

static void resolve_load(struct nm_run_slice *s, const struct nm_run_slice_unit *unit,
			 struct nm_run_slice_level *l, const struct nm_open *open)
{
	struct nm_miss *m = miss_at(&s->list, open->miss);
	struct nm_run_slice_line *found = run_slice_level_find(l, m->line);
	const uint64_t set = m->line % l->sets;

	if (found) {
		join(open->left == NM_STAYS ? &unit->cache->residencies[m->slot]
					    : &miss_at(&s->list, open->left)->residency,
		     &found->residency);
		run_slice_level_remove(l, found);
		cancel(m);
	} else if (l->held[set] + unit->filled[set] == l->ways) {
		struct nm_run_slice_line *oldest = run_slice_set(l, m->line);

		m->left = oldest->line;
		m->residency = oldest->residency;
		run_slice_level_remove(l, oldest);
	}
	unit->filled[set]++;
}

/* A credit of a line that the slice has not loaded. */
static void resolve_credit(struct nm_run_slice_level *l, struct nm_miss *m)
{
	struct nm_run_slice_line *found = run_slice_level_find(l, m->left);

	if (!found)
		return;
	run_slice_credit(&found->residency, &m->residency);
	cancel(m);
}

/* Keeps which of the slice's lines were seen before it, and adds its own. */
static int resolve_seen(struct nm_run_slice_unit *unit, struct nm_run_slice_level *l)
{
	const struct nm_shadow *shadow = &unit->cache->shadow;
	int status = 0;

	unit->earlier = calloc(shadow->seen_mask + 1, sizeof *unit->earlier);
	if (!unit->earlier)
		return NM_ENOMEM;
	for (size_t i = 0; i <= shadow->seen_mask && !status; i++)
		for (unsigned from = 0; from < 64 && !status; from += NM_RUN_SLICE_SEEN) {
			const uint64_t lines = shadow->seen[i].lines >> from & UINT32_MAX;
			const uint64_t key =
			    shadow->seen[i].group * 64 / NM_RUN_SLICE_SEEN + from / NM_RUN_SLICE_SEEN;
			uint64_t earlier;

			if (!lines)
				continue;
			earlier = nm_map_get(&l->seen, key, 0);
			unit->earlier[i] |= earlier << from;
			if (lines & ~earlier)
				status = nm_map_put(&l->seen, key, earlier | lines);
		}
	return status;
}

/* The lines of the slice are later than what is left of those before. */
static int leave_lines(const struct nm_run_slice_unit *unit, struct nm_run_slice_level *l)
{
	const struct nm_cache *c = unit->cache;
	uint32_t order[NM_HIGHLY_ASSOCIATIVE], slot, count;

	for (uint64_t first = 0; (slot = nm_cache_next_resident(c, first)) != NM_NO_SLOT; first += c->ways) {
		first = slot / c->ways * c->ways;
		count = 0;
		for (uint32_t way = 0, at; way < c->spec.ways; way++) {
			if (c->tags[first + way] == NM_NO_LINE)
				continue;
			for (at = count++;
			     at && c->timestamps[first + order[at - 1]] > c->timestamps[first + way]; at--)
				order[at] = order[at - 1];
			order[at] = way;
		}
		for (uint32_t i = 0; i < count; i++)
			run_slice_level_add(l, c->tags[first + order[i]], &c->residencies[first + order[i]]);
	}
	if (nm_vec_reserve(&l->shadow, c->shadow.live))
		return NM_ENOMEM;
	l->shadow.count += nm_shadow_order(&c->shadow, c->tags, l->shadow.at + l->shadow.count);
	assert(l->shadow.count <= l->capacity);
	return 0;
}

/* Asks which of the loads, now known, were covered. */
static int settle_coverage(struct nm_run_slice *s, struct nm_coverage *f)
{
	if (nm_coverage_reserve(f, s->keys))
		return NM_ENOMEM;
	for (uint64_t i = 0; i < s->list.count; i++) {
		struct nm_miss *m = miss_at(&s->list, i);
		const struct nm_cache *c = s->units[m->unit].cache;

		if (!c->coverage || m->line == NM_NO_LINE)
			continue;
		nm_coverage_fill(f, m->line << c->line_shift | m->covered, m->attr,
				 c->spec.side != NM_SIDE_INSTRUCTION);
		m->covered = (uint8_t)f->covered;
	}
	return 0;
}

int nm_run_slice_resolve(struct nm_run_slice *s, struct nm_run_slice_state *state)
{
	int status = 0;

	assert(state->depth == s->depth && state->count == unit_count(s->hierarchy));
	for (unsigned u = 0; u < state->count && !status; u++) {
		if (s->units[u].depth != s->depth)
			continue;
		memset(s->units[u].filled, 0, s->units[u].cache->spec.sets);
		status = resolve_classes(s, &s->units[u], &state->levels[u]);
	}
	for (size_t i = 0; i < s->opens.count && !status; i++) {
		struct nm_miss *m = miss_at(&s->list, s->opens.at[i].miss);

		if (m->class == NM_MISS_NONE)
			resolve_credit(&state->levels[m->unit], m);
		else
			resolve_load(s, &s->units[m->unit], &state->levels[m->unit], &s->opens.at[i]);
	}
	for (unsigned u = 0; u < state->count && !status; u++) {
		if (s->units[u].depth != s->depth)
			continue;
		status = resolve_seen(&s->units[u], &state->levels[u]);
		if (!status)
			status = leave_lines(&s->units[u], &state->levels[u]);
	}
	return status || !state->coverage ? status : settle_coverage(s, state->coverage);
}
