/* SPDX-License-Identifier: MIT
 *
 * fast_miss.h - misses in fast levels, and requests from the level above.
 *
 * Most levels form chains, which defer the work of further levels (fast_chain.h). Others serve a miss at
 * once, through all levels: classify it, choose the victim, credit the victim's residency, fill the line from
 * the next level. Counting rules: LRU by time of last touch; write-allocate; a residency is credited before
 * the fill from the next level.
 */
#ifndef NM_FAST_MISS_H
#define NM_FAST_MISS_H

#include "cache.h"
#include "search.h"
#include "shadow_log.h"

/* Constants for which a copy of a function is specialised. */
struct shape {
	unsigned ways, line_shift; /* 0: any */
	int coherent;              /* a protocol keeps the level coherent */
};
static const struct shape any_shape;

ALWAYS unsigned shift_of(const struct nm_cache *c, struct shape shape)
{
	return shape.line_shift ? shape.line_shift : c->line_shift;
}

ALWAYS void emit(const struct nm_cache *c, enum nm_event_kind kind, uint64_t line, uint32_t times,
		 uint32_t victim)
{
	if (__builtin_expect(c->sink != NULL, 0))
		nm_event_sink_emit(c, kind, line, times, victim);
}

/* Where the set of a line begins; it may have to be laid. */
ALWAYS uint64_t first_place(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	return nm_cache_laid_set(c, line) * (shape.ways ? shape.ways : c->ways);
}

/* The same of a set that is laid, as all of a first level are. */
ALWAYS uint64_t laid_place(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	return nm_cache_set(c, line) * (shape.ways ? shape.ways : c->ways);
}

/* The slot of a line in the set that begins at `place`, or NM_NO_SLOT. */
ALWAYS uint32_t find_at(const struct nm_cache *c, uint64_t place, uint64_t line, struct shape shape)
{
	const unsigned ways = shape.ways ? shape.ways : c->ways;
	unsigned way;

	if (ways == 16)
		way = find_fixed(c->tags + place, 16, line);
	else if (ways == 8)
		way = find_fixed(c->tags + place, 8, line);
	else
		way = find_fixed(c->tags + place, ways, line);
	return way == UINT32_MAX ? NM_NO_SLOT : (uint32_t)place + way;
}

ALWAYS uint32_t find(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	return find_at(c, first_place(c, line, shape), line, shape);
}

/* The slot for a line that is not resident in the set that begins at `place`. */
ALWAYS uint32_t victim(const struct nm_cache *c, uint64_t place, struct shape shape)
{
	const unsigned ways = shape.ways ? shape.ways : c->ways;

	if (ways == 8)
		return (uint32_t)place + oldest(c->timestamps + place, 8);
	return (uint32_t)place + oldest(c->timestamps + place, ways);
}

/* Touches a resident line. */
ALWAYS void touch(struct nm_cache *c, uint32_t slot)
{
	struct nm_shadow *s = &c->shadow;

	if (c->timestamps[slot] < s->head)
		enter(s);
	c->timestamps[slot] = nm_shadow_touch(s, slot);
}

/* Evicts the line at a slot, for a load by `evictor`. */
ALWAYS void evict(struct nm_cache *c, uint32_t slot, uint32_t evictor)
{
	const uint64_t line = c->tags[slot], timestamp = c->timestamps[slot];
	const struct nm_residency *residency = &c->residencies[slot];
	struct nm_residency_sums *loser =
	    nm_residency_charge(&c->counters, residency, nm_residency_used(residency));

	nm_cache_sample_residency(c, slot);
	emit(c, NM_EVENT_REPLACE, line, 1, residency->attr);
	loser->evictions++;
	loser->writebacks += residency->writes > 0;
	if (timestamp >= c->shadow.head && nm_shadow_leave(&c->shadow, line, timestamp))
		c->failed = 1;
	if (nm_counters_evict(&c->counters, evictor, residency->attr))
		c->failed = 1;
	if (c->next)
		nm_cache_credit_residency(c, slot);
	if (c->coherent)
		nm_coherence_evicted(c, line, slot);
}

/* Loads the line at an address into its set, which begins at `place`, and from the next level. */
static __attribute__((noinline)) uint32_t load_at_once(struct nm_cache *c, uint64_t address, uint32_t attr,
						       unsigned write, uint64_t place)
{
	struct nm_cache *const next = c->next;
	const uint64_t line = address >> c->line_shift;
	struct nm_loads *loads = &c->counters.loads[attr];
	const uint32_t slot = victim(c, place, any_shape);
	int class = c->next_knows_cold ? held(&c->shadow, line) ? NM_MISS_CONFLICT : NM_MISS_CAPACITY
				       : class_of(&c->shadow, line);

	if (class < 0) {
		c->failed = 1;
		class = NM_MISS_COLD;
	}
	const int lost = c->coherent && nm_coherence_filled(c, line, attr, 0);

	loads->fills[write]++;
	nm_counters_touch(&c->counters, attr);
	if (c->sketch)
		nm_sketch_add(c->sketch, line);
	nm_cache_sample_fill(c, address, attr, write);
	if (c->tags[slot] != NM_NO_LINE)
		evict(c, slot, attr);
	emit(c, NM_EVENT_LOAD, line, 1, 0);
	c->tags[slot] = line;
	c->timestamps[slot] = nm_shadow_touch(&c->shadow, slot);
	c->residencies[slot] = (struct nm_residency){.attr = attr};
	if (next)
		c->residencies[slot].below =
		    next->lookup->fill(next, nm_lower_line(c, next, line), attr, write);
	if (c->next_knows_cold && next->cold)
		class = NM_MISS_COLD;
	c->cold = class == NM_MISS_COLD;
	if (!lost)
		loads->of_class[class]++;
	return slot;
}

#endif
