/* SPDX-License-Identifier: MIT
 *
 * model_twin.h - the counting rules written down as plainly as possible, for comparison: bytes used are an
 * array of flags, everything is found by looking at everything. Policies and indexes are in
 * model_twin_policy.h, prefetchers in model_twin_prefetch.h.
 */
#ifndef NM_MODEL_TWIN_H
#define NM_MODEL_TWIN_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy.h"
#include "model_twin_policy.h"
#include "model_twin_prefetch.h"
#include "monitor.h"

enum { TWIN_ATTRS = 8, TWIN_LINE = 256, TWIN_NONE = 99 };

/* A line, or a sector in a level with sectors. */

struct twin_line {
	int there;
	uint64_t line, uses[2];
	uint32_t attr;
	unsigned char used[TWIN_LINE];
	int waits;              /* it was prefetched and has not been requested yet */
	struct twin_line *lent; /* what the exclusive level behind this one knows of the line, or NULL */
};

/* A line that left, and the attribution key of its prefetch, to be charged if it is requested. */
struct twin_left {
	uint64_t line, entered;
	uint32_t attr;
};

struct twin_left_list {
	struct twin_left *at;
	uint64_t count, room;
};

struct twin_level {
	struct nm_level_spec spec; /* its line is what is loaded at once */
	unsigned sectors;          /* in a line of the level */
	struct twin_choice choice;
	unsigned next;           /* level, or TWIN_NONE */
	int first;               /* takes the program's references only */
	struct twin_line **sets; /* by set, way and sector */
	uint64_t *full;          /* fully associative: line numbers, latest first */
	uint64_t full_count, *seen, seen_count, seen_room;
	uint64_t accesses, resident, reads, writes;
	uint64_t *asked, asked_count, asked_room; /* lines asked for, in order */
	const uint64_t *next_uses;                /* the same, of a run before; or NULL */
	uint64_t future_count;
	struct nm_counts attrs[TWIN_ATTRS];
	struct nm_extras extras[TWIN_ATTRS];
	uint64_t matrix[2][TWIN_ATTRS][TWIN_ATTRS]; /* on demand; by prefetches */
	int prefetched;                             /* it prefetches, or a level does whose fills it takes */
	struct twin_prefetcher prefetcher;
	struct twin_left_list pushed, unused; /* lines that prefetches pushed out; that left unused */
	uint64_t entered;                     /* lines that came in */
};

/* A line that a prefetcher named. */
struct twin_request {
	unsigned level;
	uint64_t line;
	uint32_t attr;
};

struct twin {
	struct nm_machine machine;
	struct twin_level levels[NM_MAX_LEVELS];
	size_t attrs;
	struct nm_monitor monitor;     /* gets events, if it has a function */
	int missed;                    /* the current reference has missed at this level */
	struct twin_request *requests; /* to be served when the reference is over */
	size_t request_count, request_room;
	int prefetching; /* they are */
};

static inline uint64_t twin_set_of(const struct twin_level *l, uint64_t line)
{
	return twin_set(&l->choice.spec, line / l->sectors);
}

/* Reports an event of the line at an address. */
static inline void twin_tell(const struct twin *t, unsigned level, enum nm_event_kind kind, uint64_t address,
			     uint32_t attr, uint32_t times, uint32_t victim)
{
	const struct nm_level_spec *s = &t->levels[level].spec;
	struct nm_event e = {.line = address / s->line * s->line,
			     .set = twin_set_of(&t->levels[level], address / s->line),
			     .times = times,
			     .attr = attr,
			     .victim = victim,
			     .kind = (uint8_t)kind,
			     .level = (uint8_t)level,
			     .last = t->levels[level].next == TWIN_NONE};

	if (t->monitor.event)
		t->monitor.event(t->monitor.self, &e);
}

static inline int twin_exclusive(const struct twin *t, unsigned level)
{
	return level != TWIN_NONE && t->levels[level].spec.inclusion == NM_EXCLUSIVE;
}

static inline struct twin_line *twin_find(struct twin_level *l, uint64_t line, unsigned *ret_way)
{
	uint64_t set = twin_set_of(l, line);
	for (unsigned i = 0; i < l->spec.ways * l->sectors; i++)
		if (l->sets[set][i].there && l->sets[set][i].line == line) {
			*ret_way = i / l->sectors;
			return &l->sets[set][i];
		}
	return NULL;
}

static inline void twin_merge(struct twin_line *to, const struct twin_line *from, uint64_t offset,
			      unsigned bytes, int reads, int writes)
{
	to->uses[0] += reads ? from->uses[0] : 0;
	to->uses[1] += writes ? from->uses[1] : 0;
	for (unsigned b = 0; b < bytes; b++)
		to->used[offset + b] |= from->used[b];
}

/* Credits a line that left a level to the nearest level that has it. */
static inline void twin_settle(struct twin *t, unsigned level, uint64_t address, const struct twin_line *from)
{
	unsigned bytes = t->levels[level].spec.line;
	int reads = 1, writes = !t->levels[level].spec.write_through;

	while ((level = t->levels[level].next) != TWIN_NONE) {
		struct twin_level *l = &t->levels[level];
		unsigned way;
		struct twin_line *to = twin_find(l, address / l->spec.line, &way);
		if (!to)
			continue;
		twin_merge(to, from, address % l->spec.line, bytes, reads, writes);
		if (!l->spec.write_through || !writes || !from->uses[1])
			return;
		reads = 0;
	}
}

static inline void twin_charge(struct twin_level *l, const struct twin_line *line)
{
	struct nm_counts *c = &l->attrs[line->attr];
	c->reuse += line->uses[0] + line->uses[1];
	for (unsigned b = 0; b < l->spec.line; b++) {
		c->used_bytes += line->used[b];
		for (uint64_t use = 0; line->used[b] && use < line->uses[0] + line->uses[1]; use++)
			c->weighted_bytes++;
	}
}

/* 1 if the fully associative cache of the same size hits. */
static inline int twin_full(struct twin_level *l, uint64_t line, int loads)
{
	uint64_t lines = l->spec.sets * l->spec.ways * l->sectors, i = 0;
	while (i < l->full_count && l->full[i] != line)
		i++;
	int hit = i < l->full_count;
	if (!hit && !loads)
		return 0;
	if (!hit && l->full_count < lines)
		l->full_count++;
	if (!hit)
		i = l->full_count - 1;
	memmove(l->full + 1, l->full, i * sizeof l->full[0]);
	l->full[0] = line;
	return hit;
}

static inline int twin_is_new(struct twin_level *l, uint64_t line)
{
	for (uint64_t i = 0; i < l->seen_count; i++)
		if (l->seen[i] == line)
			return 0;
	if (l->seen_count == l->seen_room) {
		l->seen_room = l->seen_room * 2 + 64;
		l->seen = realloc(l->seen, l->seen_room * sizeof l->seen[0]);
	}
	l->seen[l->seen_count++] = line;
	return 1;
}

static inline void twin_note(struct twin_level *l, uint64_t line)
{
	if (l->asked_count == l->asked_room) {
		l->asked_room = l->asked_room * 2 + 64;
		l->asked = realloc(l->asked, l->asked_room * sizeof l->asked[0]);
	}
	l->asked[l->asked_count++] = line;
}

/* The way of a full set that Belady's policy chooses: used farthest away; of those that are not used again,
 * the one touched least recently. */
static inline unsigned twin_farthest(const struct twin_level *l, uint64_t set)
{
	const struct twin_way *ways = l->choice.ways + set * l->spec.ways;
	uint64_t farthest = 0;
	unsigned found = 0;

	for (unsigned w = 0; w < l->spec.ways; w++) {
		uint64_t use = l->asked_count;
		while (use < l->future_count && l->next_uses[use] != l->sets[set][w].line)
			use++;
		if (use > farthest || (use == farthest && ways[w].touched < ways[found].touched)) {
			farthest = use;
			found = w;
		}
	}
	return found;
}

static inline int twin_touch(struct twin *t, unsigned level, uint64_t address, uint32_t attr, int kind,
			     unsigned bytes, unsigned weight);

static inline void twin_put(struct twin *t, unsigned level, const struct twin_line *line, uint32_t evictor);

static inline void twin_keep(struct twin_left_list *list, struct twin_left left)
{
	if (list->count == list->room) {
		list->room = list->room * 2 + 64;
		list->at = realloc(list->at, list->room * sizeof *list->at);
	}
	list->at[list->count++] = left;
}

/* Takes a line from a list; 0 if it is not in it. */
static inline int twin_take(struct twin_left_list *list, uint64_t line, struct twin_left *ret_left)
{
	for (uint64_t i = 0; i < list->count; i++)
		if (list->at[i].line == line) {
			*ret_left = list->at[i];
			list->at[i] = list->at[--list->count];
			return 1;
		}
	return 0;
}

/* A prefetched line is over: was it used? */
static inline int twin_used(struct twin_level *l, const struct twin_line *line)
{
	int used = line->waits && line->uses[0] + line->uses[1] > 0;

	l->extras[line->attr].useful += (uint64_t)used;
	return used;
}

/* Remembers a line that leaves unused. */
static inline void twin_forget_use(const struct twin *t, struct twin_level *l, const struct twin_line *left,
				   uint32_t evictor)
{
	struct twin_left note = {.line = left->line, .entered = l->entered}, old;

	while (twin_take(&l->pushed, left->line, &old) || twin_take(&l->unused, left->line, &old))
		;

	if (!twin_used(l, left) && left->waits) {
		note.attr = left->attr;
		twin_keep(&l->unused, note);
	}
	if (t->prefetching && l->prefetched) {
		note.attr = evictor;
		twin_keep(&l->pushed, note);
	}
}

/* A line leaves its slot. */
static inline void twin_leave(struct twin *t, unsigned level, struct twin_line *line, uint32_t evictor,
			      int how)
{
	struct twin_level *l = &t->levels[level];
	struct twin_line left = *line;

	line->there = 0;
	twin_tell(t, level, how, left.line * l->spec.line, evictor, 1, left.attr);
	twin_charge(l, &left);
	l->attrs[left.attr].evictions++;
	l->attrs[left.attr].writebacks += left.uses[1] && !l->spec.write_through;
	l->matrix[t->prefetching][evictor][left.attr]++;
	twin_forget_use(t, l, &left, evictor);
	if (left.lent) {
		twin_merge(left.lent, &left, 0, l->spec.line, 1, 1);
		twin_put(t, l->next, left.lent, evictor);
		free(left.lent);
	} else {
		twin_settle(t, level, left.line * l->spec.line, &left);
	}
}

/* An inclusive level loses the bytes from `address` on, and so do all from which its fills come. */
static inline void twin_take_back(struct twin *t, unsigned level, uint64_t address, uint32_t evictor)
{
	for (unsigned i = 0; i < level; i++) {
		struct twin_level *l = &t->levels[i];
		unsigned next = l->next, way;
		while (next != TWIN_NONE && next != level)
			next = t->levels[next].next;
		for (uint64_t b = 0; b < t->levels[level].spec.line && next == level; b += l->spec.line) {
			struct twin_line *line = twin_find(l, (address + b) / l->spec.line, &way);
			if (line)
				twin_leave(t, i, line, evictor, NM_EVENT_INVALIDATE);
		}
	}
}

/* The residencies of one line that two sides have had become one, in exclusive levels behind too. */
static inline void twin_merge_lent(struct twin *t, unsigned level, struct twin_line *to,
				   struct twin_line *lent)
{
	if (!lent)
		return;
	struct twin_level *l = &t->levels[level];
	twin_merge(to->lent, lent, 0, l->spec.line, 1, 1);
	twin_used(l, lent);
	twin_merge_lent(t, l->next, to->lent, lent->lent);
	free(lent);
}

/* The way that has other sectors of a line, or one past the last. */
static inline unsigned twin_way_of(struct twin_level *l, uint64_t set, uint64_t line)
{
	for (unsigned i = 0; i < l->spec.ways * l->sectors; i++)
		if (l->sets[set][i].there && l->sets[set][i].line / l->sectors == line / l->sectors)
			return i / l->sectors;
	return l->spec.ways;
}

static inline unsigned twin_free_way(struct twin_level *l, uint64_t set)
{
	for (unsigned way = 0; way < l->spec.ways; way++) {
		int used = 0;
		for (unsigned s = 0; s < l->sectors; s++)
			used |= l->sets[set][way * l->sectors + s].there;
		if (!used)
			return way;
	}
	return l->spec.ways;
}

/* Makes the policy's victim leave. */
static inline unsigned twin_vacate(struct twin *t, unsigned level, uint64_t set, uint32_t evictor)
{
	struct twin_level *l = &t->levels[level];
	unsigned way = nm_level_looks_ahead(&l->spec) ? twin_farthest(l, set) : twin_victim(&l->choice, set);
	struct twin_line *victim = &l->sets[set][way * l->sectors];

	for (unsigned s = 0; s < l->sectors; s++, victim++) {
		if (!victim->there)
			continue;
		if (l->spec.inclusion == NM_INCLUSIVE)
			twin_take_back(t, level, victim->line * l->spec.line, evictor);
		twin_leave(t, level, victim, evictor, NM_EVENT_REPLACE);
	}
	return way;
}

/* Puts a line into its set, where the lowest free way or the policy's victim takes it. */
static inline void twin_put(struct twin *t, unsigned level, const struct twin_line *line, uint32_t evictor)
{
	struct twin_level *l = &t->levels[level];
	uint64_t set = twin_set_of(l, line->line);
	unsigned way = 0;
	struct twin_line *there = twin_find(l, line->line, &way);

	if (there) {
		twin_merge(there, line, 0, l->spec.line, 1, 1);
		twin_used(l, line);
		twin_merge_lent(t, l->next, there, line->lent);
		return;
	}
	way = twin_way_of(l, set, line->line);
	if (way < l->spec.ways) {
		l->extras[line->attr].sector_misses += !t->prefetching;
		twin_hit(&l->choice, set, way);
	} else {
		way = twin_free_way(l, set);
		if (way == l->spec.ways)
			way = twin_vacate(t, level, set, evictor);
		twin_loaded(&l->choice, set, way);
	}
	there = &l->sets[set][way * l->sectors + line->line % l->sectors];
	*there = *line;
	there->there = 1;
}

static inline void twin_class(struct twin_level *l, uint64_t line, uint32_t attr, int full)
{
	struct nm_counts *c = &l->attrs[attr];

	int cold = twin_is_new(l, line);
	struct twin_left left;

	c->loads++;
	c->loaded_bytes += l->spec.line;
	*(cold ? &c->cold : full ? &c->conflict : &c->capacity) += 1;
	l->entered++;
	if (twin_take(&l->pushed, line, &left) && full && !cold)
		l->extras[left.attr].pollution++;
	if (twin_take(&l->unused, line, &left) &&
	    l->entered - left.entered <= l->spec.sets * l->spec.ways * l->sectors)
		l->extras[left.attr].late_evicted++;
}

static inline struct twin_line *twin_ask_ahead(struct twin *t, unsigned level, uint64_t address,
					       uint32_t attr);

/* A prefetch loads a line: that is counted, and what was remembered of the line is not true any more. */
static inline void twin_come(struct twin_level *l, uint64_t line, uint32_t attr)
{
	struct twin_left left;

	l->entered++;
	l->extras[attr].prefetches++;
	l->attrs[attr].loaded_bytes += l->spec.line;
	while (twin_take(&l->pushed, line, &left) || twin_take(&l->unused, line, &left))
		;
}

static inline void twin_bring(struct twin *t, unsigned level, uint64_t line, uint32_t attr)
{
	struct twin_level *l = &t->levels[level];
	struct twin_line fresh = {.line = line, .attr = attr, .waits = 1};

	if (twin_exclusive(t, l->next))
		fresh.lent = twin_ask_ahead(t, l->next, line * l->spec.line, attr);
	twin_come(l, line, attr);
	twin_put(t, level, &fresh, attr);
	twin_tell(t, level, NM_EVENT_PREFETCH, line * l->spec.line, attr, 1, 0);
	if (!twin_exclusive(t, l->next))
		twin_ask_ahead(t, l->next, line * l->spec.line, attr);
}

/* An exclusive level hands a line over that a prefetch asks for. */
static inline struct twin_line *twin_lend_ahead(struct twin *t, unsigned level, uint64_t line, uint32_t attr)
{
	struct twin_level *l = &t->levels[level];
	struct twin_line *lent = calloc(1, sizeof *lent);
	unsigned way = 0;
	struct twin_line *here = twin_find(l, line, &way);

	if (here) {
		*lent = *here;
		here->there = 0;
		twin_hit(&l->choice, twin_set_of(l, line), way);
	} else {
		twin_come(l, line, attr);
		twin_tell(t, level, NM_EVENT_PREFETCH, line * l->spec.line, attr, 1, 0);
		*lent = (struct twin_line){.line = line, .attr = attr, .waits = 1};
		lent->lent = twin_ask_ahead(t, l->next, line * l->spec.line, attr);
	}
	return lent;
}

/* A level is asked for a line by a prefetch. */
static inline struct twin_line *twin_ask_ahead(struct twin *t, unsigned level, uint64_t address,
					       uint32_t attr)
{
	unsigned way = 0;

	if (level == TWIN_NONE)
		return NULL;
	struct twin_level *l = &t->levels[level];
	if (twin_exclusive(t, level))
		return twin_lend_ahead(t, level, address / l->spec.line, attr);
	if (twin_find(l, address / l->spec.line, &way))
		twin_hit(&l->choice, twin_set_of(l, address / l->spec.line), way);
	else
		twin_bring(t, level, address / l->spec.line, attr);
	return NULL;
}

/* The reference is over. */
static inline void twin_prefetch(struct twin *t)
{
	unsigned way;

	t->prefetching = 1;
	for (size_t i = 0; i < t->request_count; i++) {
		const struct twin_request *r = &t->requests[i];

		if (!twin_find(&t->levels[r->level], r->line, &way))
			twin_bring(t, r->level, r->line, r->attr);
	}
	t->prefetching = 0;
	t->request_count = 0;
}

/* A demand request was served. */
static inline void twin_served(struct twin *t, unsigned level, uint64_t address, uint32_t attr, int missed,
			       int fresh)
{
	struct twin_prefetcher *p = &t->levels[level].prefetcher;

	if (!p->spec.prefetch)
		return;
	twin_see(p, address, attr, missed, fresh);
	if (t->request_count + p->named_count > t->request_room) {
		t->request_room = t->request_room * 2 + TWIN_NAMED;
		t->requests = realloc(t->requests, t->request_room * sizeof *t->requests);
	}
	for (unsigned i = 0; i < p->named_count; i++)
		t->requests[t->request_count++] = (struct twin_request){level, (uint64_t)p->named[i], attr};
}

static inline struct twin_line *twin_fill(struct twin *t, unsigned level, uint64_t address, uint32_t attr,
					  int kind);

/* An exclusive level hands a line over: what it knows of it goes with the line. */
static inline struct twin_line *twin_hand_over(struct twin *t, unsigned level, uint64_t address,
					       uint32_t attr, int kind, int *ret_miss)
{
	struct twin_level *l = &t->levels[level];
	struct twin_line *lent = calloc(1, sizeof *lent);
	uint64_t line = address / l->spec.line;
	unsigned way = 0;
	int full = twin_full(l, line, 1);
	struct twin_line *here = twin_find(l, line, &way);

	*ret_miss = !here;
	if (here && here->waits) {
		l->extras[here->attr].useful++;
		here->waits = 0;
		twin_is_new(l, line);
	}
	twin_tell(t, level, here ? NM_EVENT_HIT : NM_EVENT_MISS, address, attr, 1, 0);
	if (here) {
		*lent = *here;
		here->there = 0;
		twin_hit(&l->choice, twin_set_of(l, line), way);
	} else {
		twin_class(l, line, attr, full);
		twin_tell(t, level, NM_EVENT_LOAD, address, attr, 1, 0);
		*lent = (struct twin_line){.line = line, .attr = attr};
		lent->lent = twin_fill(t, l->next, line * l->spec.line, attr, kind);
	}
	return lent;
}

/* A fill asked for by an upper level: one reference. */
static inline struct twin_line *twin_fill(struct twin *t, unsigned level, uint64_t address, uint32_t attr,
					  int kind)
{
	struct twin_line *lent = NULL;
	int miss;

	if (level == TWIN_NONE)
		return NULL;
	struct nm_counts *c = &t->levels[level].attrs[attr];
	if (twin_exclusive(t, level))
		lent = twin_hand_over(t, level, address, attr, kind, &miss);
	else
		miss = twin_touch(t, level, address, attr, kind, 0, 0);
	*(kind == NM_REF_WRITE ? &c->writes : &c->reads) += 1;
	*(kind == NM_REF_WRITE ? &c->write_misses : &c->read_misses) += (unsigned)miss;
	return lent;
}

static inline void twin_load(struct twin *t, unsigned level, uint64_t address, uint32_t attr, int kind,
			     int full)
{
	struct twin_level *l = &t->levels[level];
	struct twin_line fresh = {.line = address / l->spec.line, .attr = attr};

	if (twin_exclusive(t, l->next))
		fresh.lent = twin_fill(t, l->next, fresh.line * l->spec.line, attr, kind);
	twin_class(l, fresh.line, attr, full);
	twin_put(t, level, &fresh, attr);
	twin_tell(t, level, NM_EVENT_LOAD, address, attr, 1, 0);
	if (!twin_exclusive(t, l->next))
		twin_fill(t, l->next, fresh.line * l->spec.line, attr, kind);
}

static inline void twin_ref(struct twin *t, unsigned level, const struct nm_ref *r);

/* A write of the program goes on to the next level. */
static inline void twin_pass(struct twin *t, unsigned level, uint64_t address, uint32_t attr, unsigned bytes,
			     unsigned weight)
{
	const struct nm_ref r = {.address = address,
				 .attr = attr,
				 .size = (uint16_t)bytes,
				 .kind = NM_REF_WRITE,
				 .weight = (uint8_t)weight};
	if (t->levels[level].next != TWIN_NONE)
		twin_ref(t, t->levels[level].next, &r);
}

/* Touches one line; with bytes > 0 by the program itself. 1 if it missed. */
static inline int twin_touch(struct twin *t, unsigned level, uint64_t address, uint32_t attr, int kind,
			     unsigned bytes, unsigned weight)
{
	struct twin_level *l = &t->levels[level];
	uint64_t line = address / l->spec.line;
	int write = bytes && kind == NM_REF_WRITE, keeps = !write || !l->spec.no_allocate;
	unsigned way = 0;
	int full = twin_full(l, line, keeps), hit = twin_find(l, line, &way) != NULL, fresh = 0;

	twin_note(l, line);

	if (hit)
		twin_tell(t, level, NM_EVENT_HIT, address, attr, weight ? weight : 1, 0);
	else if (!bytes || !t->missed)
		twin_tell(t, level, NM_EVENT_MISS, address, attr, 1, 0);
	t->missed |= !hit && bytes;
	if (hit && twin_find(l, line, &way)->waits) {
		fresh = 1;
		l->extras[twin_find(l, line, &way)->attr].useful++;
		twin_find(l, line, &way)->waits = 0;
		twin_is_new(l, line);
	}
	if (hit)
		twin_hit(&l->choice, twin_set_of(l, line), way);
	else if (keeps)
		twin_load(t, level, address, attr, kind, full);
	if (!hit && weight > 1)
		twin_tell(t, level, NM_EVENT_HIT, address, attr, weight - 1, 0);
	if (hit || keeps) {
		struct twin_line *here = twin_find(l, line, &way);
		here->uses[kind == NM_REF_WRITE] += weight;
		l->accesses += weight;
		for (unsigned b = 0; b < bytes; b++)
			here->used[address % l->spec.line + b] = 1;
		twin_served(t, level, bytes ? address : line * l->spec.line, attr, !hit, fresh);
	}
	if (write && (l->spec.write_through || (!hit && !keeps)))
		twin_pass(t, level, address, attr, bytes, weight);
	return !hit;
}

static inline void twin_ref(struct twin *t, unsigned level, const struct nm_ref *r)
{
	struct twin_level *l = &t->levels[level];
	struct nm_counts *c = &l->attrs[r->attr];
	uint64_t address = r->address, end = address + r->size;
	int miss = 0, write = r->kind == NM_REF_WRITE, missed = t->missed;

	t->missed = 0;
	if (l->first)
		*(write ? &l->writes : &l->reads) += r->weight;
	else
		*(write ? &c->writes : &c->reads) += r->weight;
	while (address < end) {
		uint64_t stop = (address / l->spec.line + 1) * l->spec.line;
		if (stop > end)
			stop = end;
		miss |=
		    twin_touch(t, level, address, r->attr, r->kind, (unsigned)(stop - address), r->weight);
		address = stop;
	}
	t->missed = missed;
	*(write ? &c->write_misses : &c->read_misses) += (unsigned)miss;
}

/* The first level from `level` on that data (or fetches) reach. */
static inline unsigned twin_level_for(const struct twin *t, unsigned level, int fetch)
{
	for (; level < t->machine.count; level++) {
		enum nm_level_side side = t->machine.levels[level].side;
		if (side == NM_SIDE_UNIFIED || (side == NM_SIDE_INSTRUCTION) == fetch)
			return level;
	}
	return TWIN_NONE;
}

static inline void twin_start(struct twin *t)
{
	for (unsigned i = 0; i < t->machine.count; i++) {
		struct twin_level *l = &t->levels[i];
		l->spec = t->machine.levels[i];
		l->sectors = l->spec.line / nm_level_unit(&l->spec);
		l->next = twin_level_for(t, i + 1, l->spec.side == NM_SIDE_INSTRUCTION);
		l->first = 1;
		for (unsigned j = 0; j < i; j++)
			l->first &= t->levels[j].next != i;
		l->sets = calloc(l->spec.sets, sizeof l->sets[0]);
		l->full = calloc(l->spec.sets * l->spec.ways * l->sectors, sizeof l->full[0]);
		for (uint64_t s = 0; s < l->spec.sets; s++)
			l->sets[s] = calloc(l->spec.ways * l->sectors, sizeof l->sets[0][0]);
		l->choice =
		    (struct twin_choice){.spec = l->spec, .random = twin_mix(l->spec.seed), .duel = 511};
		l->choice.ways = calloc(l->spec.sets * l->spec.ways, sizeof *l->choice.ways);
		l->spec.line /= l->sectors;
		twin_prefetcher_start(&l->prefetcher, &l->spec);
	}
	for (unsigned i = 0; i < t->machine.count; i++)
		for (unsigned j = i, on = 0; j != TWIN_NONE; j = t->levels[j].next)
			on = t->levels[j].prefetched |=
			    on || t->machine.levels[j].prefetch != NM_PREFETCH_NONE;
}

/* All lines of a level that are left at the end. */
static inline void twin_end(struct twin *t, unsigned level)
{
	struct twin_level *l = &t->levels[level];

	for (uint64_t s = 0; s < l->spec.sets; s++)
		for (unsigned w = 0; w < l->spec.ways * l->sectors; w++) {
			struct twin_line *line = &l->sets[s][w];
			if (!line->there)
				continue;
			l->resident++;
			twin_charge(l, line);
			twin_used(l, line);
			struct twin_line *from = line;
			unsigned at = level;
			/* Lines that exclusive levels have lent end there too. */
			for (; from->lent; from = from->lent) {
				at = t->levels[at].next;
				twin_merge(from->lent, from, 0, l->spec.line, 1, 1);
				t->levels[at].resident++;
				twin_charge(&t->levels[at], from->lent);
				twin_used(&t->levels[at], from->lent);
			}
			twin_settle(t, at, from->line * t->levels[at].spec.line, from);
		}
}

static inline void twin_run(struct twin *t, const struct nm_ref *refs, size_t count)
{
	twin_start(t);
	for (size_t i = 0; i < count; i++) {
		unsigned level = twin_level_for(t, 0, refs[i].kind == NM_REF_FETCH);
		if (refs[i].attr >= t->attrs)
			t->attrs = refs[i].attr + 1;
		if (level != TWIN_NONE)
			twin_ref(t, level, &refs[i]);
		twin_prefetch(t);
	}
	for (unsigned i = 0; i < t->machine.count; i++)
		twin_end(t, i);
}

static inline void twin_total(const struct twin_level *l, struct nm_counts *ret)
{
	uint64_t sum[sizeof *ret / 8] = {0}, row[sizeof *ret / 8];
	for (unsigned c = 0; c < TWIN_ATTRS; c++) {
		memcpy(row, &l->attrs[c], sizeof row);
		for (unsigned f = 0; f < sizeof row / 8; f++)
			sum[f] += row[f];
	}
	memcpy(ret, sum, sizeof *ret);
	ret->reads += l->reads;
	ret->writes += l->writes;
}

static inline void twin_done(struct twin *t)
{
	for (unsigned i = 0; i < t->machine.count; i++) {
		struct twin_level *l = &t->levels[i];
		for (uint64_t s = 0; s < l->spec.sets; s++) {
			for (unsigned w = 0; w < l->spec.ways * l->sectors; w++)
				while (l->sets[s][w].there && l->sets[s][w].lent) {
					struct twin_line *lent = l->sets[s][w].lent;
					l->sets[s][w].lent = lent->lent;
					free(lent);
				}
			free(l->sets[s]);
		}
		free(l->sets);
		free(l->choice.ways);
		free(l->full);
		free(l->seen);
		free(l->asked);
		free(l->pushed.at);
		free(l->unused.at);
		twin_prefetcher_done(&l->prefetcher);
	}
	free(t->requests);
}

#endif
