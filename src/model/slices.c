/* SPDX-License-Identifier: MIT
 *
 * slices.c - see slices.h. The levels of a depth defer their misses to the slice's list (nm_run_slice_take) instead of
 * further levels. Resolving (slice_resolve.c) puts the list right; advancing plays it through the hierarchy's own
 * loops, which count each miss and pass it on to the levels of the next depth, as in a whole run.
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
static int find_depths(struct nm_run_slice *s, struct nm_error *err)
{
	const struct nm_hierarchy *h = s->hierarchy;

	for (unsigned u = 0; u < unit_count(h); u++) {
		struct nm_run_slice_unit *unit = &s->units[u];
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

static int make_units(struct nm_run_slice *s, struct nm_error *err)
{
	struct nm_hierarchy *h = s->hierarchy;

	for (unsigned u = 0; u < unit_count(h); u++) {
		struct nm_run_slice_unit *unit = &s->units[u];
		struct nm_cache *c = unit->cache = &h->units[u];

		if (!c->chained)
			return nm_fail(
			    err, NM_EINVAL,
			    "slices need lines of one size, which %s and the levels behind it have not",
			    c->spec.name);
		c->slice = s;
		unit->filled = nm_lazy_array(c->spec.sets, sizeof *unit->filled);
		unit->open = nm_lazy_array(c->slots, sizeof *unit->open);
		if (!unit->filled || !unit->open)
			return nm_fail_memory(err);
	}
	find_short_cuts(h);
	return 0;
}

int nm_run_slice_new(struct nm_run_slice **ret_slice, const struct nm_machine *machine, int data_only,
		     struct nm_error *err)
{
	struct nm_run_slice *s;
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
		nm_run_slice_free(s);
	else
		*ret_slice = s;
	return status;
}

void nm_run_slice_free(struct nm_run_slice *s)
{
	if (!s)
		return;
	for (struct nm_run_slice_unit *unit = s->units; unit->cache; unit++) {
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

struct nm_hierarchy *nm_run_slice_hierarchy(const struct nm_run_slice *s) { return s->hierarchy; }

unsigned nm_run_slice_depths(const struct nm_run_slice *s) { return s->depths; }

struct nm_run_slice_work nm_run_slice_work(const struct nm_run_slice *s) { return s->work; }

/* ---- from empty ---- */

static struct nm_miss *append(struct nm_miss_list *list)
{
	if (list->count == (uint64_t)list->chunks.count << NM_MISS_CHUNK_BITS) {
		struct nm_miss *chunk = aligned_alloc(64, sizeof *chunk << NM_MISS_CHUNK_BITS);

		if (!chunk || nm_vec_push(&list->chunks, chunk)) {
			free(chunk);
			return NULL;
		}
	}
	return miss_at(list, list->count++);
}

/* Notes what of a miss, the last of the list, the slices before decide. */
static int note_open(struct nm_run_slice *s, struct nm_run_slice_unit *unit, const struct nm_miss *m)
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

/* Takes a miss, or the credit of a line that the level lacks: from a set that is full it goes on to the next level. */
static int take_miss(struct nm_run_slice *s, struct nm_run_slice_unit *unit, const struct nm_miss *m)
{
	const struct nm_cache *c = unit->cache;
	const int goes_on =
	    m->class == NM_MISS_NONE && unit->filled[nm_cache_set(c, m->left)] == c->spec.ways;
	struct nm_miss *to;

	if (goes_on && !c->next)
		return 0;
	to = append(&s->list);
	if (!to)
		return NM_ENOMEM;
	*to = *m;
	to->unit = (uint8_t)(unit - s->units);
	return goes_on ? 0 : note_open(s, unit, m);
}

int nm_run_slice_take(struct nm_cache *c)
{
	struct nm_run_slice *s = c->slice;
	struct nm_run_slice_unit *unit = &s->units[c - s->hierarchy->units];

	if (unit->depth < s->depth)
		return 0;
	for (uint32_t i = 0; i < c->miss_count && !c->failed; i++)
		c->failed = take_miss(s, unit, &c->misses[i]) != 0;
	c->miss_count = 0;
	return 1;
}

void nm_run_slice_note_span(struct nm_cache *c, uint64_t missed)
{
	struct nm_run_slice *s = c->slice;

	if (nm_vec_push(&s->spans, (struct nm_span){s->list.count + c->miss_count, missed}))
		c->failed = 1;
}

/* Puts the whole run's keys in place of the slice's. */
static void rename_keys(struct nm_run_slice *s, const uint32_t *keys, size_t count)
{
	for (struct nm_run_slice_unit *unit = s->units; unit->cache; unit++) {
		const struct nm_cache *c = unit->cache;

		for (uint32_t slot, next = 0; (slot = nm_cache_next_resident(c, next)) != NM_NO_SLOT;
		     next = slot + 1)
			c->residencies[slot].attr = keys[c->residencies[slot].attr];
	}
	for (uint64_t i = 0; i < s->list.count; i++) {
		struct nm_miss *m = miss_at(&s->list, i);

		assert(m->attr < count);
		m->attr = keys[m->attr];
		if (m->left != NM_NO_LINE)
			m->residency.attr = keys[m->residency.attr];
	}
	(void)count;
}

int nm_run_slice_end(struct nm_run_slice *s, const uint32_t *keys, size_t count, size_t key_count)
{
	s->keys = key_count;
	for (struct nm_run_slice_unit *unit = s->units; unit->cache; unit++) {
		struct nm_counters *counters = &unit->cache->counters;

		for (size_t key = 0; key < counters->attr_count; key++) /* counted again, by the other keys */
			memset(counters->loads[key].extra, 0, sizeof counters->loads[key].extra);
		if (nm_counters_reserve(counters, key_count))
			return NM_ENOMEM;
	}
	if (keys)
		rename_keys(s, keys, count);
	return 0;
}

/* ---- playing what is settled ---- */

/* Counts the lines that references missed beyond their first. */
static void count_spans(struct nm_run_slice *s)
{
	for (size_t i = 0; i < s->spans.count; i++) {
		const struct nm_span *span = &s->spans.at[i];
		const struct nm_miss *last = miss_at(&s->list, span->end - 1);
		uint64_t missed = 0;

		for (uint64_t k = span->end - span->missed; k < span->end; k++)
			missed += miss_at(&s->list, k)->line != NM_NO_LINE;
		s->units[last->unit].cache->counters.loads[last->attr].extra[last->write] +=
		    missed - (missed > 0);
	}
	nm_vec_free(&s->spans);
}

/* What no slice before has seen is cold. */
static void settle_class(const struct nm_run_slice_unit *unit, struct nm_miss *m)
{
	const struct nm_shadow *shadow = &unit->cache->shadow;

	if (m->class == NM_MISS_COLD &&
	    unit->earlier[nm_shadow_seen_at(shadow, m->line)] >> (m->line & 63) & 1)
		m->class = NM_MISS_CAPACITY;
}

/* Plays misses of one level, at most NM_MISSES. */
static void play(struct nm_run_slice_unit *unit, struct nm_miss *misses, uint32_t count)
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

static void play_chunk(struct nm_run_slice *s, struct nm_miss *misses, uint32_t count)
{
	for (uint32_t from = 0, end; from < count; from = end) {
		for (end = from + 1;
		     end < count && end < from + NM_MISSES && misses[end].unit == misses[from].unit;)
			end++;
		play(&s->units[misses[from].unit], misses + from, end - from);
	}
}

int nm_run_slice_advance(struct nm_run_slice *s)
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
	for (struct nm_run_slice_unit *unit = s->units; unit->cache; unit++) {
		failed |= unit->cache->failed;
		if (unit->depth + 1 == s->depth)
			failed |= nm_counters_flush(&unit->cache->counters);
	}
	return failed ? NM_ENOMEM : 0;
}

/* ---- the end ---- */

/* Credits a line to the nearest further level that has it. */
static void credit_rest(const struct nm_run_slice *s, struct nm_run_slice_state *const *states,
			const struct nm_cache *next, const struct nm_run_slice_line *line)
{
	for (; next; next = next->next) {
		const unsigned u = (unsigned)(next - s->hierarchy->units);
		struct nm_run_slice_line *to =
		    run_slice_level_find(&states[s->units[u].depth]->levels[u], line->line);

		if (!to)
			continue;
		run_slice_credit(&to->residency, &line->residency);
		return;
	}
}

void nm_run_slice_finish(struct nm_run_slice *s, struct nm_run_slice_state *const *states)
{
	struct nm_coverage *f = states[0]->coverage;

	assert(s->depth == s->depths);
	for (unsigned u = 0; s->units[u].cache; u++) {
		struct nm_cache *c = s->units[u].cache;
		const struct nm_run_slice_level *l = &states[s->units[u].depth]->levels[u];

		for (uint64_t set = 0; set < l->sets; set++)
			for (unsigned i = 0; i < l->held[set]; i++) {
				const struct nm_run_slice_line *line = &l->lines[set * l->ways + i];

				nm_residency_charge(&c->counters, &line->residency,
						    nm_residency_used(&line->residency));
				for (const struct nm_cache *next = c->next; next; next = next->sibling)
					credit_rest(s, states, next, line);
			}
	}
	if (f) {
		nm_vec_free(&s->hierarchy->coverage->walks);
		s->hierarchy->coverage->walks = f->walks;
		memset(&f->walks, 0, sizeof f->walks);
	}
	s->hierarchy->finished = 1;
}
