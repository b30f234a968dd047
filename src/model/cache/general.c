/* SPDX-License-Identifier: MIT
 *
 * general.c - general levels: any policy, index, inclusion and way to write (build.c decides which levels are
 * fast). They share arrays, classes and counters with fast levels; policies, indices and plug-ins (plugin.h)
 * choose sets and victims. Prefetching: prefetch_tracker.h; coherence: protocol.h.
 *
 * Counting rules, in addition to those of fast.c and fast_miss.h:
 * - Classes compare with a fully associative LRU cache of as many lines (or sectors), which does not load
 *   writes that are not allocated either. So *conflict* is the cost of placement, policy or inclusion.
 * - write=through: each write is at once a write reference of the next level, one per line. Lines are never
 *   written back; when one leaves, its reads and bytes are passed on. Write-backs from above are passed on
 *   too.
 * - allocate=no: a write to an absent line is a miss without a load or class, and a write reference of the
 *   next level. Lines that the level above requests are always loaded.
 * - inclusive: when a line leaves, the levels above evict it too, innermost first, with the same evictor.
 * - exclusive: a line that the level above requests moves there, and the line evicted there comes in. A miss
 *   is a load of this level although the line only passes through: its residency ends when it leaves
 *   outwards. Extra slots after the level's own keep the state of lines that are above; `below` of such a
 *   line is its slot.
 * - sector=: a sector is loaded, touched and charged like a line elsewhere. The line owns the way, and leaves
 *   with all its sectors. Loading a sector of a resident line is a *sector miss*, a touch for the policy.
 */
#include "general_priv.h"

#include <assert.h>
#include <string.h>

#include "nearmiss/plugin.h"
#include "shadow_log.h"

/* The way that has a line, or the line of a sector, numbered over all sets; or NM_NO_SLOT. */
ALWAYS uint32_t find_way_of(const struct nm_cache *c, uint64_t line)
{
	const struct nm_general *g = c->general;

	line >>= g->sector_shift;
	if (c->way_index)
		return nm_way_index_find(c->way_index, g->lines, line);

	uint64_t first = g->set(&g->placement, line) * c->ways;
	unsigned way = find_plain(g->lines + first, c->ways, line);

	return way == UINT32_MAX ? NM_NO_SLOT : (uint32_t)first + way;
}

/* The slot of a line, or of a sector, in a way. */
ALWAYS uint32_t place_in(const struct nm_cache *c, uint32_t way, uint64_t line)
{
	unsigned shift = c->general->sector_shift;

	return way << shift | (uint32_t)(line & ((1u << shift) - 1));
}

uint32_t nm_general_find(const struct nm_cache *c, uint64_t line)
{
	uint32_t way = find_way_of(c, line);

	if (way == NM_NO_SLOT || !c->general->sector_shift)
		return way;

	uint32_t slot = place_in(c, way, line);

	return c->tags[slot] == line ? slot : NM_NO_SLOT;
}

static void touch_way(struct nm_cache *c, uint32_t way)
{
	struct nm_replacement *r = &c->general->replacement;

	r->policy->touch(r, way / c->ways, way % c->ways);
}

/* Tells the policy of a request for a line. */
void general_touch_slot(struct nm_cache *c, uint32_t slot)
{
	if (c->general->plugin.self)
		c->general->plugin.does->touch(c->general->plugin.self, c->tags[slot], slot);
	else
		touch_way(c, slot >> c->general->sector_shift);
}

/* Whether the line at a slot was prefetched and has not been used yet. */
static int is_unused_prefetch(const struct nm_cache *c, uint32_t slot)
{
	return c->general->prefetched && c->general->prefetched->waits[slot];
}

/* Touches a resident line. */
static void touch_slot(struct nm_cache *c, uint32_t slot, unsigned write)
{
	struct nm_shadow *s = &c->shadow;
	const int held = c->timestamps[slot] >= s->head;

	if (is_unused_prefetch(c, slot))
		nm_prefetch_tracker_use(c, slot);
	if (held || !write || !c->spec.no_allocate) {
		if (!held)
			enter(s);
		c->timestamps[slot] = nm_shadow_touch(s, slot);
	}
	general_touch_slot(c, slot);
}

void general_begin_residency(struct nm_cache *c, uint32_t slot, uint32_t attr)
{
	c->residencies[slot] = (struct nm_residency){.attr = attr};
	if (c->masks)
		memset(c->masks + (size_t)slot * c->words, 0, c->words * sizeof *c->masks);
}

void general_move_residency(struct nm_cache *c, uint32_t from, uint32_t to)
{
	c->residencies[to] = c->residencies[from];
	if (c->general->prefetched)
		nm_prefetch_tracker_move(c, from, to);
	if (c->masks)
		memcpy(c->masks + (size_t)to * c->words, c->masks + (size_t)from * c->words,
		       c->words * sizeof *c->masks);
}

static int has_sectors(const struct nm_cache *c, uint32_t way)
{
	for (uint32_t s = 0; s < 1u << c->general->sector_shift; s++)
		if (c->tags[(way << c->general->sector_shift) + s] != NM_NO_LINE)
			return 1;
	return 0;
}

/* Frees a slot, and its way if no other sector is left. */
void general_free_slot(struct nm_cache *c, uint32_t slot)
{
	struct nm_general *g = c->general;
	uint32_t at = slot >> g->sector_shift, set = at / c->ways, way = at % c->ways;
	uint64_t line = g->lines[at];

	assert(c->tags[slot] != NM_NO_LINE);
	if (g->plugin.self && g->plugin.does->leave)
		g->plugin.does->leave(g->plugin.self, line, slot);
	c->timestamps[slot] = 0;
	if (g->sector_shift) {
		c->tags[slot] = NM_NO_LINE;
		if (has_sectors(c, at))
			return;
	}
	if (c->way_index)
		nm_way_index_remove(c->way_index, g->lines, line);
	g->lines[at] = NM_NO_LINE;
	g->free_ways[(uint64_t)set * g->free_words + way / 64] |= 1ull << way % 64;
	g->free_count[set]++;
}

static uint32_t lowest_free(struct nm_general *g, uint64_t set)
{
	uint64_t *words = g->free_ways + set * g->free_words;
	uint32_t w = 0;

	while (!words[w])
		w++;
	uint32_t way = w * 64 + (uint32_t)__builtin_ctzll(words[w]);
	words[w] &= words[w] - 1;
	g->free_count[set]--;
	return way;
}

static void exclusive_insert(struct nm_cache *x, struct nm_cache *upper, uint32_t from, uint32_t evictor);

/* Reports an eviction to the monitor. */
static void emit_leaving(const struct nm_cache *c, uint32_t slot, enum nm_cause cause)
{
	if (!c->sink)
		return;
	c->sink->asked.cause = (uint8_t)cause;
	emit_event(c, cause ? NM_EVENT_INVALIDATE : NM_EVENT_REPLACE, c->tags[slot], 1,
		   c->residencies[slot].attr);
	c->sink->asked.cause = NM_CAUSE_NONE;
}

/* Does all counting for a line that is replaced or invalidated; it still has its slot. */
static void count_departure(struct nm_cache *c, uint32_t slot, uint32_t evictor, enum nm_cause cause)
{
	const struct nm_residency *residency = &c->residencies[slot];
	struct nm_residency_sums *loser = nm_cache_charge(c, slot);

	nm_cache_sample_residency(c, slot);
	emit_leaving(c, slot, cause);
	loser->evictions++;
	loser->writebacks += residency->writes > 0 && !c->spec.write_through && cause != NM_CAUSE_WRITE;
	if (c->timestamps[slot] >= c->shadow.head &&
	    nm_shadow_leave(&c->shadow, c->tags[slot], c->timestamps[slot]))
		c->failed = 1;
	if (nm_counters_evict(&c->counters, evictor, residency->attr))
		c->failed = 1;
	if (c->general && c->general->prefetched)
		nm_prefetch_tracker_evicted(c, slot, evictor);
	if (is_exclusive(c->next))
		exclusive_insert(c->next, c, slot, evictor);
	else
		nm_cache_credit_residency(c, slot);
	if (c->coherent && cause <= NM_CAUSE_INCLUSION)
		nm_coherence_evicted(c, c->tags[slot], slot);
}

int nm_cache_invalidate(struct nm_cache *c, uint64_t line, uint32_t by, enum nm_cause cause)
{
	const uint32_t slot = nm_cache_find(c, line);

	if (slot == NM_NO_SLOT)
		return 0;
	count_departure(c, slot, by, cause);
	if (c->general) {
		general_free_slot(c, slot);
	} else {
		c->tags[slot] = NM_NO_LINE;
		c->timestamps[slot] = 0;
	}
	return 1;
}

void nm_cache_clean(struct nm_cache *c, uint64_t line)
{
	const uint32_t slot = nm_cache_find(c, line);
	struct nm_residency *residency = slot == NM_NO_SLOT ? NULL : &c->residencies[slot];

	if (!residency || !residency->writes || c->spec.write_through)
		return;
	c->counters.residencies[residency->attr].writebacks++;
	for (struct nm_cache *lower = c->next; lower; lower = lower->next) {
		const uint32_t below = nm_cache_find(lower, nm_lower_line(c, lower, line));

		if (below == NM_NO_SLOT)
			continue;
		lower->residencies[below].writes += residency->writes;
		break;
	}
	residency->writes = 0;
}

/* A line, or a sector, leaves with all that levels above an inclusive one have of it. */
static void evict_slot(struct nm_cache *c, uint32_t slot, uint32_t evictor, enum nm_cause cause)
{
	const struct nm_general *g = c->general;

	for (unsigned i = 0; i < g->above_count; i++) {
		struct nm_cache *above = g->above[i];
		unsigned shift = c->line_shift - above->line_shift;

		for (uint64_t part = 0; part < 1ull << shift; part++)
			nm_cache_invalidate(above, (c->tags[slot] << shift) + part, evictor,
					    NM_CAUSE_INCLUSION);
	}
	count_departure(c, slot, evictor, cause);
}

/* Evicts the line of a way, with all its sectors. */
static void evict_way(struct nm_cache *c, uint32_t way, uint32_t evictor)
{
	const struct nm_general *g = c->general;

	for (uint32_t s = 0; s < 1u << g->sector_shift; s++) {
		uint32_t slot = (way << g->sector_shift) + s;

		if (c->tags[slot] == NM_NO_LINE)
			continue;
		evict_slot(c, slot, evictor, NM_CAUSE_NONE);
		if (g->sector_shift)
			c->tags[slot] = NM_NO_LINE; /* otherwise the way's next line takes its slot */
	}
	if (c->way_index)
		nm_way_index_remove(c->way_index, g->lines, g->lines[way]);
}

/* Asks the plug-in where a line goes. */
static uint32_t ask_plugin(struct nm_cache *c, uint64_t line, uint32_t evictor)
{
	const struct nm_plugin *plugin = &c->general->plugin;
	uint64_t slot = plugin->does->load(plugin->self, line);

	if (slot >= c->spec.sets * c->spec.ways) {
		c->failed = NM_EPLUGIN;
		slot = 0;
	}
	if (c->tags[slot] != NM_NO_LINE)
		evict_way(c, (uint32_t)slot, evictor);
	c->tags[slot] = line;
	nm_way_index_add(c->way_index, c->tags, (uint32_t)slot);
	return (uint32_t)slot;
}

/* Adds a sector to those of its line that are resident. */
static uint32_t add_sector(struct nm_cache *c, uint32_t way, uint64_t line, uint32_t loader)
{
	uint32_t slot = place_in(c, way, line);

	if (!(loader & NM_BY_PREFETCH))
		c->counters.extras[loader].sector_misses++;
	touch_way(c, way);
	c->tags[slot] = line;
	return slot;
}

/* Gives a line a slot in its set, evicting another one if no way is free. */
uint32_t general_vacate(struct nm_cache *c, uint64_t line, uint32_t evictor)
{
	struct nm_general *g = c->general;
	struct nm_replacement *r = &g->replacement;
	uint64_t set = nm_general_set(c, line);
	uint32_t way, first = (uint32_t)(set * c->ways);

	if (g->plugin.self)
		return ask_plugin(c, line, evictor);
	if (g->sector_shift && (way = find_way_of(c, line)) != NM_NO_SLOT)
		return add_sector(c, way, line, evictor);
	if (g->free_count[set]) {
		way = lowest_free(g, set);
	} else {
		way = r->policy->victim(r, set);
		evict_way(c, first + way, evictor);
	}
	g->lines[first + way] = line >> g->sector_shift;
	if (c->way_index)
		nm_way_index_add(c->way_index, g->lines, first + way);
	r->policy->load(r, set, way);

	uint32_t slot = place_in(c, first + way, line);

	c->tags[slot] = line;
	return slot;
}

/* Counts the class of a load and, in a last level, whether its memory is remote. */
static void classify_miss(struct nm_cache *c, uint64_t line, uint32_t attr, unsigned write)
{
	struct nm_homes *homes = c->general->homes;
	int class = class_of(&c->shadow, line);

	if (class < 0) {
		c->failed = 1;
		class = NM_MISS_COLD;
	}
	if (!c->coherent || !nm_coherence_filled(c, line, attr, 0))
		c->counters.loads[attr].of_class[class]++;
	if (homes && nm_homes_find(homes, line << c->line_shift, homes->running) !=
			 nm_homes_node(homes, homes->running))
		c->counters.extras[attr].remote++;
	c->counters.loads[attr].fills[write]++;
	nm_counters_touch(&c->counters, attr);
	if (c->sketch)
		nm_sketch_add(c->sketch, line);
	if (c->general->prefetched)
		nm_prefetch_tracker_demand_fill(c, line, class);
}

/* Touches a line in the shadow cache that is not resident here. */
static void touch_absent(struct nm_cache *c, uint64_t line)
{
	if (nm_shadow_leave(&c->shadow, line, nm_shadow_touch(&c->shadow, 0)))
		c->failed = 1;
}

static uint32_t request_line(struct nm_cache *next, uint64_t line, uint32_t attr, unsigned write)
{
	return next->lookup->fill(next, line, attr, write);
}

/* An exclusive level hands a line to the one above, from its own slot or through it. */
static uint32_t exclusive_read(struct nm_cache *c, uint64_t line, uint32_t attr, unsigned write)
{
	uint32_t slot = nm_general_find(c, line),
		 reserved = c->general->reserved_slots[--c->general->reserved_free];

	reserve(&c->shadow, 1);
	emit_event(c, slot == NM_NO_SLOT ? NM_EVENT_MISS : NM_EVENT_HIT, line, 1, 0);
	if (slot != NM_NO_SLOT) {
		touch_slot(c, slot, 0);
		if (nm_shadow_leave(&c->shadow, line, c->timestamps[slot]))
			c->failed = 1;
		general_move_residency(c, slot, reserved);
		general_free_slot(c, slot);
	} else {
		classify_miss(c, line, attr, write);
		nm_cache_sample_fill(c, line << c->line_shift, attr, write);
		emit_event(c, NM_EVENT_LOAD, line, 1, 0);
		touch_absent(c, line);
		general_begin_residency(c, reserved, attr);
		if (c->next)
			c->residencies[reserved].below =
			    request_line(c->next, nm_lower_line(c, c->next, line), attr, write);
	}
	c->tags[reserved] = line;
	return reserved;
}

/* Puts a line at a slot without touching it: it keeps the time of its last touch. */
void general_place_line(struct nm_cache *c, uint64_t line, uint32_t slot)
{
	uint64_t *timestamp = nm_shadow_left(&c->shadow, line);

	assert(c->tags[slot] == line);
	c->timestamps[slot] = timestamp ? *timestamp : 0;
	if (!timestamp)
		return;
	nm_shadow_return(&c->shadow, timestamp);
	c->shadow.log[c->timestamps[slot]] = slot;
}

static void release_reserved(struct nm_cache *c, uint32_t reserved)
{
	c->tags[reserved] = NM_NO_LINE;
	c->general->reserved_slots[c->general->reserved_free++] = reserved;
}

/* Merges two residencies of one line that came in from two sides, here and in exclusive levels behind. */
static void merge_residencies(struct nm_cache *c, uint32_t reserved, uint32_t slot)
{
	nm_cache_add_residency(c, slot, c, reserved, 3);
	if (c->general->prefetched)
		nm_prefetch_tracker_end(c, reserved);
	if (is_exclusive(c->next)) {
		merge_residencies(c->next, c->residencies[reserved].below, c->residencies[slot].below);
		release_reserved(c->next, c->residencies[reserved].below);
	}
}

/* An exclusive level takes in a line that the level above has evicted. */
static void exclusive_insert(struct nm_cache *c, struct nm_cache *upper, uint32_t from, uint32_t evictor)
{
	uint64_t line = upper->tags[from];
	uint32_t reserved = upper->residencies[from].below, slot = nm_general_find(c, line);

	nm_cache_add_residency(c, reserved, upper, from, 3);
	if (slot != NM_NO_SLOT) {
		merge_residencies(c, reserved, slot);
	} else {
		slot = general_vacate(c, line, evictor);
		general_place_line(c, line, slot);
		general_move_residency(c, reserved, slot);
	}
	release_reserved(c, reserved);
}

/* Loads the line at an address into its set and from the next level. */
static uint32_t fill_line(struct nm_cache *c, uint64_t address, uint32_t attr, unsigned write)
{
	uint64_t line = address >> c->line_shift;
	uint64_t below = c->next ? nm_lower_line(c, c->next, line) : 0;
	uint32_t reserved = 0, slot;

	nm_cache_sample_fill(c, address, attr, write);
	if (is_exclusive(c->next)) /* before the line that leaves here, which may need its slot there */
		reserved = request_line(c->next, below, attr, write);
	classify_miss(c, line, attr, write);
	slot = general_vacate(c, line, attr);
	emit_event(c, NM_EVENT_LOAD, line, 1, 0);
	c->timestamps[slot] = nm_shadow_touch(&c->shadow, slot);
	general_begin_residency(c, slot, attr);
	if (is_exclusive(c->next))
		c->residencies[slot].below = reserved;
	else if (c->next)
		c->residencies[slot].below = request_line(c->next, below, attr, write);
	return slot;
}

/* Shows a demand request that has been served to the level's prefetcher. */
static void train_prefetcher(struct nm_cache *c, uint64_t address, uint32_t attr, int missed, int fresh)
{
	struct nm_prefetch *p = c->general->prefetched ? &c->general->prefetched->prefetch : NULL;

	if (p && p->by)
		p->by->see(p, &(struct nm_demand){.address = address,
						  .instruction = nm_prefetch_instruction(p, attr),
						  .attr = attr,
						  .missed = missed,
						  .fresh = fresh});
}

static uint32_t request_fill(struct nm_cache *c, uint64_t line, uint32_t attr, unsigned write)
{
	if (is_exclusive(c))
		return exclusive_read(c, line, attr, write);

	uint32_t slot = nm_general_find(c, line);
	const int missed = slot == NM_NO_SLOT, fresh = !missed && is_unused_prefetch(c, slot);

	reserve(&c->shadow, 1);
	emit_event(c, missed ? NM_EVENT_MISS : NM_EVENT_HIT, line, 1, 0);
	if (missed)
		slot = fill_line(c, line << c->line_shift, attr, write);
	else
		touch_slot(c, slot, 0);
	train_prefetcher(c, line << c->line_shift, attr, missed, fresh);
	return slot;
}

/* Hands a write on to the next level. */
static void pass_write(struct nm_cache *c, const struct nm_ref *r, uint64_t address, uint32_t bytes)
{
	c->next->lookup->any(c->next, &(struct nm_ref){.address = address,
						       .attr = r->attr,
						       .size = (uint16_t)bytes,
						       .kind = NM_REF_WRITE,
						       .weight = r->weight});
}

/* A write to an absent line that is not loaded; the shadow cache does not load it either. */
static void write_no_allocate(struct nm_cache *c, uint64_t line, const struct nm_ref *r)
{
	uint64_t *timestamp = nm_shadow_left(&c->shadow, line);

	c->counters.loads[r->attr].around++;
	nm_counters_touch(&c->counters, r->attr);
	if (!timestamp)
		return;
	nm_shadow_return(&c->shadow, timestamp);
	touch_absent(c, line);
}

/* Whether the write in hand is non-temporal. */
static int is_non_temporal(const struct nm_cache *c)
{
	return c->general->prefetched && c->general->prefetched->prefetch.queue->streams;
}

/* A non-temporal write of bytes of a line, which leaves, the shadow cache too. */
static void write_past(struct nm_cache *c, const struct nm_ref *r, uint64_t address, uint32_t bytes)
{
	const uint64_t line = address >> c->line_shift;
	const uint32_t slot = nm_general_find(c, line);
	uint64_t *timestamp;

	if (slot != NM_NO_SLOT) {
		evict_slot(c, slot, r->attr, NM_CAUSE_NON_TEMPORAL);
		general_free_slot(c, slot);
	}
	timestamp = nm_shadow_left(&c->shadow, line);
	if (timestamp)
		nm_shadow_forget(&c->shadow, timestamp);
	nm_counters_touch(&c->counters, r->attr);
	c->counters.extras[r->attr].non_temporal += r->weight;
	if (c->next)
		pass_write(c, r, address, bytes);
	if (nm_cache_asks_coherence(c, r)) {
		nm_coherence_touch(c, NM_NO_SLOT, 1);
		nm_coherence_evicted(c, line, NM_NO_SLOT);
	}
}

/* Reports a reference to a line to the monitor, before it is served; `missed`: an earlier line of the
 * reference has missed. */
static void report_reference(const struct nm_cache *c, const struct nm_ref *r, uint64_t line, int misses,
			     uint64_t missed)
{
	if (!misses)
		emit_event(c, NM_EVENT_HIT, line, r->weight, 0);
	else if (!missed)
		emit_event(c, NM_EVENT_MISS, line, 1, 0);
}

/* References bytes [first, first + bytes) of a line. 1 if it misses. */
static int take_line(struct nm_cache *c, const struct nm_ref *r, uint64_t address, uint32_t bytes,
		     uint64_t earlier)
{
	const unsigned write = r->kind == NM_REF_WRITE,
		       first = (unsigned)(address & ((1ull << c->line_shift) - 1));
	uint64_t line = address >> c->line_shift;
	const int coherent = nm_cache_asks_coherence(c, r);

	if (c->sink)
		nm_event_sink_begin(c->sink, r, address, bytes);
	if (coherent)
		nm_coherence_acquire(c, r, address, bytes);
	if (write && is_non_temporal(c)) {
		write_past(c, r, address, bytes);
		return 0;
	}

	uint32_t slot = nm_general_find(c, line);
	const int missed = slot == NM_NO_SLOT, passes = missed && write && c->spec.no_allocate;
	const int fresh = !missed && is_unused_prefetch(c, slot);

	report_reference(c, r, line, missed, earlier);
	reserve(&c->shadow, 1);
	if (passes) {
		write_no_allocate(c, line, r);
	} else {
		if (missed)
			slot = fill_line(c, address, r->attr, write);
		else
			touch_slot(c, slot, write);
		if (missed && r->weight > 1)
			emit_event(c, NM_EVENT_HIT, line, r->weight - 1u, 0);
		nm_residency_serve(&c->residencies[slot], write, r->weight);
		nm_cache_mark(c, slot, first, bytes);
		train_prefetcher(c, address, r->attr, missed, fresh);
	}
	if (c->next && write && (passes || c->spec.write_through))
		pass_write(c, r, address, bytes);
	if (coherent)
		nm_coherence_touch(c, slot, (int)write);
	if (coherent && passes)
		nm_coherence_evicted(c, line, slot);
	return missed;
}

static void take_any(struct nm_cache *c, const struct nm_ref *r)
{
	const unsigned write = r->kind == NM_REF_WRITE;
	const uint64_t line = 1ull << c->line_shift;
	uint64_t address = r->address, missed = 0;

	if (!c->first) {
		c->counters.own[r->attr][write] += r->weight;
		c->counters.own_total[write] += r->weight;
	}
	for (uint32_t left = r->size; left;) {
		uint64_t rest = line - (address & (line - 1));
		uint32_t n = left < rest ? left : (uint32_t)rest;

		missed += (unsigned)take_line(c, r, address, n, missed);
		address += n;
		left -= n;
	}
	c->counters.loads[r->attr].extra[write] += missed - (missed > 0);
}

static void take_plain(struct nm_cache *c, const struct nm_ref *refs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		nm_cache_count(c, refs[i].weight, refs[i].kind);
		take_any(c, &refs[i]);
		if (c->queue)
			nm_prefetch_issue(c->queue);
	}
}

static void flush_deferred_misses(struct nm_cache *c) { (void)c; }

const struct nm_lookup nm_lookup_general = {.plain = take_plain,
					    .any = take_any,
					    .fill = request_fill,
					    .flush_deferred_misses = flush_deferred_misses};
