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

/* The base of shares and rates. */
struct nm_metric_total {
	struct nm_metric_sums sum;
	int64_t instructions;
	int64_t unit; /* bytes per load of the level; 0: loads differ */
};

struct nm_metric {
	const char *name, *title;
	enum nm_metric_unit unit;
	unsigned flags;
	unsigned decimals;   /* of PERCENT and RATIO */
	unsigned drop_order; /* narrow text leaves out the highest first; 0: never */
	/* SQL over a ranked report's tables: c, the sums of a row (misses, lines and cycles too); t, those of
	 * all rows; p, instructions. NULL for TEXT. */
	const char *sql;
	/* The same in C, for annotations: */
	size_t offset; /* STORED: of the count in struct nm_metric_sums, unless `real` is set */
	int64_t (*integer)(const struct nm_metric_sums *sums);
	double (*real)(const struct nm_metric_sums *sums,
		       const struct nm_metric_total *total); /* NAN: none */
	const char *left, *right;                            /* EVENT: the two columns that it consists of, */
	char sign;                                           /* '+' or '-' */
	const char *help;
};

/* In the order of ranked reports; NULL behind the last. */
const struct nm_metric *nm_metric_at(unsigned i);
const struct nm_metric *nm_metric_named(const char *name); /* or NULL */

/* An ANNOTATED metric that has no `real`. */
int64_t nm_metric_integer(const struct nm_metric *metric, const struct nm_metric_sums *sums);

/* "count" or "bytes": the unit of an event of exports. */
const char *nm_metric_event_unit(const char *name);

#endif
