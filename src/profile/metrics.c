/* SPDX-License-Identifier: MIT
 *
 * metrics.c - the catalogue: see metrics.h.
 */
#include "metrics.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- values ----------------------------------------------------------------------------------- */

/* factor * part / whole; NAN where the whole is 0. */
static double ratio(double factor, int64_t part, int64_t whole)
{
	return whole ? factor * (double)part / (double)whole : NAN;
}

static int64_t misses_of(const struct nm_metric_sums *s) { return s->read_misses + s->write_misses; }

/* ---- numbers ---- */

static int64_t references(const struct nm_metric_row *r) { return r->sums.reads + r->sums.writes; }
static int64_t misses(const struct nm_metric_row *r) { return misses_of(&r->sums); }
static int64_t last_misses(const struct nm_metric_row *r) { return r->last_misses; }
static int64_t cycles(const struct nm_metric_row *r) { return r->cycles; }
static int64_t wasted(const struct nm_metric_row *r) { return r->sums.loaded_bytes - r->sums.used_bytes; }

/* ---- real numbers ---- */

static double share(const struct nm_metric_row *r, const struct nm_metric_total *total)
{
	return ratio(100, misses(r), misses_of(&total->sum));
}

static double mpki(const struct nm_metric_row *r, const struct nm_metric_total *total)
{
	return ratio(1000, misses(r), total->instructions);
}

static double miss_ratio(const struct nm_metric_row *r, const struct nm_metric_total *total)
{
	(void)total;
	return ratio(100, misses(r), references(r));
}

static double reuse(const struct nm_metric_row *r, const struct nm_metric_total *total)
{
	(void)total;
	return ratio(1, r->sums.reuse, r->lines);
}

static double waste(const struct nm_metric_row *r, const struct nm_metric_total *total)
{
	(void)total;
	return ratio(100, wasted(r), r->sums.loaded_bytes);
}

static double use_by_access(const struct nm_metric_row *r, const struct nm_metric_total *total)
{
	const double accesses = (double)r->sums.reuse * (double)r->sums.loaded_bytes;

	(void)total;
	return accesses ? 100 * (double)r->sums.weighted_bytes * (double)r->lines / accesses : NAN;
}

static double cycles_share(const struct nm_metric_row *r, const struct nm_metric_total *total)
{
	return ratio(100, r->cycles, total->cycles);
}

static double run_share(const struct nm_metric_row *r, const struct nm_metric_total *total)
{
	const double run = (double)total->cycles + NM_CYCLES_PER_INSTRUCTION * (double)total->unrepeated;

	return run ? 100 * (double)r->cycles / run : NAN;
}

static double cycles_per_miss(const struct nm_metric_row *r, const struct nm_metric_total *total)
{
	(void)total;
	return ratio(1, r->cycles, misses(r));
}

static double misses_per_reuse(const struct nm_metric_row *r, const struct nm_metric_total *total)
{
	(void)total;
	return ratio((double)misses(r), r->lines, r->sums.reuse);
}

static double misses_by_waste(const struct nm_metric_row *r, const struct nm_metric_total *total)
{
	(void)total;
	return ratio((double)misses(r), wasted(r), r->sums.loaded_bytes);
}

/* ---- sums ---- */

struct nm_metric_sums nm_sums_of_row(const struct nm_rows *rows, unsigned column)
{
	struct nm_metric_sums sums;

#define NM_COUNT(name) sums.name = nm_rows_bounded(rows, column++);
#include "counts.def"
#undef NM_COUNT
	return sums;
}

void nm_sums_add(struct nm_metric_sums *to, const struct nm_metric_sums *more)
{
#define NM_COUNT(name) to->name = nm_sum_bounded(to->name, more->name);
#include "counts.def"
#undef NM_COUNT
}

/* ---- the table ---------------------------------------------------------------------------------- */

#define STORED(name_, unit_, help_)                                                                    \
	{                                                                                              \
		.name = #name_, .title = #name_, .unit = unit_, .flags = NM_METRIC_STORED | ANNOTATED, \
		.offset = offsetof(struct nm_metric_sums, name_), .help = help_                        \
	}

enum {
	ANNOTATED = NM_METRIC_ANNOTATED,
	SHOWN = NM_METRIC_TEXT_COLUMN,
	EVENT = NM_METRIC_EVENT,
};

static const struct nm_metric metrics[] = {
    {.name = "references",
     .title = "references",
     .unit = NM_METRIC_COUNT,
     .flags = EVENT | ANNOTATED,
     .integer = references,
     .left = "reads",
     .right = "writes",
     .sign = '+',
     .help = "loads and stores; at levels below the first, line fills asked for by the level above"},
    {.name = "misses",
     .title = "misses",
     .unit = NM_METRIC_COUNT,
     .flags = EVENT | ANNOTATED | SHOWN,
     .integer = misses,
     .left = "read_misses",
     .right = "write_misses",
     .sign = '+',
     .help = "references that missed"},
    {.name = "last_misses",
     .title = "last level",
     .unit = NM_METRIC_COUNT,
     .integer = last_misses,
     .help = "misses of the last level; memory serves them"},
    {.name = "share",
     .title = "share %",
     .unit = NM_METRIC_PERCENT,
     .flags = ANNOTATED | SHOWN,
     .decimals = 1,
     .real = share,
     .help = "part of all misses"},
    {.name = "mpki",
     .title = "MPKI",
     .unit = NM_METRIC_RATIO,
     .flags = ANNOTATED | SHOWN,
     .decimals = 2,
     .drop_order = 3,
     .real = mpki,
     .help = "misses per 1000 instructions of the selected processes"},
    {.name = "miss_ratio",
     .title = "ratio %",
     .unit = NM_METRIC_PERCENT,
     .flags = ANNOTATED | SHOWN,
     .decimals = 2,
     .drop_order = 7,
     .real = miss_ratio,
     .help = "misses per reference"},
    {.name = "class",
     .title = "class",
     .unit = NM_METRIC_TEXT,
     .flags = ANNOTATED | SHOWN,
     .drop_order = 4,
     .help = "the most frequent class of line fills, and its share (text only)"},
    STORED(cold, NM_METRIC_COUNT, "line fills: the first reference to the line in the run"),
    STORED(capacity, NM_METRIC_COUNT, "line fills that a fully associative cache of the same size needs too"),
    STORED(conflict, NM_METRIC_COUNT,
	   "line fills that a fully associative cache of the same size does not need"),
    STORED(coherence, NM_METRIC_COUNT, "line fills after another core had invalidated the line"),
    STORED(loads, NM_METRIC_COUNT, "line fills: cold + capacity + conflict + coherence"),
    {.name = "reuse",
     .title = "reuse",
     .unit = NM_METRIC_RATIO,
     .flags = NM_METRIC_STORED | ANNOTATED | SHOWN,
     .decimals = 1,
     .drop_order = 6,
     .real = reuse,
     .help = "accesses served by a line per load of it (as an event: the accesses)"},
    {.name = "waste",
     .title = "waste %",
     .unit = NM_METRIC_PERCENT,
     .flags = ANNOTATED | SHOWN,
     .decimals = 1,
     .drop_order = 2,
     .real = waste,
     .help = "part of the loaded bytes that was not used"},
    {.name = "use_by_access",
     .title = "use % by access",
     .unit = NM_METRIC_PERCENT,
     .decimals = 1,
     .real = use_by_access,
     .help = "part of its line that was used, averaged over accesses instead of lines"},
    {.name = "cycles",
     .title = "cycles",
     .unit = NM_METRIC_CYCLES,
     .flags = SHOWN,
     .drop_order = 5,
     .integer = cycles,
     .help = "estimate of the time that misses take (docs/cost.md)"},
    {.name = "cycles_share",
     .title = "cycles %",
     .unit = NM_METRIC_PERCENT,
     .decimals = 1,
     .real = cycles_share,
     .help = "part of all cycles"},
    {.name = "run_share",
     .title = "run %",
     .unit = NM_METRIC_PERCENT,
     .decimals = 1,
     .real = run_share,
     .help = "part of the run's estimated cycles"},
    {.name = "cycles_per_miss",
     .title = "cycles/miss",
     .unit = NM_METRIC_RATIO,
     .decimals = 1,
     .real = cycles_per_miss,
     .help = "cycles per miss"},
    {.name = "misses_per_reuse",
     .title = "misses/reuse",
     .unit = NM_METRIC_RATIO,
     .decimals = 1,
     .real = misses_per_reuse,
     .help = "misses divided by reuse: many misses on lines that serve few accesses"},
    {.name = "misses_by_waste",
     .title = "misses*waste",
     .unit = NM_METRIC_RATIO,
     .decimals = 1,
     .real = misses_by_waste,
     .help = "misses times waste: many misses on lines that are little used"},
    {.name = "wasted_bytes",
     .title = "wasted bytes",
     .unit = NM_METRIC_BYTES,
     .flags = EVENT | ANNOTATED,
     .integer = wasted,
     .left = "loaded_bytes",
     .right = "used_bytes",
     .sign = '-',
     .help = "bytes loaded and not used"},
    STORED(reads, NM_METRIC_COUNT, "references that read"),
    STORED(writes, NM_METRIC_COUNT, "references that write"),
    STORED(read_misses, NM_METRIC_COUNT, "reads that missed"),
    STORED(write_misses, NM_METRIC_COUNT, "writes that missed"),
    STORED(used_bytes, NM_METRIC_BYTES, "distinct bytes used of the loaded lines while they were resident"),
    STORED(loaded_bytes, NM_METRIC_BYTES, "bytes of the loaded lines"),
    STORED(evictions, NM_METRIC_COUNT, "lines loaded here that were replaced"),
    STORED(writebacks, NM_METRIC_COUNT, "of the evictions, dirty lines that were written back"),
    {.name = "weighted_bytes",
     .title = "weighted_bytes",
     .unit = NM_METRIC_BYTES,
     .flags = NM_METRIC_STORED,
     .offset = offsetof(struct nm_metric_sums, weighted_bytes),
     .help = "bytes used of each line, times the accesses that it served"},
    {.name = "covered",
     .title = "covered",
     .unit = NM_METRIC_COUNT,
     .flags = NM_METRIC_STORED,
     .offset = offsetof(struct nm_metric_sums, covered),
     .help = "of the loads, those that the machine's prefetchers would have made ahead"},
    {.name = "dependent",
     .title = "dependent",
     .unit = NM_METRIC_COUNT,
     .flags = NM_METRIC_STORED,
     .offset = offsetof(struct nm_metric_sums, dependent),
     .help = "of the other loads, those whose address waits for the load before (an estimate)"},
    {.name = "page_walks",
     .title = "page_walks",
     .unit = NM_METRIC_COUNT,
     .flags = NM_METRIC_STORED,
     .offset = offsetof(struct nm_metric_sums, page_walks),
     .help = "of the loads that are not covered, those whose page of 4K the TLB did not have"},
};

const struct nm_metric *nm_metric_at(unsigned i)
{
	return i < sizeof metrics / sizeof *metrics ? &metrics[i] : NULL;
}

const struct nm_metric *nm_metric_named(const char *name)
{
	for (unsigned i = 0; i < sizeof metrics / sizeof *metrics; i++)
		if (!strcmp(metrics[i].name, name))
			return &metrics[i];
	return NULL;
}

int64_t nm_metric_number(const struct nm_metric *m, const struct nm_metric_row *row)
{
	assert(!m->real && m->unit != NM_METRIC_TEXT);
	return m->integer ? m->integer(row) : *(const int64_t *)((const char *)&row->sums + m->offset);
}

int64_t nm_metric_integer(const struct nm_metric *m, const struct nm_metric_sums *sums)
{
	const struct nm_metric_row row = {.sums = *sums};

	assert(m->flags & NM_METRIC_ANNOTATED);
	return nm_metric_number(m, &row);
}

double nm_metric_value(const struct nm_metric *m, const struct nm_metric_row *row,
		       const struct nm_metric_total *total)
{
	return m->real ? m->real(row, total) : (double)nm_metric_number(m, row);
}

const char *nm_metric_event_unit(const char *name)
{
	const struct nm_metric *m = nm_metric_named(name);

	return m && m->unit == NM_METRIC_BYTES ? "bytes" : "count";
}
