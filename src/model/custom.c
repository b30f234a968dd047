/* SPDX-License-Identifier: MIT
 *
 * custom.c - a level that is not LRU, modulo, write-back, write-allocate and non-inclusive, or that stands next to
 * one to which this matters (hierarchy.c decides).  It shares the arrays, the classes and the tallies of all levels;
 * what it does on the way is told by rows of policy.h and index.h.
 *
 * Counting rules served here, beside those of lookup.c and misses.h:
 *   - The classes are what they are everywhere: the comparison is a fully associative LRU cache of as many lines, fed
 *     the same references, and for writes that are not allocated not loading them either.  So *conflict* is what
 *     placement, a policy other than LRU, or inclusion cost.
 *   - write=through: every write of the program, and every write that such a level above hands on, is a write
 *     reference of the next level when it happens, one per line of this level, and an access served there.  Lines
 *     are never written back; when one leaves, only its reads and its bytes flow on.  What a level above
 *     writes back to it goes on at once.
 *   - allocate=no: a write reference to a line that is not there is a miss, loads nothing, has no class, and is a
 *     write reference of the next level.  The first *load* of a line is the cold one.  Lines that a level above
 *     asks for are loaded always.
 *   - inclusive: when a line leaves, the levels above lose all of it, innermost first: that is an eviction there, by
 *     the same evictor.
 *   - exclusive: a line that the level above asks for moves there; the line that leaves above comes in here.  A miss
 *     passes the line on without keeping it, and is a load of this level all the same: the stay that is charged to
 *     its cell lasts until the line leaves this level outwards, with what happened above it in between.  So loads
 *     are misses, and evictions are lines that left this level outwards.
 *   - sector=: a sector is what is loaded, touched, charged and settled, as a line is elsewhere, and so all counts are of
 *     sectors; the line is what has a place in a set and leaves it, with all its sectors.  A load of a sector whose line
 *     is there is a *sector miss*: a touch of the line for the policy.  The classes compare with a fully
 *     associative LRU cache of as many sectors: so what tags for many sectors cost is *conflict*.
 *   - prefetch=: prefetched.h.
 *   - plugin=: it says where a line that is nowhere goes; the classes compare with sets * ways lines, as ever.
 *
 * An exclusive level keeps what it knows of lines that are above in slots behind its places: `below` of the line
 * above names its slot.
 */
#include "custom_priv.h"

#include <string.h>

#include "log.h"
#include "nearmiss/plugin.h"

/* The way that has a line, also that of a sector, counted over all sets; or NM_NO_PLACE. */
ALWAYS uint32_t find_way_of(const struct nm_cache *c, uint64_t line)
{
	const struct nm_custom *u = c->custom;

	line >>= u->sector_shift;
	if (c->wide)
		return nm_wide_find(c->wide, u->lines, line);

	uint64_t first = u->set(&u->placement, line) * c->ways;
	unsigned way = find_plain(u->lines + first, c->ways, line);

	return way == UINT32_MAX ? NM_NO_PLACE : (uint32_t)first + way;
}

/* The place of a line in a way: itself, or that of its sector. */
ALWAYS uint32_t place_in(const struct nm_cache *c, uint32_t way, uint64_t line)
{
	unsigned shift = c->custom->sector_shift;

	return way << shift | (uint32_t)(line & ((1u << shift) - 1));
}

uint32_t nm_custom_find(const struct nm_cache *c, uint64_t line)
{
	uint32_t way = find_way_of(c, line);

	if (way == NM_NO_PLACE || !c->custom->sector_shift)
		return way;

	uint32_t place = place_in(c, way, line);

	return c->tags[place] == line ? place : NM_NO_PLACE;
}

static void touch_way(struct nm_cache *c, uint32_t way)
{
	struct nm_replacement *p = &c->custom->replacement;

	p->policy->touch(p, way / c->ways, way % c->ways);
}

/* The policy is told that a line is asked for. */
void nm_custom_touch_place(struct nm_cache *c, uint32_t place)
{
	if (c->custom->plugin.self)
		c->custom->plugin.does->touch(c->custom->plugin.self, c->tags[place], place);
	else
		touch_way(c, place >> c->custom->sector_shift);
}

/* Whether a prefetch brought the line at a place, which was not used since. */
static int waits(const struct nm_cache *c, uint32_t place)
{
	return c->custom->prefetched && c->custom->prefetched->waits[place];
}

/* A resident line is touched. */
static void touch(struct nm_cache *c, uint32_t place, unsigned write)
{
	struct nm_recency *r = &c->recency;
	const int held = c->stamps[place] >= r->head;

	if (waits(c, place))
		nm_prefetched_use(c, place);
	if (held || !write || !c->spec.no_allocate) {
		if (!held)
			enter(r);
		c->stamps[place] = nm_recency_touch(r, place);
	}
	nm_custom_touch_place(c, place);
}

void nm_custom_clear_stay(struct nm_cache *c, uint32_t place, uint32_t cell)
{
	c->stays[place] = (struct nm_stay){.cell = cell};
	if (c->masks)
		memset(c->masks + (size_t)place * c->words, 0, c->words * sizeof *c->masks);
}

void nm_custom_move_stay(struct nm_cache *c, uint32_t from, uint32_t to)
{
	c->stays[to] = c->stays[from];
	if (c->custom->prefetched)
		nm_prefetched_move(c, from, to);
	if (c->masks)
		memcpy(c->masks + (size_t)to * c->words, c->masks + (size_t)from * c->words,
		       c->words * sizeof *c->masks);
}

static int has_sectors(const struct nm_cache *c, uint32_t way)
{
	for (uint32_t s = 0; s < 1u << c->custom->sector_shift; s++)
		if (c->tags[(way << c->custom->sector_shift) + s] != NM_NO_LINE)
			return 1;
	return 0;
}

/* A place has no line any more, and its way neither, unless other sectors are left. */
void nm_custom_free_place(struct nm_cache *c, uint32_t place)
{
	struct nm_custom *u = c->custom;
	uint32_t at = place >> u->sector_shift, set = at / c->ways, way = at % c->ways;
	uint64_t line = u->lines[at];

	if (u->plugin.self && u->plugin.does->leave)
		u->plugin.does->leave(u->plugin.self, line, place);
	c->stamps[place] = 0;
	if (u->sector_shift) {
		c->tags[place] = NM_NO_LINE;
		if (has_sectors(c, at))
			return;
	}
	if (c->wide)
		nm_wide_take(c->wide, u->lines, line);
	u->lines[at] = NM_NO_LINE;
	u->free_ways[(uint64_t)set * u->free_words + way / 64] |= 1ull << way % 64;
	u->free_count[set]++;
}

static uint32_t lowest_free(struct nm_custom *u, uint64_t set)
{
	uint64_t *words = u->free_ways + set * u->free_words;
	uint32_t w = 0;

	while (!words[w])
		w++;
	uint32_t way = w * 64 + (uint32_t)__builtin_ctzll(words[w]);
	words[w] &= words[w] - 1;
	u->free_count[set]--;
	return way;
}

static void give_back(struct nm_cache *x, struct nm_cache *upper, uint32_t from, uint32_t evictor);

/* All that is counted of a line that leaves its place; the place is still its own. */
static void depart(struct nm_cache *c, uint32_t place, uint32_t evictor, enum nm_event_kind how)
{
	const struct nm_stay *stay = &c->stays[place];
	struct nm_stays *loser = nm_cache_charge(c, place);

	nm_cache_witness_stay(c, place);
	tell(c, how, c->tags[place], 1, stay->cell);
	loser->evictions++;
	loser->writebacks += stay->writes > 0 && !c->spec.write_through;
	if (c->stamps[place] >= c->recency.head &&
	    nm_recency_leave(&c->recency, c->tags[place], c->stamps[place]))
		c->failed = 1;
	if (nm_tally_evict(&c->tally, evictor, stay->cell))
		c->failed = 1;
	if (c->custom && c->custom->prefetched)
		nm_prefetched_leave(c, place, evictor);
	if (exclusive(c->next))
		give_back(c->next, c, place, evictor);
	else
		nm_cache_settle(c, place);
}

/* An inclusive level takes a line back from one above it. */
static void take_back(struct nm_cache *c, uint64_t line, uint32_t evictor)
{
	uint32_t place = nm_cache_find(c, line);

	if (place == NM_NO_PLACE)
		return;
	depart(c, place, evictor, NM_EVENT_INVALIDATE);
	if (c->custom) {
		nm_custom_free_place(c, place);
	} else {
		c->tags[place] = NM_NO_LINE;
		c->stamps[place] = 0;
	}
}

/* A line, or a sector, leaves with all that levels above have of it. */
static void evict_place(struct nm_cache *c, uint32_t place, uint32_t evictor)
{
	const struct nm_custom *u = c->custom;

	for (unsigned i = 0; i < u->above_count; i++) {
		struct nm_cache *above = u->above[i];
		unsigned shift = c->line_shift - above->line_shift;

		for (uint64_t part = 0; part < 1ull << shift; part++)
			take_back(above, (c->tags[place] << shift) + part, evictor);
	}
	depart(c, place, evictor, NM_EVENT_REPLACE);
}

/* The line of a way leaves. */
static void evict(struct nm_cache *c, uint32_t way, uint32_t evictor)
{
	const struct nm_custom *u = c->custom;

	for (uint32_t s = 0; s < 1u << u->sector_shift; s++) {
		uint32_t place = (way << u->sector_shift) + s;

		if (c->tags[place] == NM_NO_LINE)
			continue;
		evict_place(c, place, evictor);
		if (u->sector_shift)
			c->tags[place] = NM_NO_LINE; /* else the way's next line takes its place */
	}
	if (c->wide)
		nm_wide_take(c->wide, u->lines, u->lines[way]);
}

/* Where the plug-in wants a line to go. */
static uint32_t ask_plugin(struct nm_cache *c, uint64_t line, uint32_t evictor)
{
	const struct nm_plugin *plugin = &c->custom->plugin;
	uint64_t place = plugin->does->load(plugin->self, line);

	if (place >= c->spec.sets * c->spec.ways) {
		c->failed = NM_EPLUGIN;
		place = 0;
	}
	if (c->tags[place] != NM_NO_LINE)
		evict(c, (uint32_t)place, evictor);
	c->tags[place] = line;
	nm_wide_put(c->wide, c->tags, (uint32_t)place);
	return (uint32_t)place;
}

/* A sector comes to those of its line that are there. */
static uint32_t add_sector(struct nm_cache *c, uint32_t way, uint64_t line, uint32_t loader)
{
	uint32_t place = place_in(c, way, line);

	if (!(loader & NM_BY_PREFETCH))
		c->tally.extras[loader].sector_misses++;
	touch_way(c, way);
	c->tags[place] = line;
	return place;
}

/* A place for a line in its set, whose line leaves if no way is free; the line has it now. */
uint32_t nm_custom_vacate(struct nm_cache *c, uint64_t line, uint32_t evictor)
{
	struct nm_custom *u = c->custom;
	struct nm_replacement *p = &u->replacement;
	uint64_t set = nm_custom_set(c, line);
	uint32_t way, first = (uint32_t)(set * c->ways);

	if (u->plugin.self)
		return ask_plugin(c, line, evictor);
	if (u->sector_shift && (way = find_way_of(c, line)) != NM_NO_PLACE)
		return add_sector(c, way, line, evictor);
	if (u->free_count[set]) {
		way = lowest_free(u, set);
	} else {
		way = p->policy->victim(p, set);
		evict(c, first + way, evictor);
	}
	u->lines[first + way] = line >> u->sector_shift;
	if (c->wide)
		nm_wide_put(c->wide, u->lines, first + way);
	p->policy->load(p, set, way);

	uint32_t place = place_in(c, first + way, line);

	c->tags[place] = line;
	return place;
}

/* The class of a load is counted. */
static void classify(struct nm_cache *c, uint64_t line, uint32_t cell, unsigned write)
{
	int class = class_of(&c->recency, line);

	if (class < 0) {
		c->failed = 1;
		class = NM_MISS_COLD;
	}
	c->tally.loads[cell].of_class[class]++;
	c->tally.loads[cell].fills[write]++;
	if (c->custom->prefetched)
		nm_prefetched_load(c, line, class);
}

/* A line that is in no place here is the latest of the fully associative cache. */
static void touch_absent(struct nm_cache *c, uint64_t line)
{
	if (nm_recency_leave(&c->recency, line, nm_recency_touch(&c->recency, 0)))
		c->failed = 1;
}

static uint32_t ask(struct nm_cache *next, uint64_t line, uint32_t cell, unsigned write)
{
	return next->lookup->fill(next, line, cell, write);
}

/* An exclusive level hands a line over to the one above: from its own place or past it. */
static uint32_t hand_over(struct nm_cache *x, uint64_t line, uint32_t cell, unsigned write)
{
	uint32_t place = nm_custom_find(x, line), slot = x->custom->loans[--x->custom->loan_count];

	reserve(&x->recency, 1);
	tell(x, place == NM_NO_PLACE ? NM_EVENT_MISS : NM_EVENT_HIT, line, 1, 0);
	if (place != NM_NO_PLACE) {
		touch(x, place, 0);
		if (nm_recency_leave(&x->recency, line, x->stamps[place]))
			x->failed = 1;
		nm_custom_move_stay(x, place, slot);
		nm_custom_free_place(x, place);
	} else {
		classify(x, line, cell, write);
		nm_cache_witness_load(x, line << x->line_shift, cell, write);
		tell(x, NM_EVENT_LOAD, line, 1, 0);
		touch_absent(x, line);
		nm_custom_clear_stay(x, slot, cell);
		if (x->next)
			x->stays[slot].below = ask(x->next, nm_lower_line(x, x->next, line), cell, write);
	}
	x->tags[slot] = line;
	return slot;
}

/* A line comes to a place without having been asked for: its last touch is what it was. */
void nm_custom_settle_in(struct nm_cache *c, uint64_t line, uint32_t place)
{
	struct nm_ghost *ghost = nm_recency_ghost(&c->recency, line);

	c->stamps[place] = ghost->stamp;
	if (!ghost->stamp)
		return;
	nm_recency_return(&c->recency, ghost);
	c->recency.log[c->stamps[place]] = place;
}

static void release(struct nm_cache *x, uint32_t slot)
{
	x->tags[slot] = NM_NO_LINE;
	x->custom->loans[x->custom->loan_count++] = slot;
}

/* Two stays of one line, which came in from two sides, become one, and so do those of exclusive levels behind. */
static void merge(struct nm_cache *x, uint32_t slot, uint32_t place)
{
	nm_cache_add_stay(x, place, x, slot, 3);
	if (x->custom->prefetched)
		nm_prefetched_end(x, slot);
	if (exclusive(x->next)) {
		merge(x->next, x->stays[slot].below, x->stays[place].below);
		release(x->next, x->stays[slot].below);
	}
}

/* A line leaves the level above an exclusive one and comes in here. */
static void give_back(struct nm_cache *x, struct nm_cache *upper, uint32_t from, uint32_t evictor)
{
	uint64_t line = upper->tags[from];
	uint32_t slot = upper->stays[from].below, place = nm_custom_find(x, line);

	nm_cache_add_stay(x, slot, upper, from, 3);
	if (place != NM_NO_PLACE) {
		merge(x, slot, place);
	} else {
		place = nm_custom_vacate(x, line, evictor);
		nm_custom_settle_in(x, line, place);
		nm_custom_move_stay(x, slot, place);
	}
	release(x, slot);
}

/* Loads the line at an address into its set, and from the next level. */
static uint32_t load(struct nm_cache *c, uint64_t address, uint32_t cell, unsigned write)
{
	uint64_t line = address >> c->line_shift;
	uint64_t below = c->next ? nm_lower_line(c, c->next, line) : 0;
	uint32_t slot = 0, place;

	nm_cache_witness_load(c, address, cell, write);
	if (exclusive(c->next)) /* before the line that leaves here, which may need its room there */
		slot = ask(c->next, below, cell, write);
	classify(c, line, cell, write);
	place = nm_custom_vacate(c, line, cell);
	tell(c, NM_EVENT_LOAD, line, 1, 0);
	c->stamps[place] = nm_recency_touch(&c->recency, place);
	nm_custom_clear_stay(c, place, cell);
	if (exclusive(c->next))
		c->stays[place].below = slot;
	else if (c->next)
		c->stays[place].below = ask(c->next, below, cell, write);
	return place;
}

/* A demand request was served; shows it to the level's prefetcher. */
static void show(struct nm_cache *c, uint64_t address, uint32_t cell, int missed, int fresh)
{
	struct nm_prefetch *p = c->custom->prefetched ? &c->custom->prefetched->prefetch : NULL;

	if (p && p->by)
		p->by->see(p, &(struct nm_demand){.address = address,
						  .instruction = nm_prefetch_instruction(p, cell),
						  .cell = cell,
						  .missed = missed,
						  .fresh = fresh});
}

static uint32_t fill(struct nm_cache *c, uint64_t line, uint32_t cell, unsigned write)
{
	if (exclusive(c))
		return hand_over(c, line, cell, write);

	uint32_t place = nm_custom_find(c, line);
	const int missed = place == NM_NO_PLACE, fresh = !missed && waits(c, place);

	reserve(&c->recency, 1);
	tell(c, missed ? NM_EVENT_MISS : NM_EVENT_HIT, line, 1, 0);
	if (missed)
		place = load(c, line << c->line_shift, cell, write);
	else
		touch(c, place, 0);
	show(c, line << c->line_shift, cell, missed, fresh);
	return place;
}

/* A write to a line that is not here and is not loaded: the fully associative cache hits or passes too. */
static void pass_by(struct nm_cache *c, uint64_t line, const struct nm_ref *r)
{
	struct nm_ghost *ghost = nm_recency_ghost(&c->recency, line);

	c->tally.loads[r->cell].around++;
	if (!ghost->stamp)
		return;
	nm_recency_return(&c->recency, ghost);
	touch_absent(c, line);
}

/* Tells of a reference to a line, before it is served; `missed`: another line of the reference has. */
static void tell_reference(const struct nm_cache *c, const struct nm_ref *r, uint64_t line, int misses,
			   uint64_t missed)
{
	if (!misses)
		tell(c, NM_EVENT_HIT, line, r->weight, 0);
	else if (!missed)
		tell(c, NM_EVENT_MISS, line, 1, 0);
}

/* The bytes [first, first + bytes) of a line are referenced.  1 if it is not here. */
static int take_line(struct nm_cache *c, const struct nm_ref *r, uint64_t address, uint32_t bytes,
		     uint64_t earlier)
{
	const unsigned write = r->kind == NM_REF_WRITE,
		       first = (unsigned)(address & ((1ull << c->line_shift) - 1));
	uint64_t line = address >> c->line_shift;
	uint32_t place = nm_custom_find(c, line);
	const int missed = place == NM_NO_PLACE, passes = missed && write && c->spec.no_allocate;
	const int fresh = !missed && waits(c, place);

	if (c->teller)
		nm_teller_ask(c->teller, r, address, bytes);
	tell_reference(c, r, line, missed, earlier);
	reserve(&c->recency, 1);
	if (passes) {
		pass_by(c, line, r);
	} else {
		if (missed)
			place = load(c, address, r->cell, write);
		else
			touch(c, place, write);
		if (missed && r->weight > 1)
			tell(c, NM_EVENT_HIT, line, r->weight - 1u, 0);
		nm_stay_serve(&c->stays[place], write, r->weight);
		nm_cache_mark(c, place, first, bytes);
		show(c, address, r->cell, missed, fresh);
	}
	if (c->next && write && (passes || c->spec.write_through))
		c->next->lookup->any(c->next, &(struct nm_ref){.address = address,
							       .cell = r->cell,
							       .size = (uint16_t)bytes,
							       .kind = NM_REF_WRITE,
							       .weight = r->weight});
	return missed;
}

static void take_any(struct nm_cache *c, const struct nm_ref *r)
{
	const unsigned write = r->kind == NM_REF_WRITE;
	const uint64_t line = 1ull << c->line_shift;
	uint64_t address = r->address, missed = 0;

	if (!c->first)
		c->tally.own[r->cell][write] += r->weight;
	for (uint32_t left = r->size; left;) {
		uint64_t rest = line - (address & (line - 1));
		uint32_t n = left < rest ? left : (uint32_t)rest;

		missed += (unsigned)take_line(c, r, address, n, missed);
		address += n;
		left -= n;
	}
	c->tally.loads[r->cell].extra[write] += missed - (missed > 0);
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

const struct nm_lookup nm_lookup_custom = {.plain = take_plain, .any = take_any, .fill = fill};
