/* SPDX-License-Identifier: MIT
 *
 * fast_chain.h - deferred misses in chains: a level and all levels outwards from it are fast and have the
 * same line size.
 *
 * The next level never affects this one. So a miss changes this level only and is appended to a list; when
 * the list is full, or the batch ends, the next level processes all of it in order, and builds a list of its
 * own. Each level then works in its own memory for a while, and knows early what a miss will touch, so the
 * host can prefetch it.
 *
 * Invariants: between batches all lists are empty; a list is in the order of the level's misses; the next
 * level is credited with the residency of the evicted line before it is asked for the new one.
 *
 * Counting rules: see fast_miss.h.
 */
#ifndef NM_FAST_CHAIN_H
#define NM_FAST_CHAIN_H

#include "fast_miss.h"

enum { AHEAD = 16 /* misses that are looked up ahead in the next level */ };

static void flush_deferred_misses(struct nm_cache *c);

/* The class of a load. `known`: its class in the level above, or NM_MISS_UNKNOWN. */
ALWAYS uint8_t class_in_chain(struct nm_cache *c, uint64_t line, unsigned known)
{
	int class;

	if (held(&c->shadow, line))
		return NM_MISS_CONFLICT;
	if (known != NM_MISS_UNKNOWN)
		return known == NM_MISS_COLD ? NM_MISS_COLD : NM_MISS_CAPACITY;
	if (c->first && c->next_knows_cold)
		return NM_MISS_UNKNOWN;
	class = nm_shadow_seen(&c->cold_from->shadow, line);
	if (class < 0) {
		c->failed = 1;
		class = NM_MISS_COLD;
	}
	return (uint8_t) class;
}

/* Shows the sampler, if this level has one, a load and the residency that it ends. Returns 1 + the load's
 * index if it is a sample, else 0. */
ALWAYS uint32_t sample(struct nm_cache *c, uint64_t address, uint32_t slot, const struct nm_miss *miss)
{
	struct nm_sampler *const s = c->sampler;
	uint32_t number = 0;

	if (!s) {
		if (!c->upper_sampler || !nm_sampler_is_latest(c->upper_sampler, address, c->line_shift))
			return 0;
		number = (uint32_t)c->upper_sampler->latest;
		nm_sampler_further(c->upper_sampler, number, c);
		return number;
	}
	if (!--s->due) {
		nm_sampler_sample_fill(s, address, miss->attr, miss->write);
		number = (uint32_t)s->latest;
	}
	if (c->tags[slot] != NM_NO_LINE)
		nm_cache_sample_residency(c, slot);
	return number;
}

/* Replaces the line at a slot, and appends both lines to the list. */
ALWAYS void put(struct nm_cache *c, uint64_t line, uint32_t slot, struct nm_miss *miss)
{
	const uint64_t timestamp = c->timestamps[slot];

	miss->line = line;
	miss->left = c->tags[slot];
	miss->slot = slot;
	/* That of a vacant way is not read: a page of residencies has its first touch when it is written. */
	miss->residency = miss->left == NM_NO_LINE ? (struct nm_residency){0} : c->residencies[slot];
	if (timestamp >= c->shadow.head && nm_shadow_leave(&c->shadow, miss->left, timestamp))
		c->failed = 1;
	c->tags[slot] = line;
	c->timestamps[slot] = nm_shadow_touch(&c->shadow, slot);
	c->residencies[slot] = (struct nm_residency){.attr = miss->attr};
}

/* 1 if a prefetcher would have named the line that is loaded, else 0; what it takes to ask later if the loads before
 * are not known yet. */
static __attribute__((noinline)) uint8_t is_covered(struct nm_cache *c, uint64_t address, uint32_t attr)
{
	if (c->slice)
		return (uint8_t)(address & (c->spec.line - 1));
	if (c->first)
		nm_coverage_fill(c->coverage, address, attr, c->spec.side != NM_SIDE_INSTRUCTION);
	return (uint8_t)c->coverage->covered;
}

/* Loads the line at an address; the next level gets its request later. */
ALWAYS uint32_t load_in_chain(struct nm_cache *c, uint64_t address, uint32_t attr, unsigned write,
			      uint64_t place, struct shape shape)
{
	struct nm_miss *const miss = &c->misses[c->miss_count++];
	const uint64_t line = address >> shift_of(c, shape);
	const uint32_t slot = victim(c, place, shape);

	miss->attr = attr;
	miss->write = (uint8_t)write;
	miss->class = class_in_chain(c, line, NM_MISS_UNKNOWN);
	if (c->coherent && nm_coherence_filled(c, line, attr, 0))
		miss->class = NM_MISS_LOST;
	miss->sample = sample(c, address, slot, miss);
	miss->covered = c->coverage ? is_covered(c, address, attr) : 0;
	put(c, line, slot, miss);
	if (c->coherent && miss->left != NM_NO_LINE)
		nm_coherence_evicted(c, miss->left, slot);
	if (c->miss_count == NM_MISSES)
		flush_deferred_misses(c);
	return slot;
}

/* Prefetches, on the host, where a level will look up misses of the level above. */
ALWAYS void fetch(const struct nm_cache *c, const struct nm_miss *m, uint32_t count, struct shape shape)
{
	const uint64_t *const tags = c->tags, *const timestamps = c->timestamps;
	const unsigned ways = shape.ways ? shape.ways : c->ways;

	for (const struct nm_miss *const end = m + count; m != end; m++) {
		const uint64_t set = first_place(c, m->line, shape);

		for (unsigned way = 0; way < ways; way += 8) {
			__builtin_prefetch(tags + set + way);
			__builtin_prefetch(timestamps + set + way, 1);
		}
		__builtin_prefetch(tags + m->residency.below);
		__builtin_prefetch(c->residencies + m->residency.below, 1);
	}
}

/* Looks up the slots of lines whose sets are fetched; prefetches, on the host, what loads will touch. */
ALWAYS void look_up(const struct nm_cache *c, const struct nm_miss *m, uint32_t count, uint32_t *ret_slots,
		    struct shape shape)
{
	const struct nm_shadow *const colds = &c->cold_from->shadow;

	for (const struct nm_miss *const end = m + count; m != end; m++, ret_slots++) {
		const uint64_t place = laid_place(c, m->line, shape);

		*ret_slots = find_at(c, place, m->line, shape);
		if (*ret_slots == NM_NO_SLOT) {
			const uint32_t slot = victim(c, place, shape);

			__builtin_prefetch(c->residencies + slot, 1);
			__builtin_prefetch(nm_shadow_home(&c->shadow, c->tags[slot]), 1);
			__builtin_prefetch(nm_shadow_home(&c->shadow, m->line));
			__builtin_prefetch(nm_shadow_seen_home(colds, m->line));
		}
	}
}

/* The slot of a line that may be at `slot`. */
ALWAYS uint32_t find_again(const struct nm_cache *c, uint64_t line, uint32_t slot, struct shape shape)
{
	return __builtin_expect(slot != NM_NO_SLOT && c->tags[slot] == line, 1) ? slot : find(c, line, shape);
}

/* Credits the residency of a line evicted above to this level, or passes it on. */
ALWAYS void credit(struct nm_cache *c, const struct nm_miss *m, struct shape shape)
{
	const uint32_t slot = find_again(c, m->left, m->residency.below, shape);
	struct nm_residency *to = &c->residencies[slot];

	if (__builtin_expect(slot == NM_NO_SLOT, 0)) {
		if (c->next || c->slice) {
			struct nm_miss *const miss = &c->misses[c->miss_count++];

			*miss = *m;
			miss->line = NM_NO_LINE;
			miss->residency.below = 0;
			miss->class = NM_MISS_NONE;
		}
		return;
	}
	to->writes += m->residency.writes;
	to->served += m->residency.served;
	to->mask |= m->residency.mask;
}

/* Loads a line that the level above has missed. Returns its slot. */
ALWAYS uint32_t load_below(struct nm_cache *c, const struct nm_cache *upper, struct nm_miss *m,
			   struct shape shape)
{
	const unsigned known = upper->next_knows_cold ? m->class : NM_MISS_UNKNOWN;
	const uint32_t slot = victim(c, laid_place(c, m->line, shape), shape);
	struct nm_miss *const miss = &c->misses[c->miss_count++];

	miss->attr = m->attr;
	miss->write = m->write;
	miss->class = class_in_chain(c, m->line, known);
	miss->sample = m->sample;
	miss->covered = m->covered;
	if (__builtin_expect(m->sample && c->upper_sampler, 0))
		nm_sampler_further(c->upper_sampler, m->sample, c);
	if (m->class == NM_MISS_UNKNOWN)
		m->class = miss->class == NM_MISS_COLD ? NM_MISS_COLD : NM_MISS_CAPACITY;
	put(c, m->line, slot, miss);
	return slot;
}

/* Serves a request for a line, perhaps at `slot`, that the level above has missed. `tells` that level where the
 * line is now. */
ALWAYS void ask(struct nm_cache *c, struct nm_cache *upper, struct nm_miss *m, uint32_t slot, int tells,
		struct shape shape)
{
	slot = find_again(c, m->line, slot, shape);
	if (slot == NM_NO_SLOT) {
		slot = load_below(c, upper, m, shape);
	} else {
		touch(c, slot);
		if (m->class == NM_MISS_UNKNOWN)
			m->class = NM_MISS_CAPACITY;
	}
	if (tells && upper->tags[m->slot] == m->line)
		upper->residencies[m->slot].below = slot;
}

/* Counts a miss of a level. */
ALWAYS void count_miss(struct nm_cache *c, const struct nm_miss *m)
{
	struct nm_loads *loads = &c->counters.loads[m->attr];
	struct nm_residency_sums *loser;

	if (m->class == NM_MISS_NONE)
		return;
	loads->fills[m->write]++;
	nm_counters_touch(&c->counters, m->attr);
	if (m->class != NM_MISS_LOST)
		loads->of_class[m->class]++;
	if (c->coverage)
		c->counters.covered[m->attr] += m->covered;
	if (m->left == NM_NO_LINE)
		return;
	loser = nm_residency_charge(&c->counters, &m->residency, nm_residency_used(&m->residency));
	loser->evictions++;
	loser->writebacks += m->residency.writes > 0;
	if (nm_counters_evict(&c->counters, m->attr, m->residency.attr))
		c->failed = 1;
}

/* Processes the list of the level above. */
ALWAYS void take_list(struct nm_cache *c, struct nm_cache *upper, struct shape shape)
{
	struct nm_miss *m = upper->misses;
	uint32_t left = upper->miss_count, n = left < AHEAD ? left : AHEAD, more, slots[AHEAD];
	const int tells = upper->next == c && !c->sibling; /* slots of siblings differ: none of them does */

	for (fetch(c, m, n, shape); n; n = more) {
		left -= n;
		more = left < AHEAD ? left : AHEAD;
		fetch(c, m + n, more, shape);
		look_up(c, m, n, slots, shape);
		reserve(&c->shadow, AHEAD);
		for (uint32_t i = 0; i < n; i++, m++) {
			if (m->left != NM_NO_LINE)
				credit(c, m, shape);
			if (m->line != NM_NO_LINE)
				ask(c, upper, m, slots[i], tells, shape);
		}
		if (c->miss_count + 2 * AHEAD > NM_MISSES)
			flush_deferred_misses(c);
	}
}

static __attribute__((noinline)) void take_list_of_16(struct nm_cache *c, struct nm_cache *upper)
{
	take_list(c, upper, (struct shape){.ways = 16});
}

static __attribute__((noinline)) void take_list_of_8(struct nm_cache *c, struct nm_cache *upper)
{
	take_list(c, upper, (struct shape){.ways = 8});
}

static __attribute__((noinline)) void take_any_list(struct nm_cache *c, struct nm_cache *upper)
{
	take_list(c, upper, any_shape);
}

/* Adds the lines that the list loads to the sketch. */
static void sketch_list(const struct nm_cache *c)
{
	for (uint32_t i = 0; i < c->miss_count; i++)
		nm_sketch_add(c->sketch, c->misses[i].line);
}

/* Makes all further levels process a level's list. */
static __attribute__((noinline)) void flush_deferred_misses(struct nm_cache *c)
{
	const uint32_t count = c->miss_count;

	if (!count || (c->slice && nm_run_slice_take(c)))
		return;
	if (c->sketch)
		sketch_list(c);
	for (struct nm_cache *next = c->next; next; next = next->sibling)
		(next->ways == 16  ? take_list_of_16
		 : next->ways == 8 ? take_list_of_8
				   : take_any_list)(next, c);
	for (uint32_t i = 0; i < count; i++)
		count_miss(c, &c->misses[i]);
	c->cold = c->misses[count - 1].class == NM_MISS_COLD;
	c->miss_count = 0;
	for (struct nm_cache *next = c->next; next; next = next->sibling)
		flush_deferred_misses(next);
}

/* Loads a line into the set that begins at `place`, deferred or at once. */
ALWAYS uint32_t load_shape(struct nm_cache *c, uint64_t address, uint32_t attr, unsigned write,
			   uint64_t place, struct shape shape)
{
	return __builtin_expect(c->chained, 1) ? load_in_chain(c, address, attr, write, place, shape)
					       : load_at_once(c, address, attr, write, place);
}

static __attribute__((noinline)) uint32_t load(struct nm_cache *c, uint64_t address, uint32_t attr,
					       unsigned write)
{
	return load_shape(c, address, attr, write, first_place(c, address >> c->line_shift, any_shape),
			  any_shape);
}

/* Requests a line for the level above; returns its slot. */
static uint32_t request_fill(struct nm_cache *c, uint64_t line, uint32_t attr, unsigned write)
{
	uint32_t slot;

	if (__builtin_expect(c->general != NULL, 0))
		return c->lookup->fill(c, line, attr, write);
	slot = find(c, line, any_shape);
	reserve(&c->shadow, 1);
	emit(c, slot == NM_NO_SLOT ? NM_EVENT_MISS : NM_EVENT_HIT, line, 1, 0);
	c->cold = 0;
	if (slot == NM_NO_SLOT) {
		slot = load(c, line << c->line_shift, attr, write);
		flush_deferred_misses(c);
	} else {
		touch(c, slot);
	}
	return slot;
}

#endif
