/* SPDX-License-Identifier: MIT
 *
 * timeline.c - intervals of keys become intervals of objects and lines of code: the counts of each level, the
 * object and the line that miss most in each interval, and those that miss most in the run, by interval.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "intervals.h"
#include "sort.h"

enum {
	OBJECTS,
	SITES,
	KINDS,
	MOST_PARTS = 24 /* objects of a level that are listed by interval; lines too */
};

/* Misses of one interval and level by object, or by line. */
struct tally {
	struct sums {
		uint64_t read_misses, write_misses, loads;
	} * sums;          /* [index] */
	uint32_t *touched; /* indices whose sums are not 0 */
	size_t count, rows;
};

struct timeline {
	const struct nm_intervals *intervals;
	const struct nm_pass_merge *merge;
	struct nm_result *result;
	/* one index for objects of one name, and for sites at one line of the user's code */
	uint32_t *same[KINDS];
	struct tally tallies[KINDS]; /* of the interval and level at hand */
	uint64_t *totals[KINDS];     /* misses of the run, [level][index] */
	uint8_t *chosen[KINDS];      /* whether it is listed by interval, [level][index] */
	size_t part_room;
};

/* ---- what is the same to the user ---- */

static int compare_text(const char *a, const char *b) { return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b); }

static int by_line(const void *a, const void *b)
{
	const struct nm_result_site *s = *(const struct nm_result_site *const *)a,
				    *y = *(const struct nm_result_site *const *)b;
	int order = compare_text(s->user_file, y->user_file);

	if (!order)
		order = compare_text(s->user_function, y->user_function);
	if (!order && s->user_line != y->user_line)
		order = s->user_line < y->user_line ? -1 : 1;
	return order;
}

static int by_name(const void *a, const void *b)
{
	const struct nm_result_object *o = *(const struct nm_result_object *const *)a,
				      *y = *(const struct nm_result_object *const *)b;

	return compare_text(o->name, y->name);
}

/* For each of `count` elements of `size` bytes, the index of one of those that are equal to it; malloc'ed,
 * NULL: out of memory. */
static uint32_t *find_firsts(const void *elements, size_t count, size_t size,
			     int (*compare)(const void *, const void *))
{
	const char *const base = elements;
	const char **list = malloc((count + 1) * sizeof *list);
	uint32_t *firsts = malloc((count + 1) * sizeof *firsts);

	for (size_t i = 0; list && i < count; i++)
		list[i] = base + i * size;
	if (list)
		qsort(list, count, sizeof *list, compare);
	for (size_t i = 0, first = 0; list && firsts && i < count; i++) {
		if (compare(&list[i], &list[first]))
			first = i;
		firsts[(size_t)(list[i] - base) / size] = (uint32_t)((size_t)(list[first] - base) / size);
	}
	if (!list) {
		free(firsts);
		firsts = NULL;
	}
	free(list);
	return firsts;
}

static int find_same(struct timeline *t)
{
	const struct nm_result *r = t->result;

	t->same[OBJECTS] = find_firsts(r->objects, r->object_count, sizeof *r->objects, by_name);
	t->same[SITES] = find_firsts(r->sites, r->site_count, sizeof *r->sites, by_line);
	return t->same[OBJECTS] && t->same[SITES] ? 0 : NM_ENOMEM;
}

/* ---- tallies ---- */

static int make_tally(struct timeline *t, unsigned kind, size_t rows)
{
	struct tally *tally = &t->tallies[kind];
	const size_t cells = (rows + 1) * t->intervals->levels;

	assert(kind < KINDS);
	*tally = (struct tally){.sums = calloc(rows + 1, sizeof *tally->sums),
				.touched = malloc((rows + 1) * sizeof *tally->touched),
				.rows = rows};
	t->totals[kind] = calloc(cells, sizeof *t->totals[kind]);
	t->chosen[kind] = calloc(cells, sizeof *t->chosen[kind]);
	return tally->sums && tally->touched && t->totals[kind] && t->chosen[kind] ? 0 : NM_ENOMEM;
}

static void clear_tally(struct tally *t)
{
	for (size_t i = 0; i < t->count; i++)
		t->sums[t->touched[i]] = (struct sums){0};
	t->count = 0;
}

static uint64_t sum_misses(const struct sums *s) { return s->read_misses + s->write_misses; }

static void add_to(struct tally *t, uint32_t whose, const struct nm_counts *c)
{
	struct sums *s = &t->sums[whose];

	if (!(sum_misses(s) + s->loads))
		t->touched[t->count++] = whose;
	s->read_misses += c->read_misses;
	s->write_misses += c->write_misses;
	s->loads += c->loads;
}

/* The index that misses most; of equal ones the first; UINT32_MAX: none misses. */
static uint32_t tally_leader(const struct tally *t)
{
	uint32_t best = UINT32_MAX;

	for (size_t i = 0; i < t->count; i++) {
		const uint32_t whose = t->touched[i];
		const uint64_t mine = sum_misses(&t->sums[whose]),
			       most = best == UINT32_MAX ? 0 : sum_misses(&t->sums[best]);

		if (mine > most || (mine && mine == most && whose < best))
			best = whose;
	}
	return best;
}

/* Tallies the changes of a level, and adds them up; ret_fills: loads for reads, for writes. */
static void tally_level(struct timeline *t, struct nm_change_reader *reader, struct nm_counts *ret_sum,
			uint64_t ret_fills[2])
{
	const struct nm_result *r = t->result;

	*ret_sum = (struct nm_counts){0};
	ret_fills[0] = ret_fills[1] = 0;

	clear_tally(&t->tallies[OBJECTS]);
	clear_tally(&t->tallies[SITES]);
	while (nm_changes_next(reader)) {
		const uint32_t key = reader->change.key;
		const struct nm_counts c = nm_change_counts(&reader->change);
		const struct nm_result_attribution *attr = &r->attrs[t->merge->keys[key]];

		if (!nm_pass_counts_key(t->merge, r, key))
			continue;
		add_to(&t->tallies[OBJECTS], t->same[OBJECTS][attr->object], &c);
		add_to(&t->tallies[SITES], t->same[SITES][attr->site], &c);
		nm_counts_add(ret_sum, &c);
		ret_fills[0] += reader->change.counts[NM_CHANGE_READS];
		ret_fills[1] += reader->change.counts[NM_CHANGE_WRITES];
	}
}

/* ---- which are listed by interval ---- */

static void add_totals(struct timeline *t, unsigned level)
{
	for (unsigned kind = 0; kind < KINDS; kind++) {
		const struct tally *tally = &t->tallies[kind];
		uint64_t *totals = t->totals[kind] + level * tally->rows;

		for (size_t k = 0; k < tally->count; k++)
			totals[tally->touched[k]] += sum_misses(&tally->sums[tally->touched[k]]);
	}
}

static int choose_entries(struct timeline *t, unsigned kind, unsigned level)
{
	const size_t rows = t->tallies[kind].rows;
	const uint64_t *totals = t->totals[kind] + level * rows;
	struct nm_keyed *list = malloc((rows + 1) * sizeof *list);

	assert(kind < KINDS);
	for (size_t i = 0; list && i < rows; i++)
		list[i] = (struct nm_keyed){~totals[i], i};
	if (!list || nm_sort_by_key(list, rows)) {
		free(list);
		return NM_ENOMEM;
	}
	for (size_t i = 0; i < rows && i < MOST_PARTS && totals[list[i].value]; i++)
		t->chosen[kind][level * rows + list[i].value] = 1;
	free(list);
	return 0;
}

/* ---- the result ---- */

static int put_part(struct timeline *t, struct nm_result_interval_part part)
{
	struct nm_result *r = t->result;

	if (r->interval_part_count == t->part_room) {
		const size_t room = t->part_room ? 2 * t->part_room : 256;
		void *more = realloc(r->interval_parts, room * sizeof *r->interval_parts);

		if (!more)
			return NM_ENOMEM;
		r->interval_parts = more;
		t->part_room = room;
	}
	r->interval_parts[r->interval_part_count++] = part;
	return 0;
}

static int put_parts(struct timeline *t, size_t interval, unsigned level, unsigned kind)
{
	const struct tally *tally = &t->tallies[kind];
	const uint8_t *chosen = t->chosen[kind] + level * tally->rows;

	assert(kind < KINDS);
	for (uint32_t whose = 0; whose < tally->rows; whose++) {
		const struct sums *s = &tally->sums[whose];

		if (chosen[whose] && sum_misses(s) + s->loads &&
		    put_part(t, (struct nm_result_interval_part){.interval = (uint32_t)interval,
								 .whose = whose,
								 .level = (uint8_t)level,
								 .of_site = kind == SITES,
								 .read_misses = s->read_misses,
								 .write_misses = s->write_misses,
								 .loads = s->loads}))
			return NM_ENOMEM;
	}
	return 0;
}

/* The first time that an interval is read, sums are made; the second time, the result. */
static int read_interval(struct timeline *t, size_t i, int second)
{
	const struct nm_interval *from = &t->intervals->list.at[i];
	const unsigned count = t->intervals->levels;
	struct nm_result_interval_level *levels = &t->result->interval_levels[i * count];
	struct nm_change_reader reader = nm_changes_read(from);
	uint64_t refs[NM_MAX_LEVELS][2], fills[2];
	int status = 0;

	memcpy(refs, from->refs, sizeof refs);
	for (unsigned level = 0; level < count && !status; level++) {
		const int next = t->intervals->next[level];

		if (level)
			nm_changes_next_level(&reader);
		tally_level(t, &reader, &levels[level].counts, fills);
		levels[level].counts.reads = refs[level][0];
		levels[level].counts.writes = refs[level][1];
		levels[level].object = tally_leader(&t->tallies[OBJECTS]);
		levels[level].site = tally_leader(&t->tallies[SITES]);
		assert(next < 0 || next > (int)level);
		for (unsigned k = 0; k < 2 && next >= 0; k++)
			refs[next][k] += fills[k];
		if (!second)
			add_totals(t, level);
		for (unsigned kind = 0; kind < KINDS && second && !status; kind++)
			status = put_parts(t, i, level, kind);
	}
	return status;
}

static int read_all(struct timeline *t, int second)
{
	int status = 0;

	for (size_t i = 0; i < t->intervals->list.count && !status; i++)
		status = read_interval(t, i, second);
	return status;
}

/* Bytes that the first data level loads at once. */
static uint32_t unit_of(const struct nm_machine *machine)
{
	const struct nm_level_spec *first = nm_machine_data_cache(machine);

	return first ? nm_level_unit(first) : 0;
}

static int make_timeline(struct timeline *t)
{
	const struct nm_intervals *v = t->intervals;
	struct nm_result *r = t->result;

	r->intervals = calloc(v->list.count + 1, sizeof *r->intervals);
	r->interval_levels = calloc(v->list.count * v->levels + 1, sizeof *r->interval_levels);
	if (!r->intervals || !r->interval_levels || find_same(t) || make_tally(t, OBJECTS, r->object_count) ||
	    make_tally(t, SITES, r->site_count))
		return NM_ENOMEM;
	r->interval_count = v->list.count;
	for (size_t i = 0; i < v->list.count; i++) {
		const struct nm_interval *from = &v->list.at[i];

		r->intervals[i] = (struct nm_result_interval){
		    .begin = from->begin,
		    .instructions = from->end - from->begin,
		    .working_set = (uint64_t)(nm_sketch_count(from->sketch) + 0.5) * unit_of(&r->machine)};
	}
	if (read_all(t, 0))
		return NM_ENOMEM;
	for (unsigned level = 0; level < v->levels; level++)
		for (unsigned kind = 0; kind < KINDS; kind++)
			if (choose_entries(t, kind, level))
				return NM_ENOMEM;
	return read_all(t, 1);
}

int nm_intervals_finish(const struct nm_intervals *i, const struct nm_pass_merge *merge,
			struct nm_result *result)
{
	struct timeline t = {.intervals = i, .merge = merge, .result = result};
	const struct nm_level_spec *first = nm_machine_data_cache(&result->machine);
	int status = make_timeline(&t);

	if (!status && first)
		status = nm_intervals_find_phases(result, (unsigned)(first - result->machine.levels),
						  nm_program_phases(merge->program));
	for (unsigned kind = 0; kind < KINDS; kind++) {
		free(t.same[kind]);
		free(t.tallies[kind].sums);
		free(t.tallies[kind].touched);
		free(t.totals[kind]);
		free(t.chosen[kind]);
	}
	return status;
}
