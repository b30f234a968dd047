/* SPDX-License-Identifier: MIT
 *
 * evictions.h - who evicts whom from a level: the matrix of objects, and the lines of code of a pair.
 */
#ifndef NM_REPORT_EVICTIONS_H
#define NM_REPORT_EVICTIONS_H

#include "report.h"

struct nm_evictions_request {
	const char *level;   /* NULL: the first level that takes data */
	const char *process; /* NULL: all */
	/* Objects: a name, or a pattern with *, ? and [...]. Without both, the matrix is shown, else the
	 * lines. */
	const char *evictor, *victim;
	const char *function; /* only evictions by lines of this one, or of a pattern; NULL: by all */
	const char
	    *sort;     /* of the matrix: "lost", "took" or "self"; else a column; NULL: lost, count, lines */
	int64_t limit; /* objects of the matrix, lines or sets; 0: all; -1: as many as usual */
	int by_set;    /* the sets that lose the lines, of a pair or of all */
	struct nm_shown_part part; /* only what is evicted in it */
	enum nm_shown_frame frame; /* of inlined calls */
};

/* NM_EINVAL: no such level, process, object or column; the message lists what there is, or what is close. */
int nm_evictions_run(struct nm_profile *profile, const struct nm_evictions_request *request,
		     const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
