/* SPDX-License-Identifier: MIT
 *
 * fast_miss.h - the other half of fast.c: what a level does when a line is not there, and when the level
 * above asks it for one.  A miss is done at once, through all levels: class, victim, settlement of what
 * left, fill from the next level.
 *
 * Most levels are fast (cache.h): LRU of up to 64 ways, sets by a power of two, lines of at most 64 bytes. 
 * What they do is compiled without all else that a level may be, and what is asked of the next fast level is
 * part of it.  callgrind counted 540 instructions a miss of gzip when one function did for all levels, and
 * 410 since, in both levels together.
 *
 * Counting rules served here: LRU by time of last touch; write-allocate; the settlement of the line that
 * leaves comes before the fill from the next level.
 *
 * Dropped (bench/turns, five programs): the log of touches looked over 64 entries ahead, without branches,
 * for the next line that leaves the fully associative cache: solver 4, bzip2 3 % slower.  Ghosts in tables
 * half as large: gzip 5 % slower; twice as large: solver and zstd 2 % slower.  Ghosts without a neighbour
 * removed in place: gzip and solver 2 % slower.  No fetch of the next level's timestamps ahead: solver 3,
 * bzip2 2 % slower; of entries and figures of the attribution key too: within 1 %.  Figures of an
 * attribution key's residencies on a line of the host's cache of their own: within 1 %. What a level asks of
 * the next put off until its next miss, while the host fetches what that takes: gzip 4, zstd, bzip2 and
 * solver 2 % slower.
 */
#ifndef NM_MISSES_H
#define NM_MISSES_H

#include <string.h>

#include "cache.h"
#include "search.h"
#include "shadow_log.h"

#ifdef NM_WATCHED
enum { WATCHED = 1 };
#else
enum { WATCHED = 0 };
#endif

/* What a copy of a function is made for. */
struct shape {
	unsigned ways, line_shift; /* 0: any */
	int fast;                  /* for no level that is not */
};

ALWAYS void emit(const struct nm_cache *c, enum nm_event_kind kind, uint64_t line, uint32_t times,
		 uint32_t victim)
{
	if (WATCHED)
		nm_event_sink_emit(c, kind, line, times, victim);
}

ALWAYS uint64_t first_place(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	const uint64_t set = shape.fast ? line & c->set_mask : nm_cache_set(c, line);

	return set * (shape.ways ? shape.ways : c->ways);
}

ALWAYS uint32_t find(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	const unsigned ways = shape.ways ? shape.ways : c->ways;
	const uint64_t slot = first_place(c, line, shape);
	unsigned way;

	if (!shape.fast && __builtin_expect(c->way_index != NULL, 0))
		return nm_way_index_find(c->way_index, c->tags, line);
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

	if (!shape.fast && __builtin_expect(c->way_index != NULL, 0))
		return nm_way_index_replace(c->way_index, c->tags, nm_cache_set(c, line), line);
	if (ways == 8)
		return (uint32_t)slot + oldest(c->timestamps + slot, 8);
	return (uint32_t)slot + oldest(c->timestamps + slot, ways);
}

/* Hands the residency at a slot to the nearest further level that has the line too. */
ALWAYS void settle(struct nm_cache *c, uint32_t slot, uint64_t line, const struct nm_residency *residency)
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
ALWAYS void evict(struct nm_cache *c, uint32_t slot, uint32_t evictor, struct shape shape)
{
	const uint64_t line = c->tags[slot], timestamp = c->timestamps[slot];
	const struct nm_residency *residency = &c->residencies[slot];
	struct nm_residency_sums *loser =
	    shape.fast ? nm_residency_charge(&c->counters, residency, nm_residency_used(residency))
		       : nm_cache_charge(c, slot);

	nm_cache_sample_residency(c, slot);
	emit(c, NM_EVENT_REPLACE, line, 1, residency->attr);
	loser->evictions++;
	loser->writebacks += residency->writes > 0;
	if (timestamp >= c->shadow.head && nm_shadow_leave(&c->shadow, line, timestamp))
		c->failed = 1;
	if (nm_counters_evict(&c->counters, evictor, residency->attr))
		c->failed = 1;
	if (c->next)
		settle(c, slot, line, residency);
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

/* A resident line is touched, where a way's timestamp is all that orders it. */
ALWAYS void touch_narrow(struct nm_cache *c, uint32_t slot)
{
	struct nm_shadow *r = &c->shadow;

	if (c->timestamps[slot] < r->head)
		enter(r);
	c->timestamps[slot] = nm_shadow_touch(r, slot);
}

/* A resident line is touched. */
ALWAYS void touch(struct nm_cache *c, uint32_t slot)
{
	touch_narrow(c, slot);
	if (__builtin_expect(c->way_index != NULL, 0))
		nm_way_index_touch(c->way_index, slot);
}

static uint32_t fill(struct nm_cache *c, uint64_t line, uint32_t attr, unsigned write);
static uint32_t load_fast(struct nm_cache *c, uint64_t address, uint32_t attr, unsigned write);

/* The next level, which is fast, is asked for a line. */
ALWAYS uint32_t fill_fast(struct nm_cache *c, uint64_t line, uint32_t attr, unsigned write)
{
	const uint32_t slot = find(c, line, (struct shape){.fast = 1});

	reserve(&c->shadow, 1);
	if (slot == NM_NO_SLOT)
		return load_fast(c, line << c->line_shift, attr, write);
	touch_narrow(c, slot);
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
		evict(c, slot, attr, shape);
	emit(c, NM_EVENT_LOAD, line, 1, 0);
	c->tags[slot] = line;
	c->timestamps[slot] = nm_shadow_touch(&c->shadow, slot);
	*residency = (struct nm_residency){.attr = attr};
	if (!shape.fast && c->masks)
		memset(c->masks + (size_t)slot * c->words, 0, c->words * sizeof *c->masks);
	if (c->predicted)
		c->predicted[nm_cache_guess(line)] = slot;
	if (next)
		residency->below = !WATCHED && next->fast ? fill_fast(next, below, attr, write)
							  : fill(next, below, attr, write);
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

static __attribute__((noinline)) uint32_t load_fast(struct nm_cache *c, uint64_t address, uint32_t attr,
						    unsigned write)
{
	return load_into(c, address, attr, write, (struct shape){.fast = 1});
}

/* A level is asked for a line by the one above. */
static uint32_t fill(struct nm_cache *c, uint64_t line, uint32_t attr, unsigned write)
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

#endif
