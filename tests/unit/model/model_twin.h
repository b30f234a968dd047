/* SPDX-License-Identifier: MIT
 *
 * model_twin.h - the counting rules written down as plainly as possible, for comparison: bytes used are an
 * array of flags, everything is found by looking at everything. This file moves lines between the levels of
 * model_twin_level.h; policies and indexes are in model_twin_policy.h, prefetchers in model_twin_prefetch.h.
 */
#ifndef NM_MODEL_TWIN_H
#define NM_MODEL_TWIN_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model_twin_level.h"

static inline int twin_touch(struct twin *t, unsigned level, uint64_t address, uint32_t attr, int kind,
			     unsigned bytes, unsigned weight);

static inline void twin_put(struct twin *t, unsigned level, const struct twin_line *line, uint32_t evictor);

/* A line leaves its slot. */
static inline void twin_leave(struct twin *t, unsigned level, struct twin_line *line, uint32_t evictor,
			      int how)
{
	struct twin_level *l = &t->levels[level];
	struct twin_line left = *line;

	line->there = 0;
	twin_report(t, level, how, left.line * l->spec.line, evictor, 1, left.attr);
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
		twin_credit(t, level, left.line * l->spec.line, &left);
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

static inline void twin_bring(struct twin *t, unsigned level, uint64_t line, uint32_t attr, int alone)
{
	struct twin_level *l = &t->levels[level];
	struct twin_line fresh = {.line = line, .attr = attr, .waits = 1};

	if (twin_exclusive(t, l->next))
		fresh.lent = twin_ask_ahead(t, l->next, line * l->spec.line, attr);
	twin_come(l, line, attr);
	twin_put(t, level, &fresh, attr);
	twin_report(t, level, NM_EVENT_PREFETCH, line * l->spec.line, attr, 1, 0);
	if (!twin_exclusive(t, l->next) && !alone)
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
		twin_report(t, level, NM_EVENT_PREFETCH, line * l->spec.line, attr, 1, 0);
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
		twin_bring(t, level, address / l->spec.line, attr, 0);
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
			twin_bring(t, r->level, r->line, r->attr, 0);
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
		l->extras[here->attr].late += t->now < here->due;
		here->waits = 0;
		twin_is_new(l, line);
	}
	twin_report(t, level, here ? NM_EVENT_HIT : NM_EVENT_MISS, address, attr, 1, 0);
	if (here) {
		*lent = *here;
		here->there = 0;
		twin_hit(&l->choice, twin_set_of(l, line), way);
	} else {
		twin_class(l, line, attr, full);
		twin_report(t, level, NM_EVENT_LOAD, address, attr, 1, 0);
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
	twin_report(t, level, NM_EVENT_LOAD, address, attr, 1, 0);
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

/* A non-temporal write of bytes of one line. */
static inline void twin_write_past(struct twin *t, unsigned level, uint64_t address, uint32_t attr,
				   unsigned bytes, unsigned weight)
{
	struct twin_level *l = &t->levels[level];
	uint64_t line = address / l->spec.line;
	unsigned way;
	struct twin_line *here = twin_find(l, line, &way);

	if (here && l->spec.inclusion == NM_INCLUSIVE)
		twin_take_back(t, level, line * l->spec.line, attr);
	if (here)
		twin_leave(t, level, here, attr, NM_EVENT_INVALIDATE);
	l->extras[attr].non_temporal += weight;
	twin_drop_full(l, line);
	twin_pass(t, level, address, attr, bytes, weight);
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
		twin_report(t, level, NM_EVENT_HIT, address, attr, weight ? weight : 1, 0);
	else if (!bytes || !t->missed)
		twin_report(t, level, NM_EVENT_MISS, address, attr, 1, 0);
	t->missed |= !hit && bytes;
	if (hit && twin_find(l, line, &way)->waits) {
		fresh = 1;
		l->extras[twin_find(l, line, &way)->attr].useful++;
		l->extras[twin_find(l, line, &way)->attr].late += t->now < twin_find(l, line, &way)->due;
		twin_find(l, line, &way)->waits = 0;
		twin_is_new(l, line);
	}
	if (hit)
		twin_hit(&l->choice, twin_set_of(l, line), way);
	else if (keeps)
		twin_load(t, level, address, attr, kind, full);
	if (!hit && weight > 1)
		twin_report(t, level, NM_EVENT_HIT, address, attr, weight - 1, 0);
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
		if (t->streaming)
			twin_write_past(t, level, address, r->attr, (unsigned)(stop - address), r->weight);
		else
			miss |= twin_touch(t, level, address, r->attr, r->kind, (unsigned)(stop - address),
					   r->weight);
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
			    on || t->machine.levels[j].prefetch != NM_PREFETCH_NONE ||
			    (t->machine.hints && t->machine.levels[j].side != NM_SIDE_INSTRUCTION);
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
			twin_credit(t, at, from->line * t->levels[at].spec.line, from);
		}
}

/* The program prefetches. */
static inline void twin_take_prefetch(struct twin *t, const struct nm_software_prefetch *p)
{
	unsigned first = twin_level_for(t, 0, 0), level = first, way, alone = p->alone;
	uint64_t latency = t->machine.memory_latency;

	if (first == TWIN_NONE)
		return;
	for (unsigned d = 0; d < p->depth; d++)
		if (t->levels[level].next != TWIN_NONE && !twin_exclusive(t, t->levels[level].next))
			level = t->levels[level].next;
	struct twin_level *l = &t->levels[level];
	for (unsigned i = first; i != l->next; i = t->levels[i].next) {
		uint64_t line = p->address / t->levels[i].spec.line;
		if (!twin_find(&t->levels[i], line, &way))
			continue;
		l->extras[p->attr].redundant++;
		twin_hit(&t->levels[i].choice, twin_set_of(&t->levels[i], line), way);
		return;
	}
	for (unsigned i = l->next, found = 0; i != TWIN_NONE; i = t->levels[i].next) {
		alone &= t->levels[i].spec.inclusion == NM_NON_INCLUSIVE;
		if (!found && twin_find(&t->levels[i], p->address / t->levels[i].spec.line, &way)) {
			latency = t->levels[i].spec.latency;
			found = 1;
		}
	}
	t->prefetching = 1;
	twin_bring(t, level, p->address / l->spec.line, p->attr, (int)alone);
	t->prefetching = 0;
	twin_find(l, p->address / l->spec.line, &way)->due = t->now + latency;
}

static inline void twin_run(struct twin *t, const struct nm_ref *refs, size_t count)
{
	twin_start(t);
	for (size_t i = 0, p = 0; i < count; i++) {
		unsigned level = twin_level_for(t, 0, refs[i].kind == NM_REF_FETCH);
		for (; p < t->prefetch_count && t->before[p] == i; p++)
			twin_take_prefetch(t, &t->prefetches[p]);
		if (refs[i].attr >= t->attrs)
			t->attrs = refs[i].attr + 1;
		t->streaming = t->streams && t->streams[i];
		if (level != TWIN_NONE)
			twin_ref(t, level, &refs[i]);
		t->streaming = 0;
		twin_prefetch(t);
		t->now += refs[i].weight;
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
