/* SPDX-License-Identifier: MIT
 *
 * verdict.h - how much of a run is likely spent waiting for memory: the first line of the summary.
 */
#ifndef NM_REPORT_VERDICT_H
#define NM_REPORT_VERDICT_H

#include "report_selection.h"
#include "table.h"

/* Shares are percent of the run. */
struct nm_verdict {
	int known;       /* there are instructions to compare with */
	int has_covered; /* else nothing is covered or overlaps, and `high` alone is known */
	double share, low, high;
	double cycles;     /* of the run, estimated; 0: not known */
	const char *level; /* whose misses cost most */
	int64_t threads;   /* of the process with most of them */
	/* The program's prefetches into the first level of data: percent of its misses that they save, of these
	 * percent that come late; 0: none is useful */
	double covered, late;
	const char *first; /* that level */
};

enum {
	NM_BOUND_FROM = 10, /* percent: below, a program is not memory-bound */
	NM_COVER_FROM = 1   /* percent that are worth a word */
};

int nm_verdict_make(struct nm_profile *profile, const struct nm_selection *selection,
		    struct nm_verdict *ret_verdict, struct nm_error *err);

/* Whether there is something to win. */
static inline int nm_verdict_is_bound(const struct nm_verdict *v)
{
	return !v->known || (v->has_covered ? v->share : v->high) >= NM_BOUND_FROM;
}

/* "about 46 % of the run (30 to 62 %) is memory stall, ..." */
void nm_verdict_write(const struct nm_verdict *verdict, FILE *out);

#endif
