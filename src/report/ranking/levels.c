/* SPDX-License-Identifier: MIT
 *
 * levels.c - see levels.h: the cost model.
 *
 * A reference that misses waits for the level that has the line. A level's hits are its references less its
 * misses, and the references of every level after the first are the misses of the one before, charged to the
 * same line of code and object. So the cost of the misses of a level is a weighted sum of the counts of the
 * levels behind it: hits times the latency of the level, and misses of the last level times that of memory.
 * Hits of the first level cost nothing, because processors overlap them with other work, unless the user
 * gives that level a latency.
 *
 * On machines with coverage, a load waits its latency only if it is dependent, that is, if its address depends
 * on the load before it. The processor has other work meanwhile for a load that is not: that hides its first
 * cycles, and what is left is waited for together with other such loads. A covered load waits a part of that, at
 * most the transfer of its line, and a line that is written back at most as much. A page walk adds its cycles to a
 * dependent load, and a part of them to others, where the machine has a TLB. Each miss of a further level adds the
 * difference of two waits. docs/cost.md has the accuracy of these rules.
 *
 * Latencies come from the user, else from the machine's SPEC, else from the level's distance from the
 * processor: round figures within what is published for servers and desktops of the last ten years (second
 * level 11 to 14 cycles, third 40 to 77, memory 60 to 90 ns).
 */
#include "levels.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "metrics.h"

static const int64_t by_distance[] = {0, 14, 50, 80};
enum { MEMORY = 200, WALK = 35 };

/* Of an instruction: of loops on data that fit the first level. Of loads: docs/evaluation/cost.md. */
const struct nm_waiting nm_waiting[NM_CASES] = {
    [NM_LIKELY] = {.per_instruction = NM_CYCLES_PER_INSTRUCTION,
		   .dependent = 1,
		   .hidden = 12,
		   .together = 12,
		   .covered = 0.5,
		   .transfer = 5,
		   .walk = 0.125},
    [NM_LEAST] = {.per_instruction = 0.6,
		  .dependent = 0.2,
		  .hidden = 20,
		  .together = 28,
		  .covered = 0.1,
		  .transfer = 0.5,
		  .walk = 0.06,
		  .first = 5,
		  .scattered = 1},
    [NM_MOST] = {.per_instruction = 0.15,
		 .dependent = 1.1,
		 .hidden = 8,
		 .together = 5,
		 .covered = 1,
		 .transfer = 8,
		 .walk = 0.3,
		 .written = 1},
};

struct nm_waits nm_waits_of(enum nm_case which, double latency)
{
	const struct nm_waiting *w = &nm_waiting[which];
	const double together = fmax(latency - w->hidden, 0) / w->together;

	assert(which < NM_CASES);
	return (struct nm_waits){.dependent = latency * w->dependent,
				 .together = together,
				 .covered = fmin(together * w->covered, w->transfer)};
}

/* Whether what misses `from` asks `to` next or later. */
static int is_behind(const struct nm_levels *levels, unsigned from, unsigned to)
{
	return to > from && nm_machine_same(levels->at[to].name, levels->at[from].name) &&
	       (levels->at[to].side == NM_LEVEL_UNIFIED || levels->at[to].side == levels->at[from].side);
}

/* Levels between the processor and this one. */
static unsigned level_distance(const struct nm_levels *levels, unsigned level)
{
	unsigned i, data = 0, code = 0;

	for (i = 0; i < level; i++) {
		if (!is_behind(levels, i, level))
			continue;
		data += levels->at[i].side != NM_LEVEL_CODE;
		code += levels->at[i].side != NM_LEVEL_DATA;
	}
	return data > code ? data : code;
}

const struct nm_level *nm_levels_named(const struct nm_levels *levels, const char *name)
{
	unsigned i;

	for (i = 0; i < levels->count; i++)
		if (!strcmp(levels->at[i].name, name))
			return &levels->at[i];
	return NULL;
}

const struct nm_level *nm_levels_last(const struct nm_levels *levels, const struct nm_level *level)
{
	unsigned i = levels->count - 1;

	assert(level >= levels->at && level <= &levels->at[i]);
	while (!nm_machine_same(levels->at[i].name, level->name))
		i--;
	return &levels->at[i];
}

static int fail_unknown_level(const struct nm_levels *levels, const char *text, size_t at, size_t n,
			      struct nm_error *err)
{
	char list[300] = "";
	size_t used = 0;
	unsigned i;

	for (i = 0; i < levels->count && used < sizeof list; i++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s, ", levels->at[i].name);
	return nm_fail_at(err, text, (int)at, "no level \"%.*s\" in the profile; it has %s%smemory", (int)n,
			  text + at, list, levels->walk ? "walk and " : "and ");
}

/* "NAME=CYCLES,...". */
static int take_latencies(struct nm_levels *levels, const char *text, struct nm_error *err)
{
	const char *at = text;

	while (*at) {
		size_t n = strcspn(at, "=,"), digits;
		const char *name = nm_intern_n(&levels->pool, at, n), *figure = at + n + 1;
		struct nm_level *level;
		int64_t *to;

		if (!name)
			return nm_fail_memory(err);
		level = (struct nm_level *)nm_levels_named(levels, name);
		to = level                                   ? &level->latency
		     : !strcmp(name, "memory")               ? &levels->memory
		     : levels->walk && !strcmp(name, "walk") ? &levels->walk
							     : NULL;
		if (!to)
			return fail_unknown_level(levels, text, (size_t)(at - text), n, err);
		if (at[n] != '=')
			return nm_fail_at(err, text, (int)(at + n - text),
					  "a latency is LEVEL=CYCLES, e.g. L2=14");
		digits = strspn(figure, "0123456789");
		if (!digits || digits > 7 || atol(figure) > NM_MAX_LATENCY ||
		    (figure[digits] && figure[digits] != ','))
			return nm_fail_at(err, text, (int)(figure - text),
					  "a latency is a number of cycles, at most %d", NM_MAX_LATENCY);
		*to = atol(figure);
		at = figure + digits + (figure[digits] == ',');
	}
	return 0;
}

static int take_level(struct nm_levels *levels, struct nm_rows *rows)
{
	struct nm_level *level = &levels->at[levels->count];
	const char *side = nm_rows_text(rows, 1);
	unsigned n;

	assert(levels->count < NM_REPORT_LEVELS);
	level->name = nm_intern(&levels->pool, nm_rows_text(rows, 0) ? nm_rows_text(rows, 0) : "");
	level->side = !side || !strcmp(side, "unified") ? NM_LEVEL_UNIFIED
		      : !strcmp(side, "data")           ? NM_LEVEL_DATA
							: NM_LEVEL_CODE;
	level->size = nm_rows_bounded(rows, 2);
	level->line_size = nm_rows_bounded(rows, 3);
	level->way = nm_rows_bounded(rows, 4) * level->line_size;
	n = level_distance(levels, levels->count++);
	level->latency = by_distance[n < 3 ? n : 3];
	return level->name ? 0 : NM_ENOMEM;
}

/* Bytes that level i loads at once, if it or one that asks it prefetches. */
static int64_t unit_of(const struct nm_machine *machine, unsigned i)
{
	const struct nm_level_spec *l = &machine->levels[i];

	for (unsigned j = 0; j <= i; j++)
		if (machine->levels[j].prefetch && nm_machine_same(machine->levels[j].name, l->name))
			return nm_level_unit(l);
	return 0;
}

/* Takes latencies and units from the SPEC of the machine, if it is one. */
static int take_machine(struct nm_levels *levels, struct nm_profile *profile, struct nm_error *err)
{
	struct nm_machine machine = {.count = 0};
	struct nm_rows *rows = NULL;
	unsigned i, j;
	int status =
	    nm_profile_query(profile, "SELECT value FROM info WHERE key = 'machine_spec'", &rows, err);

	if (!status)
		status = nm_rows_next(rows, err);
	if (status > 0 && nm_rows_text(rows, 0) && !nm_machine_parse(nm_rows_text(rows, 0), &machine, NULL)) {
		for (i = 0; i < machine.count; i++)
			for (j = 0; j < levels->count; j++) {
				if (strcmp(machine.levels[i].name, levels->at[j].name))
					continue;
				levels->at[j].unit = unit_of(&machine, i);
				if (machine.levels[i].latency)
					levels->at[j].latency = machine.levels[i].latency;
			}
		levels->has_covered = machine.prefetchers != 0;
		if (machine.tlb)
			levels->walk = machine.walk_latency ? machine.walk_latency : WALK;
		if (machine.memory_latency)
			levels->memory = machine.memory_latency;
	}
	nm_rows_free(rows);
	return status > 0 ? 0 : status;
}

int nm_levels_load(struct nm_levels *levels, struct nm_profile *profile, const char *latency,
		   struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile, "SELECT level, side, size, line_size, sets FROM levels GROUP BY level ORDER BY position",
	    &rows, err);

	levels->memory = MEMORY;
	while (!status && levels->count < NM_REPORT_LEVELS && (status = nm_rows_next(rows, err)) > 0)
		status = take_level(levels, rows) ? nm_fail_memory(err) : 0;
	nm_rows_free(rows);
	if (!status)
		status = take_machine(levels, profile, err);
	if (!status && latency)
		status = take_latencies(levels, latency, err);
	return status;
}

void nm_levels_done(struct nm_levels *levels) { nm_strings_done(&levels->pool); }

int nm_levels_split(const struct nm_levels *levels)
{
	for (unsigned i = 0; i < levels->count; i++)
		if (levels->at[i].side == NM_LEVEL_CODE)
			return 1;
	return 0;
}

/* Whether the counts of level i say which loads are covered: those of the first machine do. */
static int level_has_covered(const struct nm_levels *levels, unsigned i)
{
	return levels->has_covered && nm_machine_same(levels->at[0].name, levels->at[i].name);
}

int64_t nm_levels_next_latency(const struct nm_levels *levels, const struct nm_level *level)
{
	const unsigned from = (unsigned)(level - levels->at);

	assert(from < levels->count);
	for (unsigned k = from + 1; k < levels->count; k++)
		if (is_behind(levels, from, k))
			return levels->at[k].latency;
	return levels->memory;
}

struct nm_waits nm_levels_waits(const struct nm_levels *levels, const struct nm_level *level,
				const struct nm_level *source, enum nm_case which)
{
	struct nm_waits w = nm_waits_of(which, (double)nm_levels_next_latency(levels, source));

	assert(level <= source);
	if (!level_has_covered(levels, (unsigned)(level - levels->at)))
		return (struct nm_waits){.dependent = 0};
	if (source == level) {
		w.dependent_walk = (double)levels->walk * fmin(nm_waiting[which].dependent, 1);
		w.walk = (double)levels->walk * nm_waiting[which].walk;
	} else {
		const struct nm_waits served = nm_waits_of(which, (double)source->latency);

		w.dependent -= served.dependent;
		w.together -= served.together;
		w.covered -= served.covered;
	}
	return w;
}

/* Whether only code of a unified level counts for a level of code, and only data for one of data. */
static enum nm_charged_side charged_side(const struct nm_levels *levels, const struct nm_level *level,
					 const struct nm_level *source)
{
	int split = 0;

	for (unsigned k = 0; k < levels->count; k++)
		split |=
		    levels->at[k].side == NM_LEVEL_CODE && nm_machine_same(levels->at[k].name, level->name);
	if (!split || level->side == NM_LEVEL_UNIFIED || source->side != NM_LEVEL_UNIFIED)
		return NM_CHARGED_BOTH;
	return level->side == NM_LEVEL_CODE ? NM_CHARGED_CODE : NM_CHARGED_DATA;
}

int nm_levels_charge(const struct nm_levels *levels, unsigned i, unsigned j, struct nm_charge *ret)
{
	const int told = level_has_covered(levels, i);
	int last = 1;

	assert(i < levels->count && j < levels->count);
	if (i != j && !is_behind(levels, i, j))
		return 0;
	for (unsigned k = 0; k < levels->count; k++)
		last &= !is_behind(levels, j, k);
	*ret =
	    (struct nm_charge){.is_own = i == j,
			       .side = charged_side(levels, &levels->at[i], &levels->at[j]),
			       .waits = nm_levels_waits(levels, &levels->at[i], &levels->at[j], NM_LIKELY)};
	if (i == j ? !level_distance(levels, i) : !told)
		ret->hit = levels->at[j].latency;
	if (last && !told)
		ret->miss = levels->memory;
	return 1;
}

double nm_dependent_walks(const struct nm_metric_sums *cell)
{
	const int64_t uncovered = cell->loads - cell->covered;

	return uncovered ? (double)cell->page_walks * (double)cell->dependent / (double)uncovered : 0;
}

double nm_charge_cycles(const struct nm_charge *charge, const struct nm_metric_sums *sums,
			double dependent_walks)
{
	const struct nm_waits *w = &charge->waits;
	const int64_t misses = sums->read_misses + sums->write_misses;
	const int64_t hits = sums->reads + sums->writes - misses;

	return (double)charge->hit * (double)hits + (double)charge->miss * (double)misses +
	       w->dependent * (double)sums->dependent +
	       w->together * (double)(sums->loads - sums->dependent - sums->covered) +
	       w->covered * (double)sums->covered + w->walk * (double)sums->page_walks +
	       (w->dependent_walk - w->walk) * dependent_walks;
}
