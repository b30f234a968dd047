/* SPDX-License-Identifier: MIT
 *
 * fast_miss.h - what a level does when a line is not there, and when the level above asks it for one.
 *
 * A miss is served at once, through all levels: its class, the victim, the credit for the victim's residency, the fill from
 * the next level.  Counting rules served here: LRU by time of last touch; write-allocate; the residency that ends is credited
 * before the fill from the next level.
 *
 * Dropped, none of them faster: looking ahead in the log of touches for the next line that leaves the fully associative
 * cache; shadow tables of half or twice the size; putting off the request to the next level until the next miss.
 */
#ifndef NM_FAST_MISS_H
#define NM_FAST_MISS_H

#include "cache.h"
#include "search.h"
#include "shadow_log.h"

/* What a copy of a function is made for. */
struct shape {
	unsigned ways, line_shift; /* 0: any */
};

ALWAYS void emit(const struct nm_cache *c, enum nm_event_kind kind, uint64_t line, uint32_t times,
		 uint32_t victim)
{
	if (__builtin_expect(c->sink != NULL, 0))
		nm_event_sink_emit(c, kind, line, times, victim);
}

ALWAYS uint64_t first_place(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	return nm_cache_set(c, line) * (shape.ways ? shape.ways : c->ways);
}

ALWAYS uint32_t find(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	const unsigned ways = shape.ways ? shape.ways : c->ways;
	const uint64_t slot = first_place(c, line, shape);
	unsigned way;

	if (ways == 16)
		way = find_fixed(c->tags + slot, 16, line);
	else if (ways == 8)
		way = find_fixed(c->tags + slot, 8, line);
	else
		way = find_fixed(c->tags + slot, ways, line);
	return way == UINT32_MAX ? NM_NO_SLOT : (uint32_t)slot + way;
}

/* Where a line that is not in its set will go. */
ALWAYS uint32_t victim(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	const unsigned ways = shape.ways ? shape.ways : c->ways;
	const uint64_t slot = first_place(c, line, shape);

	if (ways == 8)
		return (uint32_t)slot + oldest(c->timestamps + slot, 8);
	return (uint32_t)slot + oldest(c->timestamps + slot, ways);
}

/* Hands the residency at a slot to the nearest further level that has the line too. */
ALWAYS void hand_down(struct nm_cache *c, uint32_t slot, uint64_t line, const struct nm_residency *residency)
{
	const struct nm_cache *next = c->next;
	struct nm_residency *to = &next->residencies[residency->below];

	if (__builtin_expect(!c->same_lines_below || next->tags[residency->below] != line, 0)) {
		nm_cache_credit(c, slot);
		return;
	}
	to->writes += residency->writes;
	to->served += residency->served;
	to->mask |= residency->mask;
}

/* The line at a slot leaves for one that `evictor` loads. */
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
		hand_down(c, slot, line, residency);
}

/* Has the host fetch the set of a line. */
ALWAYS void fetch_set(const struct nm_cache *c, uint64_t line)
{
	uint64_t slot = nm_cache_set(c, line) * c->ways;

	for (unsigned way = 0; way < c->ways && way < 16; way += 8) {
		__builtin_prefetch(&c->tags[slot + way]);
		__builtin_prefetch(&c->timestamps[slot + way], 1);
	}
}

/* A resident line is touched. */
ALWAYS void touch(struct nm_cache *c, uint32_t slot)
{
	struct nm_shadow *r = &c->shadow;

	if (c->timestamps[slot] < r->head)
		enter(r);
	c->timestamps[slot] = nm_shadow_touch(r, slot);
}

static uint32_t load(struct nm_cache *c, uint64_t address, uint32_t attr, unsigned write);

/* A level is asked for a line by the one above. */
ALWAYS uint32_t fill_from(struct nm_cache *c, uint64_t line, uint32_t attr, unsigned write)
{
	if (__builtin_expect(c->general != NULL, 0))
		return c->lookup->fill(c, line, attr, write);

	const uint32_t slot = find(c, line, (struct shape){0});

	reserve(&c->shadow, 1);
	emit(c, slot == NM_NO_SLOT ? NM_EVENT_MISS : NM_EVENT_HIT, line, 1, 0);
	if (slot == NM_NO_SLOT)
		return load(c, line << c->line_shift, attr, write);
	touch(c, slot);
	c->cold = 0;
	return slot;
}

/* Loads the line at an address in place of the oldest of its set, and from the next level. */
ALWAYS uint32_t load_into(struct nm_cache *c, uint64_t address, uint32_t attr, unsigned write,
			  struct shape shape)
{
	struct nm_cache *const next = c->next;
	const uint64_t line = address >> (shape.line_shift ? shape.line_shift : c->line_shift);
	const uint64_t below = next ? nm_lower_line(c, next, line) : 0;
	struct nm_loads *loads = &c->counters.loads[attr];

	if (next)
		fetch_set(next, below);
	const uint32_t slot = victim(c, line, shape);
	struct nm_residency *const residency = &c->residencies[slot];
	__builtin_prefetch(&c->counters.residencies[residency->attr], 1);
	if (next) {
		__builtin_prefetch(&next->tags[residency->below]);
		__builtin_prefetch(&next->residencies[residency->below], 1);
	}
	int class = c->next_knows_cold ? held(&c->shadow, line) ? NM_MISS_CONFLICT : NM_MISS_CAPACITY
				       : class_of(&c->shadow, line);

	if (class < 0) {
		c->failed = 1;
		class = NM_MISS_COLD;
	}
	loads->fills[write]++;
	nm_cache_sample_load(c, address, attr, write);
	if (c->tags[slot] != NM_NO_LINE)
		evict(c, slot, attr);
	emit(c, NM_EVENT_LOAD, line, 1, 0);
	c->tags[slot] = line;
	c->timestamps[slot] = nm_shadow_touch(&c->shadow, slot);
	*residency = (struct nm_residency){.attr = attr};
	if (c->predicted)
		c->predicted[nm_cache_guess(line)] = slot;
	if (next)
		residency->below = fill_from(next, below, attr, write);
	if (c->next_knows_cold && next->cold)
		class = NM_MISS_COLD;
	c->cold = class == NM_MISS_COLD;
	loads->of_class[class]++;
	return slot;
}

static __attribute__((noinline)) uint32_t load(struct nm_cache *c, uint64_t address, uint32_t attr,
					       unsigned write)
{
	return load_into(c, address, attr, write, (struct shape){0});
}

static uint32_t fill(struct nm_cache *c, uint64_t line, uint32_t attr, unsigned write)
{
	return fill_from(c, line, attr, write);
}

#endif
