/* SPDX-License-Identifier: MIT
 *
 * cache.c - one level: its memory, its geometry, what is done outside the hot loops.
 *
 * Nothing moves on a hit: a stamp is the time of the last touch, the victim is the way with the smallest one, and 0
 * marks a free way.
 *
 * Counting rules served here: what a line's stay was worth is charged to the cell that loaded it, when the line
 * leaves or at the end; accesses and byte masks then flow down to the nearest further level that has the line, which
 * moves no recency there.  A line that was written to in the level above is dirty here, and where this level writes
 * through it goes on at once.
 */
#include "cache.h"

#include <stdlib.h>

#include "custom.h"
#include "groups.h"
#include "lazy_array.h"

const struct nm_lookup *nm_lookup_supported(unsigned i)
{
	const struct nm_lookup *list[4];
	unsigned n = 0;
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		list[n++] = &nm_lookup_avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		list[n++] = &nm_lookup_avx2;
#endif
	list[n++] = &nm_lookup_plain;
	return i < n ? list[i] : NULL;
}

int nm_custom_new(struct nm_cache *c, const struct nm_standing *standing)
{
	struct nm_custom *u = c->custom = calloc(1, sizeof *u);
	uint64_t sets = c->spec.sets, first = c->places - standing->loans;

	if (!u)
		return NM_ENOMEM;
	nm_placement_init(&u->placement, &c->spec);
	u->set = nm_indexes[c->spec.index].set;
	u->free_words = (c->ways + 63) / 64;
	u->free_ways = calloc(sets * u->free_words, sizeof *u->free_ways);
	u->free_count = calloc(sets, sizeof *u->free_count);
	u->loans = calloc(standing->loans + 1, sizeof *u->loans);
	if (!u->free_ways || !u->free_count || !u->loans || nm_replacement_init(&u->replacement, &c->spec))
		return NM_ENOMEM;
	u->replacement.future = standing->future;
	u->replacement.tags = c->tags;
	u->lines = c->tags;
	u->sector_shift = (unsigned)__builtin_ctz(c->spec.line / nm_level_unit(&c->spec));
	if (u->sector_shift && !(u->lines = malloc(sets * c->ways * sizeof *u->lines)))
		return NM_ENOMEM;
	for (uint64_t way = 0; u->sector_shift && way < sets * c->ways; way++)
		u->lines[way] = NM_NO_LINE;
	for (uint64_t set = 0; set < sets; set++) {
		u->free_count[set] = c->ways;
		for (uint32_t way = 0; way < c->ways; way++)
			u->free_ways[set * u->free_words + way / 64] |= 1ull << way % 64;
	}
	for (uint64_t slot = standing->loans; slot--;)
		u->loans[u->loan_count++] = (uint32_t)(first + slot);
	return standing->queue ? nm_prefetched_new(&u->prefetched, c, standing->queue) : 0;
}

void nm_custom_free(struct nm_custom *u)
{
	if (!u)
		return;
	nm_prefetched_free(u->prefetched);
	nm_plugin_close(&u->plugin);
	nm_replacement_done(&u->replacement);
	if (u->sector_shift)
		free(u->lines);
	free(u->free_ways);
	free(u->free_count);
	free(u->loans);
	free(u->above);
	free(u);
}

/* Of a last level of hundreds of megabytes most programs touch little. */
static int make_arrays(struct nm_cache *c, uint64_t places)
{
	if (places > NM_LOG_GHOST)
		return NM_ENOMEM;
	c->tags = nm_lazy_array(places + 1, sizeof *c->tags);
	c->stamps = nm_lazy_array(places, sizeof *c->stamps);
	c->stays = nm_lazy_array(places, sizeof *c->stays);
	if (!c->tags || !c->stamps || !c->stays)
		return NM_ENOMEM;
	if (c->words > 1) {
		c->masks = nm_lazy_array(places, c->words * sizeof *c->masks);
		if (!c->masks)
			return NM_ENOMEM;
	}
	for (uint64_t i = 0; i < places; i++) {
		int pad = i % c->ways >= c->spec.ways;

		c->tags[i] = pad ? NM_NO_VICTIM : NM_NO_LINE;
		if (pad)
			c->stamps[i] = NM_NO_STAMP;
	}
	c->tags[places] = NM_NO_VICTIM;
	return 0;
}

/* What finds a line sooner than a look at all its set. */
static int make_aids(struct nm_cache *c)
{
	if (c->first && c->lean && (c->ways == 4 || c->ways == 8 || c->ways == 16)) {
		c->place_of = calloc(NM_GUESSES + 1, sizeof *c->place_of);
		c->cuts = calloc(NM_CUTS, sizeof *c->cuts);
		if (!c->place_of || !c->cuts)
			return NM_ENOMEM;
		c->place_of[NM_GUESSES] = (uint32_t)c->places;
		return 0;
	}
	if (c->spec.ways < NM_WIDE_WAYS && !*c->spec.plugin)
		return 0;
	c->wide = nm_wide_new(c->spec.sets, c->spec.ways);
	return c->wide ? 0 : NM_ENOMEM;
}

static int pads(unsigned ways) { return ways > 4 && ways < NM_WIDE_WAYS; }

int nm_cache_init(struct nm_cache *c, const struct nm_level_spec *spec, const struct nm_standing *standing)
{
	const uint64_t sets = spec->sets, sectors = spec->line / nm_level_unit(spec);

	c->spec = *spec;
	if (spec->pages) /* pages.h */
		c->spec.line = 1u << nm_page_shifts[NM_PAGE_4K];
	const uint32_t unit = nm_level_unit(&c->spec);
	c->lookup = standing->custom ? &nm_lookup_custom : nm_lookup_supported(0);
	c->set_mask = (sets & (sets - 1)) == 0 ? sets - 1 : 0;
	c->line_shift = (unsigned)__builtin_ctz(unit);
	c->words = unit > 64 ? unit / 64 : 1;
	c->lean =
	    !standing->custom && spec->ways < NM_WIDE_WAYS && c->words == 1 && (c->set_mask || sets == 1);
	c->ways = !standing->custom && pads(spec->ways) ? (spec->ways + 7) / 8 * 8 : spec->ways;
	if (sets > UINT64_MAX / sectors / c->ways)
		return NM_ENOMEM;
	c->places = sets * c->ways * sectors + standing->loans;
	if (make_arrays(c, c->places) || (standing->custom && nm_custom_new(c, standing)) || make_aids(c) ||
	    nm_recency_init(&c->recency, sets * spec->ways * sectors, c->stamps, c->places) ||
	    nm_tally_init(&c->tally, sectors > 1 || standing->queue)) {
		nm_cache_done(c);
		return NM_ENOMEM;
	}
	return 0;
}

void nm_cache_done(struct nm_cache *c)
{
	nm_lazy_array_free(c->tags, c->places + 1, sizeof *c->tags);
	nm_lazy_array_free(c->stamps, c->places, sizeof *c->stamps);
	nm_lazy_array_free(c->stays, c->places, sizeof *c->stays);
	nm_lazy_array_free(c->masks, c->places, c->words * sizeof *c->masks);
	free(c->place_of);
	free(c->cuts);
	nm_wide_free(c->wide);
	nm_custom_free(c->custom);
	nm_recency_done(&c->recency);
	nm_tally_done(&c->tally);
	*c = (struct nm_cache){0};
}

uint32_t nm_cache_find(const struct nm_cache *c, uint64_t line)
{
	uint32_t place = (uint32_t)(nm_cache_set(c, line) * c->ways);

	if (c->custom)
		return nm_custom_find(c, line);
	if (c->wide)
		return nm_wide_find(c->wide, c->tags, line);
	for (unsigned way = 0; way < c->ways; way++)
		if (c->tags[place + way] == line)
			return place + way;
	return NM_NO_PLACE;
}

void nm_cache_add_stay(struct nm_cache *c, uint32_t place, const struct nm_cache *upper, uint32_t from,
		       unsigned kinds)
{
	uint64_t byte = (upper->tags[from] << upper->line_shift) & ((1ull << c->line_shift) - 1);
	const uint64_t *mask = nm_cache_mask(upper, from);
	uint64_t *to = nm_cache_mask(c, place);

	const struct nm_stay *stay = &upper->stays[from];

	if (kinds & 1)
		c->stays[place].served += stay->served - stay->writes;
	if (kinds & 2) {
		c->stays[place].served += stay->writes;
		c->stays[place].writes += stay->writes;
	}
	for (unsigned w = 0; w < upper->words; w++)
		to[byte / 64 + w] |= mask[w] << byte % 64;
}

void nm_cache_settle(struct nm_cache *c, uint32_t place)
{
	uint32_t below = c->stays[place].below;
	unsigned kinds = c->spec.write_through ? 1 : 3;

	for (struct nm_cache *lower = c->next; lower; lower = lower->next) {
		uint64_t line = nm_lower_line(c, lower, c->tags[place]);

		if (lower != c->next || lower->tags[below] != line)
			below = nm_cache_find(lower, line);
		if (below == NM_NO_PLACE)
			continue;
		nm_cache_add_stay(lower, below, c, place, kinds);
		if (!lower->spec.write_through || !(kinds & 2) || !c->stays[place].writes)
			return;
		kinds = 2; /* what was written goes on */
	}
}
