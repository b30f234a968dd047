/* SPDX-License-Identifier: MIT
 *
 * misses.h - the other half of lookup.c: what a level does when a line is not there, and when the level above asks it for
 * one.  A miss is done at once, through all levels: class, victim, settlement of what left, fill from the next level.
 *
 * Most levels are lean (cache.h): LRU of up to 64 ways, sets by a power of two, lines of at most 64 bytes.  What they do
 * is compiled without all else that a level may be, and what is asked of the next lean level is part of it.  callgrind
 * counted 540 instructions a miss of gzip when one function did for all levels, and 410 since, in both levels together.
 *
 * Counting rules served here: LRU by time of last touch; write-allocate; the settlement of the line that leaves comes
 * before the fill from the next level.
 *
 * Dropped (bench/turns, five programs): the log of touches looked over 64 entries ahead, without branches, for the next
 * line that leaves the fully associative cache: solver 4, bzip2 3 % slower.  Ghosts in tables half as large: gzip 5 %
 * slower; twice as large: solver and zstd 2 % slower.  Ghosts without a neighbour removed in place: gzip and solver 2 %
 * slower.  No fetch of the next level's stamps ahead: solver 3, bzip2 2 % slower; of ghosts and figures of the cell too:
 * within 1 %.  Figures of a cell's stays on a line of the host's cache of their own: within 1 %.
 * What a level asks of the next put off until its next miss, while the host fetches what that takes: gzip 4, zstd, bzip2 and
 * solver 2 % slower.
 */
#ifndef NM_MISSES_H
#define NM_MISSES_H

#include <string.h>

#include "cache.h"
#include "log.h"
#include "search.h"

#ifdef NM_WATCHED
enum { WATCHED = 1 };
#else
enum { WATCHED = 0 };
#endif

/* What a copy of a function is made for. */
struct shape {
	unsigned ways, line_shift; /* 0: any */
	int lean;                  /* for no level that is not */
};

ALWAYS void tell(const struct nm_cache *c, enum nm_event_kind kind, uint64_t line, uint32_t times,
		 uint32_t victim)
{
	if (WATCHED)
		nm_teller_tell(c, kind, line, times, victim);
}

ALWAYS uint64_t first_place(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	const uint64_t set = shape.lean ? line & c->set_mask : nm_cache_set(c, line);

	return set * (shape.ways ? shape.ways : c->ways);
}

ALWAYS uint32_t find(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	const unsigned ways = shape.ways ? shape.ways : c->ways;
	const uint64_t place = first_place(c, line, shape);
	unsigned way;

	if (!shape.lean && __builtin_expect(c->wide != NULL, 0))
		return nm_wide_find(c->wide, c->tags, line);
	if (ways == 16)
		way = find_fixed(c->tags + place, 16, line);
	else if (ways == 8)
		way = find_fixed(c->tags + place, 8, line);
	else
		way = find_fixed(c->tags + place, ways, line);
	return way == UINT32_MAX ? NM_NO_PLACE : (uint32_t)place + way;
}

/* Where a line that is not in its set will go. */
ALWAYS uint32_t victim(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	const unsigned ways = shape.ways ? shape.ways : c->ways;
	const uint64_t place = first_place(c, line, shape);

	if (!shape.lean && __builtin_expect(c->wide != NULL, 0))
		return nm_wide_replace(c->wide, c->tags, nm_cache_set(c, line), line);
	if (ways == 8)
		return (uint32_t)place + oldest(c->stamps + place, 8);
	return (uint32_t)place + oldest(c->stamps + place, ways);
}

/* Hands the stay at a place to the nearest further level that has the line too. */
ALWAYS void settle(struct nm_cache *c, uint32_t place, uint64_t line, const struct nm_stay *stay)
{
	const struct nm_cache *next = c->next;
	struct nm_stay *to = &next->stays[stay->below];

	if (__builtin_expect(!c->flat || next->tags[stay->below] != line, 0)) {
		nm_cache_settle(c, place);
		return;
	}
	to->writes += stay->writes;
	to->served += stay->served;
	to->mask |= stay->mask;
}

/* The line at a place leaves for one that `evictor` loads. */
ALWAYS void evict(struct nm_cache *c, uint32_t place, uint32_t evictor, struct shape shape)
{
	const uint64_t line = c->tags[place], stamp = c->stamps[place];
	const struct nm_stay *stay = &c->stays[place];
	struct nm_stays *loser =
	    shape.lean ? nm_stay_charge(&c->tally, stay, nm_stay_used(stay)) : nm_cache_charge(c, place);

	nm_cache_witness_stay(c, place);
	tell(c, NM_EVENT_REPLACE, line, 1, stay->cell);
	loser->evictions++;
	loser->writebacks += stay->writes > 0;
	if (stamp >= c->recency.head && nm_recency_leave(&c->recency, line, stamp))
		c->failed = 1;
	if (nm_tally_evict(&c->tally, evictor, stay->cell))
		c->failed = 1;
	if (c->next)
		settle(c, place, line, stay);
}

/* Has the host fetch the set of a line. */
ALWAYS void fetch_set(const struct nm_cache *c, uint64_t line)
{
	uint64_t place = nm_cache_set(c, line) * c->ways;

	for (unsigned way = 0; way < c->ways && way < 16; way += 8) {
		__builtin_prefetch(&c->tags[place + way]);
		__builtin_prefetch(&c->stamps[place + way], 1);
	}
}

/* A resident line is touched, where a way's stamp is all that orders it. */
ALWAYS void touch_narrow(struct nm_cache *c, uint32_t place)
{
	struct nm_recency *r = &c->recency;

	if (c->stamps[place] < r->head)
		enter(r);
	c->stamps[place] = nm_recency_touch(r, place);
}

/* A resident line is touched. */
ALWAYS void touch(struct nm_cache *c, uint32_t place)
{
	touch_narrow(c, place);
	if (__builtin_expect(c->wide != NULL, 0))
		nm_wide_touch(c->wide, place);
}

static uint32_t fill(struct nm_cache *c, uint64_t line, uint32_t cell, unsigned write);
static uint32_t load_lean(struct nm_cache *c, uint64_t address, uint32_t cell, unsigned write);

/* The next level, which is lean, is asked for a line. */
ALWAYS uint32_t fill_lean(struct nm_cache *c, uint64_t line, uint32_t cell, unsigned write)
{
	const uint32_t place = find(c, line, (struct shape){.lean = 1});

	reserve(&c->recency, 1);
	if (place == NM_NO_PLACE)
		return load_lean(c, line << c->line_shift, cell, write);
	touch_narrow(c, place);
	c->cold = 0;
	return place;
}

/* Loads the line at an address in place of the oldest of its set, and from the next level. */
ALWAYS uint32_t load_into(struct nm_cache *c, uint64_t address, uint32_t cell, unsigned write,
			  struct shape shape)
{
	struct nm_cache *const next = c->next;
	const uint64_t line = address >> (shape.line_shift ? shape.line_shift : c->line_shift);
	const uint64_t below = next ? nm_lower_line(c, next, line) : 0;
	struct nm_loads *loads = &c->tally.loads[cell];

	if (next)
		fetch_set(next, below);
	const uint32_t place = victim(c, line, shape);
	struct nm_stay *const stay = &c->stays[place];
	__builtin_prefetch(&c->tally.stays[stay->cell], 1);
	if (next) {
		__builtin_prefetch(&next->tags[stay->below]);
		__builtin_prefetch(&next->stays[stay->below], 1);
	}
	int class = c->told ? held(&c->recency, line) ? NM_MISS_CONFLICT : NM_MISS_CAPACITY
			    : class_of(&c->recency, line);

	if (class < 0) {
		c->failed = 1;
		class = NM_MISS_COLD;
	}
	loads->fills[write]++;
	nm_cache_witness_load(c, address, cell, write);
	if (c->tags[place] != NM_NO_LINE)
		evict(c, place, cell, shape);
	tell(c, NM_EVENT_LOAD, line, 1, 0);
	c->tags[place] = line;
	c->stamps[place] = nm_recency_touch(&c->recency, place);
	*stay = (struct nm_stay){.cell = cell};
	if (!shape.lean && c->masks)
		memset(c->masks + (size_t)place * c->words, 0, c->words * sizeof *c->masks);
	if (c->place_of)
		c->place_of[nm_cache_guess(line)] = place;
	if (next)
		stay->below = !WATCHED && next->lean ? fill_lean(next, below, cell, write)
						     : fill(next, below, cell, write);
	if (c->told && next->cold)
		class = NM_MISS_COLD;
	c->cold = class == NM_MISS_COLD;
	loads->of_class[class]++;
	return place;
}

static __attribute__((noinline)) uint32_t load(struct nm_cache *c, uint64_t address, uint32_t cell,
					       unsigned write)
{
	return load_into(c, address, cell, write, (struct shape){0});
}

static __attribute__((noinline)) uint32_t load_lean(struct nm_cache *c, uint64_t address, uint32_t cell,
						    unsigned write)
{
	return load_into(c, address, cell, write, (struct shape){.lean = 1});
}

/* A level is asked for a line by the one above. */
static uint32_t fill(struct nm_cache *c, uint64_t line, uint32_t cell, unsigned write)
{
	if (__builtin_expect(c->custom != NULL, 0))
		return c->lookup->fill(c, line, cell, write);

	const uint32_t place = find(c, line, (struct shape){0});

	reserve(&c->recency, 1);
	tell(c, place == NM_NO_PLACE ? NM_EVENT_MISS : NM_EVENT_HIT, line, 1, 0);
	if (place == NM_NO_PLACE)
		return load(c, line << c->line_shift, cell, write);
	touch(c, place);
	c->cold = 0;
	return place;
}

#endif
