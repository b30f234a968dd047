/* SPDX-License-Identifier: MIT
 *
 * slices.c - see slices.h. The levels of a depth defer their misses to the slice's list (nm_slice_take) instead of
 * further levels. Resolving puts the list right, and advancing plays it through the hierarchy's own loops, which
 * count each miss and pass it on to the levels of the next depth, as in a whole run.
 *
 * Why that is exact, for a level whose references are exact:
 * - LRU keeps order: what a set holds are the last lines touched there. When the slice has touched n lines of a set,
 *   the n most recent are the slice's, and the ways left over hold the most recent of those that the slice before
 *   left. Only the load of a line that the slice has not touched can meet one of these. With n ways filled nothing is
 *   left of them; before, the load is into an empty way, so it is open.
 * - Resolving does what the level would have done: the line is among the rest, which makes the load a hit, and its
 *   residency one with that of the slice, though this may have ended meanwhile; or it evicts the oldest of the rest.
 * - The shadow cache is such a set of all lines, so what is held for conflict follows from the slice's first touches of
 *   lines, as many as it has ways. A miss at a first touch that is no conflict is cold unless a slice before saw the
 *   line. All other misses have the class that they have in the whole run.
 * - A credit finds its line where the slice has touched it; if not, and ways are empty, among the rest.
 * - Cut into what each level adds to the next, the exact list is all that the levels behind ever see.
 */
#include "slices.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lazy_array.h"
#include "lru_misses.h"
#include "slices_priv.h"

/* ---- the machine ---- */

static int enters(const struct nm_hierarchy *h, const struct nm_cache *c)
{
	for (unsigned m = 0; m < h->machines; m++)
		if (h->entry_levels[m].entry[0] == c || (!h->data_only && h->entry_levels[m].entry[1] == c))
			return 1;
	return 0;
}

/* Finds how far each level is from the program, by one number. */
static int find_depths(struct nm_slice *s, struct nm_error *err)
{
	const struct nm_hierarchy *h = s->hierarchy;

	for (unsigned u = 0; u < unit_count(h); u++) {
		struct nm_slice_unit *unit = &s->units[u];
		unsigned sources = 0;

		for (unsigned v = 0; v < u; v++) {
			const unsigned depth = s->units[v].depth + 1;

			if (!takes_fills(unit->cache, s->units[v].cache))
				continue;
			if ((sources++ && depth != unit->depth) || enters(h, unit->cache))
				return nm_fail(
				    err, NM_EINVAL,
				    "slices need levels whose references all pass as many levels, and those of "
				    "%s do not",
				    unit->cache->spec.name);
			unit->depth = depth;
		}
		s->depths = unit->depth < s->depths ? s->depths : unit->depth + 1;
	}
	return 0;
}

static int check(const struct nm_machine *machine, struct nm_error *err)
{
	int status = nm_lru_misses_check(machine, "slices", err);

	if (!status && machine->hints)
		status = nm_fail(err, NM_EINVAL, "slices cannot follow what the program prefetches");
	for (unsigned i = 0; i < machine->count && !status; i++)
		if (machine->levels[i].line > 64)
			status = nm_fail(err, NM_EINVAL,
					 "slices are simulated with lines of 64 bytes at most; %s has %u",
					 machine->levels[i].name, machine->levels[i].line);
	return status;
}

static int make_units(struct nm_slice *s, struct nm_error *err)
{
	struct nm_hierarchy *h = s->hierarchy;

	for (unsigned u = 0; u < unit_count(h); u++) {
		struct nm_slice_unit *unit = &s->units[u];
		struct nm_cache *c = unit->cache = &h->units[u];

		if (!c->chained)
			return nm_fail(err, NM_EINVAL,
				       "slices need lines of one size, and the level behind %s has others",
				       c->spec.name);
		c->slice = s;
		unit->filled = nm_lazy_array(c->spec.sets, sizeof *unit->filled);
		unit->open = nm_lazy_array(c->slots, sizeof *unit->open);
		if (!unit->filled || !unit->open)
			return nm_fail_memory(err);
	}
	nm_find_short_cuts(h);
	return 0;
}

int nm_slice_new(struct nm_slice **ret_slice, const struct nm_machine *machine, int data_only,
		 struct nm_error *err)
{
	struct nm_slice *s;
	int status = check(machine, err);

	if (status)
		return status;
	s = calloc(1, sizeof *s);
	if (!s)
		return nm_fail_memory(err);
	status = nm_hierarchy_new_shared(&s->hierarchy, machine, NULL, data_only, err);
	if (!status)
		status = make_units(s, err);
	if (!status)
		status = find_depths(s, err);
	if (status)
		nm_slice_free(s);
	else
		*ret_slice = s;
	return status;
}

void nm_slice_free(struct nm_slice *s)
{
	if (!s)
		return;
	for (struct nm_slice_unit *unit = s->units; unit->cache; unit++) {
		nm_lazy_array_free(unit->filled, unit->cache->spec.sets, sizeof *unit->filled);
		nm_lazy_array_free(unit->open, unit->cache->slots, sizeof *unit->open);
		nm_vec_free(&unit->firsts);
		free(unit->earlier);
	}
	for (size_t i = 0; i < s->list.chunks.count; i++)
		free(s->list.chunks.at[i]);
	nm_vec_free(&s->list.chunks);
	nm_vec_free(&s->opens);
	nm_vec_free(&s->spans);
	nm_hierarchy_free(s->hierarchy);
	free(s);
}

struct nm_hierarchy *nm_slice_hierarchy(const struct nm_slice *s) { return s->hierarchy; }

unsigned nm_slice_depths(const struct nm_slice *s) { return s->depths; }

struct nm_slice_work nm_slice_work(const struct nm_slice *s) { return s->work; }

/* ---- from empty ---- */

static struct nm_slice_unit *unit_at(struct nm_slice *s, const struct nm_cache *c)
{
	return &s->units[c - s->hierarchy->units];
}

static struct nm_miss *append(struct nm_miss_list *list)
{
	if (list->count == (uint64_t)list->chunks.count << NM_MISS_CHUNK_BITS) {
		struct nm_miss *chunk = aligned_alloc(64, sizeof *chunk << NM_MISS_CHUNK_BITS);

		if (!chunk || nm_vec_push(&list->chunks, chunk)) {
			free(chunk);
			return NULL;
		}
	}
	return nm_miss_at(list, list->count++);
}

/* Notes what of a miss, the last of the list, the slices before decide. */
static int note_open(struct nm_slice *s, struct nm_slice_unit *unit, const struct nm_miss *m)
{
	const struct nm_cache *c = unit->cache;
	const uint64_t at = s->list.count - 1;

	if (m->class == NM_MISS_NONE)
		return nm_vec_push(&s->opens, (struct nm_open){at, NM_STAYS});
	s->work.misses++;
	s->work.first += m->class == NM_MISS_COLD;
	if (m->class == NM_MISS_COLD && unit->firsts.count < c->shadow.capacity &&
	    nm_vec_push(&unit->firsts, at))
		return NM_ENOMEM;

	uint32_t *const open = &unit->open[m->slot];
	if (m->left == NM_NO_LINE) {
		*open = (uint32_t)s->opens.count + 1;
		unit->filled[nm_cache_set(c, m->line)]++;
		return nm_vec_push(&s->opens, (struct nm_open){at, NM_STAYS});
	}
	if (*open)
		s->opens.at[*open - 1].left = at;
	*open = 0;
	return 0;
}

int nm_slice_take(struct nm_cache *c)
{
	struct nm_slice *s = c->slice;
	struct nm_slice_unit *unit = unit_at(s, c);

	if (unit->depth < s->depth)
		return 0;
	for (uint32_t i = 0; i < c->miss_count && !c->failed; i++) {
		const struct nm_miss *m = &c->misses[i];
		const int passes =
		    m->class == NM_MISS_NONE && unit->filled[nm_cache_set(c, m->left)] == c->spec.ways;
		struct nm_miss *to = passes && !c->next ? NULL : append(&s->list);

		if (to) {
			*to = *m;
			to->unit = (uint8_t)(unit - s->units);
			c->failed = !passes && note_open(s, unit, m);
		} else {
			c->failed = !passes || c->next;
		}
	}
	c->miss_count = 0;
	return 1;
}

void nm_slice_note_span(struct nm_cache *c, uint64_t missed)
{
	struct nm_slice *s = c->slice;

	if (nm_vec_push(&s->spans, (struct nm_span){s->list.count + c->miss_count, missed}))
		c->failed = 1;
}

int nm_slice_end(struct nm_slice *s, const uint32_t *keys, size_t count, size_t key_count)
{
	s->keys = key_count;
	for (struct nm_slice_unit *unit = s->units; unit->cache; unit++) {
		struct nm_cache *c = unit->cache;

		if (nm_counters_reserve(&c->counters, key_count))
			return NM_ENOMEM;
		for (size_t key = 0; key < c->counters.attr_count;
		     key++) /* to be counted by the other keys */
			memset(c->counters.loads[key].extra, 0, sizeof c->counters.loads[key].extra);
		for (uint32_t slot, next = 0; keys && (slot = nm_cache_next_resident(c, next)) != NM_NO_SLOT;
		     next = slot + 1)
			c->residencies[slot].attr = keys[c->residencies[slot].attr];
	}
	for (uint64_t i = 0; keys && i < s->list.count; i++) {
		struct nm_miss *m = nm_miss_at(&s->list, i);

		assert(m->attr < count && keys[m->attr] < key_count);
		m->attr = keys[m->attr];
		if (m->left != NM_NO_LINE)
			m->residency.attr = keys[m->residency.attr];
	}
	(void)count;
	return 0;
}

/* ---- resolving ---- */

/* The slice's first touches of lines, as the shadow cache sees them with what it held before. */
static int resolve_classes(struct nm_slice *s, const struct nm_slice_unit *unit, struct nm_slice_level *l)
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
		struct nm_miss *m = nm_miss_at(&s->list, unit->firsts.at[i]);
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
	to->writes += earlier->writes;
	to->served += earlier->served;
	to->mask |= earlier->mask;
	to->attr = earlier->attr;
}

/* The miss was none: nothing comes of it. */
static void cancel(struct nm_miss *m)
{
	m->line = m->left = NM_NO_LINE;
	m->class = NM_MISS_NONE;
}

static void resolve_load(struct nm_slice *s, const struct nm_slice_unit *unit, struct nm_slice_level *l,
			 const struct nm_open *open)
{
	struct nm_miss *m = nm_miss_at(&s->list, open->miss);
	struct nm_slice_line *found = nm_slice_level_find(l, m->line);
	const uint64_t set = m->line % l->sets;

	if (found) {
		join(open->left == NM_STAYS ? &unit->cache->residencies[m->slot]
					    : &nm_miss_at(&s->list, open->left)->residency,
		     &found->residency);
		nm_slice_level_remove(l, found);
		cancel(m);
	} else if (l->held[set] + unit->filled[set] == l->ways) {
		struct nm_slice_line *oldest = nm_slice_set(l, m->line);

		m->left = oldest->line;
		m->residency = oldest->residency;
		nm_slice_level_remove(l, oldest);
	}
	unit->filled[set]++;
}

/* A credit of a line that the slice has not loaded. */
static void resolve_credit(struct nm_slice_level *l, struct nm_miss *m)
{
	struct nm_slice_line *found = nm_slice_level_find(l, m->left);

	if (!found)
		return;
	found->residency.writes += m->residency.writes;
	found->residency.served += m->residency.served;
	found->residency.mask |= m->residency.mask;
	cancel(m);
}

/* Keeps which of the slice's lines were seen before it, and adds its own. */
static int resolve_seen(struct nm_slice_unit *unit, struct nm_slice_level *l)
{
	const struct nm_shadow *shadow = &unit->cache->shadow;
	int status = 0;

	unit->earlier = calloc(shadow->seen_mask + 1, sizeof *unit->earlier);
	if (!unit->earlier)
		return NM_ENOMEM;
	for (size_t i = 0; i <= shadow->seen_mask && !status; i++)
		for (unsigned from = 0; from < 64 && !status; from += NM_SLICE_SEEN) {
			const uint64_t lines = shadow->seen[i].lines >> from & UINT32_MAX;
			const uint64_t key =
			    shadow->seen[i].group * 64 / NM_SLICE_SEEN + from / NM_SLICE_SEEN;
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
static int leave_lines(const struct nm_slice_unit *unit, struct nm_slice_level *l)
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
			nm_slice_level_add(l, c->tags[first + order[i]], &c->residencies[first + order[i]]);
	}
	if (nm_vec_reserve(&l->shadow, c->shadow.live))
		return NM_ENOMEM;
	l->shadow.count += nm_shadow_order(&c->shadow, c->tags, l->shadow.at + l->shadow.count);
	assert(l->shadow.count <= l->capacity);
	return 0;
}

/* Asks which of the loads, now known, were foreseen. */
static int foresee(struct nm_slice *s, struct nm_foresight *f)
{
	if (nm_foresight_reserve(f, s->keys))
		return NM_ENOMEM;
	for (uint64_t i = 0; i < s->list.count; i++) {
		struct nm_miss *m = nm_miss_at(&s->list, i);
		const struct nm_cache *c = s->units[m->unit].cache;

		if (!c->foresight || m->line == NM_NO_LINE)
			continue;
		nm_foresight_fill(f, m->line << c->line_shift | m->foreseen, m->attr,
				  c->spec.side != NM_SIDE_INSTRUCTION);
		m->foreseen = (uint8_t)f->foreseen;
	}
	return 0;
}

int nm_slice_resolve(struct nm_slice *s, struct nm_slice_state *state)
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
		struct nm_miss *m = nm_miss_at(&s->list, s->opens.at[i].miss);

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
	return status || !state->foresight ? status : foresee(s, state->foresight);
}

/* ---- playing what is settled ---- */

/* Counts the lines that references missed beyond their first. */
static void count_spans(struct nm_slice *s)
{
	for (size_t i = 0; i < s->spans.count; i++) {
		const struct nm_span *span = &s->spans.at[i];
		const struct nm_miss *last = nm_miss_at(&s->list, span->end - 1);
		uint64_t missed = 0;

		for (uint64_t k = span->end - span->missed; k < span->end; k++)
			missed += nm_miss_at(&s->list, k)->line != NM_NO_LINE;
		s->units[last->unit].cache->counters.loads[last->attr].extra[last->write] +=
		    missed - (missed > 0);
	}
	nm_vec_free(&s->spans);
}

/* What no slice before has seen is cold. */
static void settle_class(const struct nm_slice_unit *unit, struct nm_miss *m)
{
	const struct nm_shadow *shadow = &unit->cache->shadow;

	if (m->class == NM_MISS_COLD &&
	    unit->earlier[nm_shadow_seen_at(shadow, m->line)] >> (m->line & 63) & 1)
		m->class = NM_MISS_CAPACITY;
}

/* Plays misses of one level, at most NM_MISSES. */
static void play(struct nm_slice_unit *unit, struct nm_miss *misses, uint32_t count)
{
	struct nm_cache *c = unit->cache;
	struct nm_miss *const own = c->misses;

	for (uint32_t i = 0; i < count; i++)
		settle_class(unit, &misses[i]);
	c->misses = misses;
	c->miss_count = count;
	c->lookup->flush_deferred_misses(c);
	c->misses = own;
}

static void play_chunk(struct nm_slice *s, struct nm_miss *misses, uint32_t count)
{
	for (uint32_t from = 0, end; from < count; from = end) {
		for (end = from + 1;
		     end < count && end < from + NM_MISSES && misses[end].unit == misses[from].unit;)
			end++;
		play(&s->units[misses[from].unit], misses + from, end - from);
	}
}

int nm_slice_advance(struct nm_slice *s)
{
	struct nm_miss_list list = s->list;
	int failed = 0;

	assert(s->depth < s->depths);
	count_spans(s);
	s->work.open += s->opens.count;
	s->opens.count = 0;
	s->list = (struct nm_miss_list){0};
	s->depth++;
	for (size_t i = 0; i < list.chunks.count; i++) {
		const uint64_t left = list.count - ((uint64_t)i << NM_MISS_CHUNK_BITS);

		play_chunk(s, list.chunks.at[i],
			   left < 1u << NM_MISS_CHUNK_BITS ? (uint32_t)left : 1u << NM_MISS_CHUNK_BITS);
		free(list.chunks.at[i]);
	}
	nm_vec_free(&list.chunks);
	for (struct nm_slice_unit *unit = s->units; unit->cache; unit++) {
		failed |= unit->cache->failed;
		if (unit->depth + 1 == s->depth)
			failed |= nm_counters_flush(&unit->cache->counters);
	}
	return failed ? NM_ENOMEM : 0;
}

/* ---- the end ---- */

/* Credits a line to the nearest further level that has it. */
static void credit_rest(const struct nm_slice *s, struct nm_slice_state *const *states,
			const struct nm_cache *next, const struct nm_slice_line *line)
{
	for (; next; next = next->next) {
		const unsigned u = (unsigned)(next - s->hierarchy->units);
		struct nm_slice_line *to =
		    nm_slice_level_find(&states[s->units[u].depth]->levels[u], line->line);

		if (!to)
			continue;
		to->residency.writes += line->residency.writes;
		to->residency.served += line->residency.served;
		to->residency.mask |= line->residency.mask;
		return;
	}
}

void nm_slice_finish(struct nm_slice *s, struct nm_slice_state *const *states)
{
	struct nm_foresight *f = states[0]->foresight;

	assert(s->depth == s->depths);
	for (unsigned u = 0; s->units[u].cache; u++) {
		struct nm_cache *c = s->units[u].cache;
		const struct nm_slice_level *l = &states[s->units[u].depth]->levels[u];

		for (uint64_t set = 0; set < l->sets; set++)
			for (unsigned i = 0; i < l->held[set]; i++) {
				const struct nm_slice_line *line = &l->lines[set * l->ways + i];

				nm_residency_charge(&c->counters, &line->residency,
						    nm_residency_used(&line->residency));
				for (const struct nm_cache *next = c->next; next; next = next->sibling)
					credit_rest(s, states, next, line);
			}
	}
	if (f) {
		nm_vec_free(&s->hierarchy->foresight->walks);
		memcpy(&s->hierarchy->foresight->walks, &f->walks, sizeof f->walks);
		memset(&f->walks, 0, sizeof f->walks);
	}
	s->hierarchy->finished = 1;
}
