/* SPDX-License-Identifier: MIT
 *
 * strip.c - see strip.h. The grains of a window are in a list, in the order of their last touches, and found by a
 * hash.
 */
#include "strip.h"

#include <assert.h>
#include <string.h>

/* Of the caches that take the program's references the fewest ways; and so many sets as all have, or a multiple:
 * 1 unless their lines are blocks. */
static void set_ways(struct nm_strip *s, const struct nm_machine *m, unsigned line)
{
	uint64_t sets = NM_STRIP_SETS;

	s->ways = NM_STRIP_WAYS;
	for (unsigned i = 0; i < m->count; i++) {
		const struct nm_level_spec *l = &m->levels[i];

		if (!nm_machine_first(m, i, NM_SIDE_DATA) && !nm_machine_first(m, i, NM_SIDE_INSTRUCTION))
			continue;
		s->ways = l->ways < s->ways ? l->ways : s->ways;
		sets |= l->line == line ? l->sets : 1;
	}
	s->sets = (unsigned)(sets & -sets);
}

/* A side is kept whose first level is behind one of the other side's; the other side too where one first level takes
 * both. */
static void set_kept(struct nm_strip *s, const struct nm_machine *m)
{
	int is_shared = 0;

	for (unsigned i = 0; i < m->count; i++) {
		const int data = nm_machine_first(m, i, NM_SIDE_DATA),
			  code = nm_machine_first(m, i, NM_SIDE_INSTRUCTION);

		if (m->levels[i].side != NM_SIDE_UNIFIED)
			continue;
		s->is_kept[0] |= data && !code;
		s->is_kept[1] |= code && !data;
		is_shared |= data && code;
	}
	if (is_shared && (s->is_kept[0] || s->is_kept[1]))
		s->is_kept[0] = s->is_kept[1] = 1;
}

void nm_strip_init(struct nm_strip *s, const struct nm_machine *machine, unsigned grain, unsigned line)
{
	assert(grain > 0 && grain <= line);
	*s = (struct nm_strip){.shift = (unsigned)__builtin_ctz(grain),
			       .blocks_shift = (unsigned)__builtin_ctz(line / grain)};
	s->at[0].number = UINT64_MAX;
	set_ways(s, machine, line);
	set_kept(s, machine);
}

void nm_strip_done(struct nm_strip *s) { nm_vec_free(&s->out); }

/* ---- grains ---- */

/* Where a grain is, or where it would be put. */
static inline uint16_t *place_of(struct nm_strip *s, uint64_t number)
{
	size_t i = number * 0x9e3779b97f4a7c15ull >> (64 - NM_STRIP_PLACE_BITS);

	while (s->places[i] && s->at[s->places[i]].number != number)
		i = (i + 1) % (1 << NM_STRIP_PLACE_BITS);
	return &s->places[i];
}

/* Puts a grain that is in no order behind another one; 0: first. */
static inline void put_behind(struct nm_strip *s, uint16_t i, uint16_t earlier)
{
	s->at[i].earlier = earlier;
	s->at[i].later = s->at[earlier].later;
	s->at[s->at[i].later].earlier = i;
	s->at[earlier].later = i;
}

/* Makes a grain the latest. */
static inline void touch_grain(struct nm_strip *s, uint16_t i)
{
	if (s->at[0].earlier == i)
		return;
	s->at[s->at[i].earlier].later = s->at[i].later;
	s->at[s->at[i].later].earlier = s->at[i].earlier;
	put_behind(s, i, s->at[0].earlier);
}

static inline uint64_t block_of(const struct nm_strip *s, uint64_t number)
{
	return number >> (1 + s->blocks_shift);
}

static inline unsigned set_of(const struct nm_strip *s, uint64_t number)
{
	return (unsigned)block_of(s, number) & (s->sets - 1);
}

/* Whether another grain of its block is in the window. */
static inline int has_block(struct nm_strip *s, uint64_t number)
{
	const uint64_t first = block_of(s, number) << (1 + s->blocks_shift) | (number & 1);

	for (uint64_t other = first; other < first + (2u << s->blocks_shift); other += 2)
		if (other != number && *place_of(s, other))
			return 1;
	return 0;
}

/* ---- what fits ---- */

/* The area's blocks; those of s->area_count: it has none. */
static inline struct nm_strip_area *find_area(struct nm_strip *s, uint32_t area)
{
	unsigned i = 0;

	while (i < s->area_count && s->areas[i].area != area)
		i++;
	return &s->areas[i];
}

/* The sets beside one. */
static inline unsigned sets_below(const struct nm_strip *s, unsigned set)
{
	return (set - 1) & (s->sets - 1);
}
static inline unsigned sets_above(const struct nm_strip *s, unsigned set)
{
	return (set + 1) & (s->sets - 1);
}

/* The most lines that an area may have in one set, with a further block. */
static inline unsigned most_with(const struct nm_strip *s, const struct nm_strip_area *a, unsigned set)
{
	const unsigned left = a->blocks[sets_below(s, set)], right = a->blocks[sets_above(s, set)];
	unsigned here = a->blocks[set] + 1u;

	if (a->halved)
		here += s->sets == 1 ? here : left > right ? left : right;
	return here > a->most ? here : a->most;
}

/* The ways that are needed with the grains of a reference, or more. */
static inline unsigned needed_with(struct nm_strip *s, uint32_t area, uint64_t first, uint64_t last)
{
	const struct nm_strip_area *a = find_area(s, area);
	const unsigned blocks = (unsigned)(block_of(s, last) - block_of(s, first)) + 1;

	if (a == &s->areas[s->area_count] || blocks > 1)
		return s->needed + (s->blocks_shift && s->sets == 1 ? 2 * blocks : blocks);
	return s->needed +
	       (first == last && has_block(s, first) ? 0 : most_with(s, a, set_of(s, first)) - a->most);
}

/* Adds a grain that fits, behind another one. */
static void add_grain(struct nm_strip *s, const struct nm_strip_grain *grain, uint16_t earlier)
{
	struct nm_strip_area *a = find_area(s, grain->area);
	uint16_t *place;

	if (a == &s->areas[s->area_count]) {
		*a = (struct nm_strip_area){.area = grain->area,
					    .halved = s->blocks_shift && !grain->by_pages};
		s->area_count++;
	}
	if (!has_block(s, grain->number)) {
		const unsigned most = most_with(s, a, set_of(s, grain->number));

		s->needed += most - a->most;
		a->most = (uint16_t)most;
		a->blocks[set_of(s, grain->number)]++;
	}
	place = place_of(s, grain->number);
	*place = (uint16_t)++s->count;
	assert(s->needed <= s->ways && s->count <= NM_STRIP_GRAINS);
	s->at[*place] = *grain;
	s->at[*place].place = (uint16_t)(place - s->places);
	put_behind(s, *place, earlier);
}

/* ---- windows ---- */

static void empty_window(struct nm_strip *s)
{
	for (unsigned i = 1; i <= s->count; i++)
		s->places[s->at[i].place] = 0;
	s->count = s->needed = s->area_count = 0;
	s->at[0].earlier = s->at[0].later = 0;
}

/* When the latest was kept, of those passed so far, that may share a set with a grain. */
static uint64_t last_before(const struct nm_strip *s, const struct nm_strip_area *area, unsigned set)
{
	uint64_t last = area->last_of[set];

	if (area->halved && area->last_of[sets_below(s, set)] > last)
		last = area->last_of[sets_below(s, set)];
	if (area->halved && area->last_of[sets_above(s, set)] > last)
		last = area->last_of[sets_above(s, set)];
	for (const struct nm_strip_area *a = s->areas; a != s->areas + s->area_count; a++)
		if (a != area && a->last > last)
			last = a->last;
	return last;
}

/* Touches, from the first on, grains that were kept before one that is earlier and may share their set. */
static int restore_grains(struct nm_strip *s)
{
	for (unsigned i = 0; i < s->area_count; i++) {
		s->areas[i].last = 0;
		memset(s->areas[i].last_of, 0, s->sets * sizeof *s->areas[i].last_of);
	}
	for (uint16_t i = s->at[0].later; i; i = s->at[i].later) {
		struct nm_strip_grain *g = &s->at[i];
		struct nm_strip_area *a = find_area(s, g->area);
		const unsigned set = set_of(s, g->number);
		const struct nm_lru_misses_ref ref = {.address = g->number >> 1 << s->shift,
						      .area = g->area,
						      .size = 1,
						      .is_fetch = g->number & 1,
						      .by_pages = g->by_pages};

		if (g->kept < last_before(s, a, set)) {
			if (nm_vec_push(&s->out, ref))
				return NM_ENOMEM;
			g->kept = ++s->clock;
		}
		a->last = g->kept > a->last ? g->kept : a->last;
		a->last_of[set] = g->kept > a->last_of[set] ? g->kept : a->last_of[set];
	}
	return 0;
}

int nm_strip_flush(struct nm_strip *s)
{
	const int status = restore_grains(s);

	empty_window(s);
	return status;
}

/* Begins a window with the latest grains of the one before: half of what fits. */
static int begin_window(struct nm_strip *s)
{
	struct nm_strip_grain latest[NM_STRIP_GRAINS / 2];
	const int status = restore_grains(s);
	unsigned count = 0;

	for (uint16_t i = s->at[0].earlier; i && count < NM_STRIP_GRAINS / 2; i = s->at[i].earlier)
		latest[count++] = s->at[i];
	empty_window(s);
	for (const struct nm_strip_grain *g = latest; g != latest + count; g++) {
		if (needed_with(s, g->area, g->number, g->number) > s->ways / 2)
			break;
		add_grain(s, g, 0);
	}
	return status;
}

/* Whether all grains of the reference are in the window, which then knows of the touch. */
static inline int is_hit(struct nm_strip *s, uint64_t first, uint64_t last)
{
	for (uint64_t g = first; g <= last; g += 2)
		if (!*place_of(s, g))
			return 0;
	for (uint64_t g = first; g <= last; g += 2)
		touch_grain(s, *place_of(s, g));
	return 1;
}

/* A reference that is kept touches its grains now. */
static int keep_reference(struct nm_strip *s, const struct nm_lru_misses_ref *ref, uint64_t first,
			  uint64_t last)
{
	for (uint64_t number = first; number <= last; number += 2) {
		const uint16_t i = *place_of(s, number);
		const struct nm_strip_grain grain = {
		    .number = number, .kept = ++s->clock, .area = ref->area, .by_pages = ref->by_pages};

		if (i) {
			touch_grain(s, i);
			s->at[i].kept = grain.kept;
		} else {
			add_grain(s, &grain, s->at[0].earlier);
		}
	}
	return nm_vec_push(&s->out, *ref);
}

static int fits_window(struct nm_strip *s, const struct nm_lru_misses_ref *ref, uint64_t first, uint64_t last)
{
	return s->count + (last - first) / 2 < NM_STRIP_GRAINS &&
	       needed_with(s, ref->area, first, last) <= s->ways;
}

int nm_strip_add(struct nm_strip *s, const struct nm_lru_misses_ref *ref)
{
	const uint64_t first = ref->address >> s->shift << 1 | ref->is_fetch,
		       last = (ref->address + ref->size - 1) >> s->shift << 1 | ref->is_fetch;

	if (s->is_kept[ref->is_fetch])
		return nm_vec_push(&s->out, *ref);
	if (first == last && s->at[s->at[0].earlier].number == first)
		return 0;
	if (is_hit(s, first, last))
		return 0;
	if (!fits_window(s, ref, first, last) && begin_window(s))
		return NM_ENOMEM;
	if (fits_window(s, ref, first, last))
		return keep_reference(s, ref, first, last);
	empty_window(s); /* it is as large as a window */
	return nm_vec_push(&s->out, *ref);
}
