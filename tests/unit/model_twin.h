/* SPDX-License-Identifier: MIT
 *
 * model_twin.h - the counting rules written down as plainly as possible, for comparison: sets are lists with the
 * latest line first, bytes used are an array of flags, everything is found by looking at everything.
 */
#ifndef NM_MODEL_TWIN_H
#define NM_MODEL_TWIN_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy.h"

enum { TWIN_CELLS = 8, TWIN_LINE = 256, TWIN_NONE = 99 };

struct twin_line {
	uint64_t line, uses;
	uint32_t cell;
	int dirty;
	unsigned char used[TWIN_LINE];
};

struct twin_level {
	struct nm_level_spec spec;
	unsigned next;           /* level, or TWIN_NONE */
	int first;               /* takes the program's references only */
	struct twin_line **sets; /* lists of up to `ways`, latest first */
	unsigned *filled;
	uint64_t *full; /* fully associative: line numbers, latest first */
	uint64_t full_count, *seen, seen_count, seen_room;
	uint64_t accesses, resident, reads, writes;
	struct nm_counts cells[TWIN_CELLS];
	uint64_t matrix[TWIN_CELLS][TWIN_CELLS];
};

struct twin {
	struct nm_machine machine;
	struct twin_level levels[NM_MAX_LEVELS];
	size_t cells;
};

static inline struct twin_line *twin_find(struct twin_level *l, uint64_t line, unsigned *ret_place)
{
	uint64_t set = line % l->spec.sets;
	for (unsigned i = 0; i < l->filled[set]; i++)
		if (l->sets[set][i].line == line) {
			*ret_place = i;
			return &l->sets[set][i];
		}
	return NULL;
}

/* What is known of a line that left an upper level, given to the nearest level that has it. */
static inline void twin_settle(struct twin *t, unsigned level, uint64_t address, const struct twin_line *from,
			       unsigned bytes)
{
	for (; level != TWIN_NONE; level = t->levels[level].next) {
		struct twin_level *l = &t->levels[level];
		unsigned place;
		struct twin_line *to = twin_find(l, address / l->spec.line, &place);
		if (!to)
			continue;
		to->uses += from->uses;
		to->dirty |= from->dirty;
		for (unsigned b = 0; b < bytes; b++)
			to->used[address % l->spec.line + b] |= from->used[b];
		return;
	}
}

static inline void twin_charge(struct twin_level *l, const struct twin_line *line)
{
	struct nm_counts *c = &l->cells[line->cell];
	c->reuse += line->uses;
	c->loaded_bytes += l->spec.line;
	for (unsigned b = 0; b < l->spec.line; b++)
		c->used_bytes += line->used[b];
}

/* 1 if the fully associative cache of the same size hits. */
static inline int twin_full(struct twin_level *l, uint64_t line)
{
	uint64_t lines = l->spec.sets * l->spec.ways, i = 0;
	while (i < l->full_count && l->full[i] != line)
		i++;
	int hit = i < l->full_count;
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

static inline int twin_touch(struct twin *t, unsigned level, uint64_t address, uint32_t cell, int kind,
			     unsigned bytes, unsigned weight);

/* A fill asked for by an upper level: one reference. */
static inline void twin_fill(struct twin *t, unsigned level, uint64_t address, uint32_t cell, int kind)
{
	if (level == TWIN_NONE)
		return;
	struct nm_counts *c = &t->levels[level].cells[cell];
	int miss = twin_touch(t, level, address, cell, kind, 0, 0);
	*(kind == NM_REF_WRITE ? &c->writes : &c->reads) += 1;
	*(kind == NM_REF_WRITE ? &c->write_misses : &c->read_misses) += (unsigned)miss;
}

/* Loads a line in front of its list; the last of a full list leaves. */
static inline void twin_load(struct twin *t, unsigned level, uint64_t address, uint32_t cell, int kind,
			     int full)
{
	struct twin_level *l = &t->levels[level];
	uint64_t line = address / l->spec.line, set = line % l->spec.sets;
	struct nm_counts *c = &l->cells[cell];
	struct twin_line *list = l->sets[set];

	c->loads++;
	*(twin_is_new(l, line) ? &c->cold : full ? &c->conflict : &c->capacity) += 1;
	if (l->filled[set] == l->spec.ways) {
		struct twin_line left = list[--l->filled[set]];
		twin_charge(l, &left);
		l->cells[left.cell].evictions++;
		l->cells[left.cell].writebacks += (unsigned)left.dirty;
		l->matrix[cell][left.cell]++;
		twin_settle(t, l->next, left.line * l->spec.line, &left, l->spec.line);
	}
	memmove(list + 1, list, l->filled[set] * sizeof *list);
	l->filled[set]++;
	list[0] = (struct twin_line){.line = line, .cell = cell};
	twin_fill(t, l->next, line * l->spec.line, cell, kind);
}

/* Touches one line; with bytes > 0 by the program itself.  1 if it missed. */
static inline int twin_touch(struct twin *t, unsigned level, uint64_t address, uint32_t cell, int kind,
			     unsigned bytes, unsigned weight)
{
	struct twin_level *l = &t->levels[level];
	uint64_t line = address / l->spec.line;
	struct twin_line *list = l->sets[line % l->spec.sets];
	unsigned place;
	int full = twin_full(l, line), hit = twin_find(l, line, &place) != NULL;

	if (hit) {
		struct twin_line copy = list[place];
		memmove(list + 1, list, place * sizeof *list);
		list[0] = copy;
	} else {
		twin_load(t, level, address, cell, kind, full);
	}
	list[0].uses += weight;
	l->accesses += weight;
	if (bytes)
		list[0].dirty |= kind == NM_REF_WRITE;
	for (unsigned b = 0; b < bytes; b++)
		list[0].used[address % l->spec.line + b] = 1;
	return !hit;
}

static inline void twin_ref(struct twin *t, unsigned level, const struct nm_ref *r)
{
	struct twin_level *l = &t->levels[level];
	struct nm_counts *c = &l->cells[r->cell];
	uint64_t address = r->address, end = address + r->size;
	int miss = 0, write = r->kind == NM_REF_WRITE;

	if (l->first)
		*(write ? &l->writes : &l->reads) += r->weight;
	else
		*(write ? &c->writes : &c->reads) += r->weight;
	while (address < end) {
		uint64_t stop = (address / l->spec.line + 1) * l->spec.line;
		if (stop > end)
			stop = end;
		miss |=
		    twin_touch(t, level, address, r->cell, r->kind, (unsigned)(stop - address), r->weight);
		address = stop;
	}
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
		l->next = twin_level_for(t, i + 1, l->spec.side == NM_SIDE_INSTRUCTION);
		l->first = 1;
		for (unsigned j = 0; j < i; j++)
			l->first &= t->levels[j].next != i;
		l->sets = calloc(l->spec.sets, sizeof l->sets[0]);
		l->filled = calloc(l->spec.sets, sizeof l->filled[0]);
		l->full = calloc(l->spec.sets * l->spec.ways, sizeof l->full[0]);
		for (uint64_t s = 0; s < l->spec.sets; s++)
			l->sets[s] = calloc(l->spec.ways, sizeof l->sets[0][0]);
	}
}

static inline void twin_run(struct twin *t, const struct nm_ref *refs, size_t count)
{
	twin_start(t);
	for (size_t i = 0; i < count; i++) {
		unsigned level = twin_level_for(t, 0, refs[i].kind == NM_REF_FETCH);
		if (refs[i].cell >= t->cells)
			t->cells = refs[i].cell + 1;
		if (level != TWIN_NONE)
			twin_ref(t, level, &refs[i]);
	}
	for (unsigned i = 0; i < t->machine.count; i++) {
		struct twin_level *l = &t->levels[i];
		for (uint64_t s = 0; s < l->spec.sets; s++)
			for (unsigned w = 0; w < l->filled[s]; w++) {
				l->resident++;
				twin_charge(l, &l->sets[s][w]);
				twin_settle(t, l->next, l->sets[s][w].line * l->spec.line, &l->sets[s][w],
					    l->spec.line);
			}
	}
}

static inline void twin_total(const struct twin_level *l, struct nm_counts *ret)
{
	uint64_t sum[sizeof *ret / 8] = {0}, row[sizeof *ret / 8];
	for (unsigned c = 0; c < TWIN_CELLS; c++) {
		memcpy(row, &l->cells[c], sizeof row);
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
		for (uint64_t s = 0; s < l->spec.sets; s++)
			free(l->sets[s]);
		free(l->sets);
		free(l->filled);
		free(l->full);
		free(l->seen);
	}
}

#endif
