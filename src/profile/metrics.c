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

static int64_t references(const struct nm_metric_sums *s) { return s->reads + s->writes; }
static int64_t misses(const struct nm_metric_sums *s) { return s->read_misses + s->write_misses; }
static int64_t wasted(const struct nm_metric_sums *s) { return s->loaded_bytes - s->used_bytes; }

static double share(const struct nm_metric_sums *s, const struct nm_metric_total *total)
{
	return ratio(100, misses(s), misses(&total->sum));
}

static double mpki(const struct nm_metric_sums *s, const struct nm_metric_total *total)
{
	return ratio(1000, misses(s), total->instructions);
}

static double miss_ratio(const struct nm_metric_sums *s, const struct nm_metric_total *total)
{
	(void)total;
	return ratio(100, misses(s), references(s));
}

static double reuse(const struct nm_metric_sums *s, const struct nm_metric_total *total)
{
	return ratio(1, s->reuse, total->unit ? s->loaded_bytes / total->unit : s->loads);
}

static double waste(const struct nm_metric_sums *s, const struct nm_metric_total *total)
{
	(void)total;
	return ratio(100, wasted(s), s->loaded_bytes);
}

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
		.sql = "c." #name_, .offset = offsetof(struct nm_metric_sums, name_), .help = help_    \
	}

enum {
	ANNOTATED = NM_METRIC_ANNOTATED,
	SHOWN = NM_METRIC_TEXT_COLUMN,
	EVENT = NM_METRIC_EVENT,
};

#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)

static const struct nm_metric metrics[] = {
    {.name = "references",
     .title = "references",
     .unit = NM_METRIC_COUNT,
     .flags = EVENT | ANNOTATED,
     .sql = "c.reads + c.writes",
     .integer = references,
     .left = "reads",
     .right = "writes",
     .sign = '+',
     .help = "loads and stores; at levels below the first, line fills asked for by the level above"},
    {.name = "misses",
     .title = "misses",
     .unit = NM_METRIC_COUNT,
     .flags = EVENT | ANNOTATED | SHOWN,
     .sql = "c.misses",
     .integer = misses,
     .left = "read_misses",
     .right = "write_misses",
     .sign = '+',
     .help = "references that missed"},
    {.name = "last_misses",
     .title = "last level",
     .unit = NM_METRIC_COUNT,
     .sql = "c.last_misses",
     .help = "misses of the last level; memory serves them"},
    {.name = "share",
     .title = "share %",
     .unit = NM_METRIC_PERCENT,
     .flags = ANNOTATED | SHOWN,
     .decimals = 1,
     .sql = "100.0 * c.misses / nullif(t.misses, 0)",
     .real = share,
     .help = "part of all misses"},
    {.name = "mpki",
     .title = "MPKI",
     .unit = NM_METRIC_RATIO,
     .flags = ANNOTATED | SHOWN,
     .decimals = 2,
     .drop_order = 3,
     .sql = "1000.0 * c.misses / nullif(p.instructions, 0)",
     .real = mpki,
     .help = "misses per 1000 instructions of the selected processes"},
    {.name = "miss_ratio",
     .title = "ratio %",
     .unit = NM_METRIC_PERCENT,
     .flags = ANNOTATED | SHOWN,
     .decimals = 2,
     .drop_order = 7,
     .sql = "100.0 * c.misses / nullif(c.reads + c.writes, 0)",
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
     .sql = "1.0 * c.reuse / nullif(c.lines, 0)",
     .real = reuse,
     .help = "accesses served by a line per load of it (as an event: the accesses)"},
    {.name = "waste",
     .title = "waste %",
     .unit = NM_METRIC_PERCENT,
     .flags = ANNOTATED | SHOWN,
     .decimals = 1,
     .drop_order = 2,
     .sql = "100.0 - 100.0 * c.used_bytes / nullif(c.loaded_bytes, 0)",
     .real = waste,
     .help = "part of the loaded bytes that was not used"},
    {.name = "use_by_access",
     .title = "use % by access",
     .unit = NM_METRIC_PERCENT,
     .decimals = 1,
     .sql = "100.0 * c.weighted_bytes * c.lines / nullif(1.0 * c.reuse * c.loaded_bytes, 0)",
     .help = "part of its line that was used, averaged over accesses instead of lines"},
    {.name = "cycles",
     .title = "cycles",
     .unit = NM_METRIC_CYCLES,
     .flags = SHOWN,
     .drop_order = 5,
     .sql = "c.cycles",
     .help = "estimate of the time that misses take (docs/cost.md)"},
    {.name = "cycles_share",
     .title = "cycles %",
     .unit = NM_METRIC_PERCENT,
     .decimals = 1,
     .sql = "100.0 * c.cycles / nullif(t.cycles, 0)",
     .help = "part of all cycles"},
    {.name = "run_share",
     .title = "run %",
     .unit = NM_METRIC_PERCENT,
     .decimals = 1,
     .sql = "100.0 * c.cycles / nullif(t.cycles + " TEXT_OF(NM_CYCLES_PER_INSTRUCTION) " * p.unrepeated, 0)",
     .help = "part of the run's estimated cycles"},
    {.name = "cycles_per_miss",
     .title = "cycles/miss",
     .unit = NM_METRIC_RATIO,
     .decimals = 1,
     .sql = "1.0 * c.cycles / nullif(c.misses, 0)",
     .help = "cycles per miss"},
    {.name = "misses_per_reuse",
     .title = "misses/reuse",
     .unit = NM_METRIC_RATIO,
     .decimals = 1,
     .sql = "1.0 * c.misses * c.lines / nullif(c.reuse, 0)",
     .help = "misses divided by reuse: many misses on lines that serve few accesses"},
    {.name = "misses_by_waste",
     .title = "misses*waste",
     .unit = NM_METRIC_RATIO,
     .decimals = 1,
     .sql = "c.misses * (1.0 - 1.0 * c.used_bytes / nullif(c.loaded_bytes, 0))",
     .help = "misses times waste: many misses on lines that are little used"},
    {.name = "wasted_bytes",
     .title = "wasted bytes",
     .unit = NM_METRIC_BYTES,
     .flags = EVENT | ANNOTATED,
     .sql = "c.loaded_bytes - c.used_bytes",
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
     .sql = "c.weighted_bytes",
     .help = "bytes used of each line, times the accesses that it served"},
    {.name = "foreseen",
     .title = "foreseen",
     .unit = NM_METRIC_COUNT,
     .flags = NM_METRIC_STORED,
     .sql = "c.foreseen",
     .help = "of the loads, those that the machine's prefetchers would have made ahead"},
    {.name = "chained",
     .title = "chained",
     .unit = NM_METRIC_COUNT,
     .flags = NM_METRIC_STORED,
     .sql = "c.chained",
     .help = "of the other loads, those whose address waits for the load before (an estimate)"},
    {.name = "page_walks",
     .title = "page_walks",
     .unit = NM_METRIC_COUNT,
     .flags = NM_METRIC_STORED,
     .sql = "c.page_walks",
     .help = "of the loads that are not foreseen, those whose page of 4K the TLB did not have"},
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

int64_t nm_metric_integer(const struct nm_metric *m, const struct nm_metric_sums *sums)
{
	assert(m->flags & NM_METRIC_ANNOTATED && !m->real && m->unit != NM_METRIC_TEXT);
	return m->integer ? m->integer(sums) : *(const int64_t *)((const char *)sums + m->offset);
}

const char *nm_metric_event_unit(const char *name)
{
	const struct nm_metric *m = nm_metric_named(name);

	return m && m->unit == NM_METRIC_BYTES ? "bytes" : "count";
}
