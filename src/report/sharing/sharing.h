/* SPDX-License-Identifier: MIT
 *
 * sharing.h - what cores contend for: contended lines with who touches which bytes of them, and the same by
 * object, field, function, thread and core.
 */
#ifndef NM_REPORT_SHARING_H
#define NM_REPORT_SHARING_H

#include "report.h"

enum nm_sharing_by {
	NM_SHARING_BY_LINE,
	NM_SHARING_BY_OBJECT,
	NM_SHARING_BY_FIELD,
	NM_SHARING_BY_FUNCTION, /* pairs of functions that take lines from each other */
	NM_SHARING_BY_THREAD,   /* pairs of threads */
	NM_SHARING_BY_CORE,     /* pairs of cores */
	NM_SHARING_LATENT       /* false sharing that would be, of other lines or placements */
};

struct nm_sharing_request {
	const char *level;   /* the first of a machine; NULL: of the first machine */
	const char *process; /* NULL: all */
	const char *sort;    /* a column; NULL: the table's own */
	int64_t limit;       /* rows, or lines of memory; 0: all; -1: as many as usual */
	enum nm_sharing_by by;
};

/* NM_ENOENT: no protocol kept the level coherent; NM_EINVAL: no such level, process or column. */
int nm_sharing_run(struct nm_profile *profile, const struct nm_sharing_request *request,
		   const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
