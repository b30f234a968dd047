/* SPDX-License-Identifier: MIT
 *
 * model_twin_level.h - the levels of the twin (model_twin.h): what they hold, and what is counted of one line.
 */
#ifndef NM_MODEL_TWIN_LEVEL_H
#define NM_MODEL_TWIN_LEVEL_H

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
	uint64_t due;           /* when it comes, in references */
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
	struct twin_left_list pushed, unused; /* lines that prefetches evicted; that left unused */
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
	/* the program's prefetches, each before the reference with that number */
	const struct nm_software_prefetch *prefetches;
	const size_t *before;
	size_t prefetch_count;
	const unsigned char *streams; /* by reference: whether a write is non-temporal; or NULL */
	int streaming;                /* the reference in hand is */
	uint64_t now;                 /* references so far */
};

static inline uint64_t twin_set_of(const struct twin_level *l, uint64_t line)
{
	return twin_set(&l->choice.spec, line / l->sectors);
}

/* Reports an event of the line at an address. */
static inline void twin_report(const struct twin *t, unsigned level, enum nm_event_kind kind,
			       uint64_t address, uint32_t attr, uint32_t times, uint32_t victim)
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
static inline void twin_credit(struct twin *t, unsigned level, uint64_t address, const struct twin_line *from)
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

/* The fully associative cache loses a line. */
static inline void twin_drop_full(struct twin_level *l, uint64_t line)
{
	for (uint64_t i = 0; i < l->full_count; i++)
		if (l->full[i] == line) {
			l->full_count--;
			memmove(l->full + i, l->full + i + 1, (l->full_count - i) * sizeof l->full[0]);
			return;
		}
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

#endif
