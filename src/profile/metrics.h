/* SPDX-License-Identifier: MIT
 *
 * metrics.h - the catalogue of metrics: every sum or ratio of counts that reports, annotations and exports
 * can show.
 *
 * A metric is one row in metrics.c. Its name is the column in CSV and JSON, the event in exports, and the
 * argument of --sort and --columns; docs/format/metrics.md lists them (a test compares). The counts
 * themselves are in counts.def.
 */
#ifndef NM_METRICS_H
#define NM_METRICS_H

/* Cycles that an instruction takes in a program that does not miss (docs/cost.md). */
#define NM_CYCLES_PER_INSTRUCTION 0.3

#include <stddef.h>
#include <stdint.h>

#include "reader.h"

enum nm_metric_unit {
	NM_METRIC_COUNT,
	NM_METRIC_BYTES,
	NM_METRIC_PERCENT,
	NM_METRIC_RATIO, /* a real number */
	NM_METRIC_CYCLES,
	NM_METRIC_TEXT /* composed of other metrics by the report that shows it */
};

/* Where a metric is available, beside ranked reports: bits. */
enum {
	NM_METRIC_STORED = 1,      /* a column of the view `counts`: also an event of exports */
	NM_METRIC_EVENT = 2,       /* exported although it is derived */
	NM_METRIC_ANNOTATED = 4,   /* a column of annotations, which compute it in C (except TEXT) */
	NM_METRIC_TEXT_COLUMN = 8, /* shown in text by default */
};

/* Sums over some rows of the view. */
struct nm_metric_sums {
#define NM_COUNT(name) int64_t name;
#include "counts.def"
#undef NM_COUNT
};

enum { NM_COUNTS = sizeof(struct nm_metric_sums) / sizeof(int64_t) };

/* The sum of two sums, which stays within +-2^60: only those of a damaged profile are greater. */
static inline int64_t nm_sum_bounded(int64_t a, int64_t b)
{
	const int64_t bound = (int64_t)1 << 60, sum = a + b;

	return sum > bound ? bound : sum < -bound ? -bound : sum;
}

/* The counts of a query's row, from a column on. */
struct nm_metric_sums nm_sums_of_row(const struct nm_rows *rows, unsigned first);

void nm_sums_add(struct nm_metric_sums *to, const struct nm_metric_sums *more);

/* What a metric is computed of: sums over some rows of the view, and what reports add at their level. */
struct nm_metric_row {
	struct nm_metric_sums sums;
	int64_t lines;       /* that were filled, prefetched ones too */
	int64_t last_misses; /* of the last level */
	int64_t cycles;      /* that the misses take, estimated */
};

/* The base of shares and rates. */
struct nm_metric_total {
	struct nm_metric_sums sum;
	int64_t cycles;
	int64_t instructions, unrepeated; /* unrepeated: without repetitions of string instructions */
	int64_t unit;                     /* bytes of a fill of the level; 0: fills differ */
};

/* Of sums, where only these and the unit are known. */
static inline struct nm_metric_row nm_metric_row_of(const struct nm_metric_sums *sums, int64_t unit)
{
	return (struct nm_metric_row){.sums = *sums, .lines = unit ? sums->loaded_bytes / unit : sums->loads};
}

struct nm_metric {
	const char *name, *title;
	enum nm_metric_unit unit;
	unsigned flags;
	unsigned decimals;   /* of PERCENT and RATIO */
	unsigned drop_order; /* narrow text leaves out the highest first; 0: never */
	/* Of three kinds: one of the counts (offset in struct nm_metric_sums), a number, or a real number (NAN:
	 * there is none). TEXT has none of them. */
	size_t offset;
	int64_t (*integer)(const struct nm_metric_row *row);
	double (*real)(const struct nm_metric_row *row, const struct nm_metric_total *total);
	const char *left, *right; /* EVENT: the two columns that it consists of, */
	char sign;                /* '+' or '-' */
	const char *help;
};

/* In the order of ranked reports; NULL behind the last. */
const struct nm_metric *nm_metric_at(unsigned i);
const struct nm_metric *nm_metric_named(const char *name); /* or NULL */

/* Of a metric that is neither TEXT nor real; the second of one that needs no more than sums. */
int64_t nm_metric_number(const struct nm_metric *metric, const struct nm_metric_row *row);
int64_t nm_metric_integer(const struct nm_metric *metric, const struct nm_metric_sums *sums);
/* Of a metric that is not TEXT, as far as its row has what it needs. */
double nm_metric_value(const struct nm_metric *metric, const struct nm_metric_row *row,
		       const struct nm_metric_total *total);

/* "count" or "bytes": the unit of an event of exports. */
const char *nm_metric_event_unit(const char *name);

#endif
