/* SPDX-License-Identifier: MIT
 *
 * cache.c - one level: its memory, its geometry, and everything outside the hot loops.
 *
 * Nothing moves on a hit: a timestamp is the time of the last touch, the victim is the way with the smallest
 * one, and 0 marks a free way.
 *
 * Counting rules: a line's accesses and bytes are charged to the attribution key that loaded it, when the
 * line leaves or at the end; they then flow down to the nearest further level that has the line, without
 * touching its shadow cache. A line that was written in the level above becomes dirty here; if this level
 * writes through, the write goes on at once.
 */
#include "cache.h"

#include <assert.h>
#include <stdlib.h>

#include "general.h"
#include "lazy_array.h"

const struct nm_lookup *nm_lookup_supported(unsigned i)
{
	const struct nm_lookup *list[4];
	unsigned n = 0;
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		list[n++] = &nm_lookup_avx2;
#endif
	list[n++] = &nm_lookup_plain;
	return i < n ? list[i] : NULL;
}

int nm_general_new(struct nm_cache *c, const struct nm_level_context *context)
{
	struct nm_general *u = c->general = calloc(1, sizeof *u);
	uint64_t sets = c->spec.sets, first = c->slots - context->reserved_slots;

	if (!u)
		return NM_ENOMEM;
	nm_index_geometry_init(&u->placement, &c->spec);
	u->set = nm_indexes[c->spec.index].set;
	u->free_words = (c->ways + 63) / 64;
	u->free_ways = calloc(sets * u->free_words, sizeof *u->free_ways);
	u->free_count = calloc(sets, sizeof *u->free_count);
	u->reserved_slots = calloc(context->reserved_slots + 1, sizeof *u->reserved_slots);
	if (!u->free_ways || !u->free_count || !u->reserved_slots ||
	    nm_replacement_init(&u->replacement, &c->spec))
		return NM_ENOMEM;
	u->replacement.next_uses = context->next_uses;
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
	for (uint64_t reserved = context->reserved_slots; reserved--;)
		u->reserved_slots[u->reserved_free++] = (uint32_t)(first + reserved);
	return context->queue ? nm_prefetch_tracker_new(&u->prefetched, c, context->queue) : 0;
}

void nm_general_free(struct nm_general *g)
{
	if (!g)
		return;
	nm_prefetch_tracker_free(g->prefetched);
	nm_plugin_close(&g->plugin);
	nm_replacement_done(&g->replacement);
	if (g->sector_shift)
		free(g->lines);
	free(g->free_ways);
	free(g->free_count);
	free(g->reserved_slots);
	free(g->above);
	free(g);
}

static uint64_t chunk_slots(const struct nm_cache *c)
{
	return ((uint64_t)c->ways * (c->spec.line / nm_level_unit(&c->spec))) << NM_CHUNK_BITS;
}

/* The last one holds the slots that are in no set, if there are any. */
static uint64_t chunk_count(const struct nm_cache *c) { return c->slots / chunk_slots(c) + 1; }

void nm_cache_lay_out_chunk(const struct nm_cache *c, uint64_t chunk)
{
	const uint64_t first = chunk * chunk_slots(c), behind = first + chunk_slots(c);

	assert(!c->laid[chunk]);
	for (uint64_t i = first; i < behind && i < c->slots; i++) {
		const int is_pad = i % c->ways >= c->spec.ways;

		c->tags[i] = is_pad ? NM_NO_VICTIM : NM_NO_LINE;
		c->timestamps[i] = is_pad ? NM_NO_TIMESTAMP : 0;
	}
	c->laid[chunk] = 1;
}

void nm_cache_lay_out(const struct nm_cache *c)
{
	for (uint64_t chunk = 0; chunk < chunk_count(c); chunk++)
		if (!c->laid[chunk])
			nm_cache_lay_out_chunk(c, chunk);
}

uint32_t nm_cache_next_resident(const struct nm_cache *c, uint64_t slot)
{
	while (slot < c->slots) {
		const uint64_t chunk = slot / chunk_slots(c), behind = (chunk + 1) * chunk_slots(c);
		const uint64_t end = behind < c->slots ? behind : c->slots;

		for (; c->laid[chunk] && slot < end; slot++)
			if (c->tags[slot] < NM_NO_VICTIM)
				return (uint32_t)slot;
		slot = end;
	}
	return NM_NO_SLOT;
}

/* Lazily zeroed: most programs touch little of a last level of hundreds of megabytes. */
static int make_arrays(struct nm_cache *c, uint64_t slots, int is_general)
{
	if (slots > NM_LOG_LEFT)
		return NM_ENOMEM;
	c->tags = nm_lazy_array(slots + 1, sizeof *c->tags);
	c->timestamps = nm_lazy_array(slots, sizeof *c->timestamps);
	c->residencies = nm_lazy_array(slots, sizeof *c->residencies);
	if (!c->tags || !c->timestamps || !c->residencies)
		return NM_ENOMEM;
	if (c->words > 1) {
		c->masks = nm_lazy_array(slots, c->words * sizeof *c->masks);
		if (!c->masks)
			return NM_ENOMEM;
	}
	c->laid = calloc(chunk_count(c), 1);
	if (!c->laid)
		return NM_ENOMEM;
	/* These search tags without asking whether they are laid; the tag of slot 0 is read anywhere
	 * (nm_residency.below). */
	if (c->first || is_general)
		nm_cache_lay_out(c);
	else
		nm_cache_lay_out_chunk(c, 0);
	c->tags[slots] = NM_NO_VICTIM;
	return 0;
}

/* Makes the tables that find a line without searching all of its set. */
static int make_aids(struct nm_cache *c)
{
	if (c->first && !c->general && (c->ways == 4 || c->ways == 8 || c->ways == 16)) {
		c->predicted = calloc(NM_GUESSES + 1, sizeof *c->predicted);
		if (!c->predicted)
			return NM_ENOMEM;
		c->predicted[NM_GUESSES] = (uint32_t)c->slots;
		return 0;
	}
	if (c->spec.ways < NM_HIGHLY_ASSOCIATIVE && !*c->spec.plugin)
		return 0;
	c->way_index = nm_way_index_new(c->spec.sets, c->spec.ways);
	return c->way_index ? 0 : NM_ENOMEM;
}

static int padding_ways(unsigned ways) { return ways > 4 && ways < NM_HIGHLY_ASSOCIATIVE; }

int nm_cache_init(struct nm_cache *c, const struct nm_level_spec *spec,
		  const struct nm_level_context *context)
{
	const uint64_t sets = spec->sets, sectors = spec->line / nm_level_unit(spec);

	assert(spec->sets && spec->ways && !(spec->line & (spec->line - 1)));
	assert(sectors && !(sectors & (sectors - 1)));
	c->spec = *spec;
	if (spec->pages) /* pages.h */
		c->spec.line = 1u << nm_page_shifts[NM_PAGE_4K];
	const uint32_t unit = nm_level_unit(&c->spec);
	c->lookup = context->general ? &nm_lookup_general : nm_lookup_supported(0);
	c->set_mask = (sets & (sets - 1)) == 0 ? sets - 1 : NM_MODULO;
	c->line_shift = (unsigned)__builtin_ctz(unit);
	c->words = unit > 64 ? unit / 64 : 1;
	c->ways = !context->general && padding_ways(spec->ways) ? (spec->ways + 7) / 8 * 8 : spec->ways;
	if (sets > UINT64_MAX / sectors / c->ways)
		return NM_ENOMEM;
	c->slots = sets * c->ways * sectors + context->reserved_slots;
	if (!context->general && !(c->misses = aligned_alloc(64, NM_MISSES * sizeof *c->misses)))
		return NM_ENOMEM;
	if (make_arrays(c, c->slots, context->general) || (context->general && nm_general_new(c, context)) ||
	    make_aids(c) ||
	    nm_shadow_init(&c->shadow, sets * spec->ways * sectors, c->timestamps, c->slots) ||
	    nm_counters_init(&c->counters, sectors > 1 || context->queue || context->has_extras,
			     context->has_covered)) {
		nm_cache_done(c);
		return NM_ENOMEM;
	}
	return 0;
}

void nm_cache_done(struct nm_cache *c)
{
	nm_lazy_array_free(c->tags, c->slots + 1, sizeof *c->tags);
	nm_lazy_array_free(c->timestamps, c->slots, sizeof *c->timestamps);
	nm_lazy_array_free(c->residencies, c->slots, sizeof *c->residencies);
	nm_lazy_array_free(c->masks, c->slots, c->words * sizeof *c->masks);
	free(c->laid);
	free(c->misses);
	free(c->predicted);
	nm_way_index_free(c->way_index);
	nm_general_free(c->general);
	nm_shadow_done(&c->shadow);
	nm_counters_done(&c->counters);
	*c = (struct nm_cache){0};
}

uint32_t nm_cache_find(const struct nm_cache *c, uint64_t line)
{
	uint32_t slot;

	if (c->general)
		return nm_general_find(c, line);
	slot = (uint32_t)(nm_cache_laid_set(c, line) * c->ways);
	for (unsigned way = 0; way < c->ways; way++)
		if (c->tags[slot + way] == line)
			return slot + way;
	return NM_NO_SLOT;
}

void nm_cache_add_residency(struct nm_cache *c, uint32_t slot, const struct nm_cache *upper, uint32_t from,
			    unsigned kinds)
{
	uint64_t byte = (upper->tags[from] << upper->line_shift) & ((1ull << c->line_shift) - 1);
	const uint64_t *mask = nm_cache_mask(upper, from);
	uint64_t *to = nm_cache_mask(c, slot);

	assert(kinds - 1u < 3u);
	assert(c->tags[slot] == nm_lower_line(upper, c, upper->tags[from]) || c->general);
	const struct nm_residency *residency = &upper->residencies[from];

	if (kinds & 1)
		c->residencies[slot].served += residency->served - residency->writes;
	if (kinds & 2) {
		c->residencies[slot].served += residency->writes;
		c->residencies[slot].writes += residency->writes;
	}
	for (unsigned w = 0; w < upper->words; w++)
		to[byte / 64 + w] |= mask[w] << byte % 64;
}

/* The same, to that level or one behind it. */
static void credit_to(const struct nm_cache *c, uint32_t slot, struct nm_cache *lower)
{
	uint32_t below = c->residencies[slot].below;
	unsigned kinds = c->spec.write_through ? 1 : 3;

	for (; lower; lower = lower->next) {
		uint64_t line = nm_lower_line(c, lower, c->tags[slot]);

		if (lower != c->next || lower->tags[below] != line)
			below = nm_cache_find(lower, line);
		if (below == NM_NO_SLOT)
			continue;
		nm_cache_add_residency(lower, below, c, slot, kinds);
		if (!lower->spec.write_through || !(kinds & 2) || !c->residencies[slot].writes)
			return;
		kinds = 2; /* writes go on to the next level */
	}
}

void nm_cache_credit_residency(struct nm_cache *c, uint32_t slot)
{
	for (struct nm_cache *lower = c->next; lower; lower = lower->sibling)
		credit_to(c, slot, lower);
}
