/* SPDX-License-Identifier: MIT
 *
 * sharing.h - reports of contention between cores: contended lines with the threads that touch their bytes,
 * and the same by object, field, function, thread, core and process.
 */
#ifndef NM_REPORT_SHARING_H
#define NM_REPORT_SHARING_H

#include "report.h"

enum nm_sharing_by {
	NM_SHARING_BY_LINE,
	NM_SHARING_BY_OBJECT,
	NM_SHARING_BY_FIELD,
	NM_SHARING_BY_FUNCTION, /* pairs of functions that invalidate each other's lines */
	NM_SHARING_BY_THREAD,   /* pairs of threads */
	NM_SHARING_BY_CORE,     /* pairs of cores */
	NM_SHARING_BY_PROCESS,  /* pairs of processes on one machine */
	NM_SHARING_LATENT       /* false sharing with longer lines or other placements of the data */
};

struct nm_sharing_request {
	const char *level;   /* the first level of a machine; NULL: of the first machine */
	const char *process; /* NULL: all */
	const char *sort;    /* a column; NULL: the table's own */
	int64_t limit;       /* rows, or lines of memory; 0: all; -1: the default */
	int64_t offset;      /* rows that are left out before them */
	enum nm_sharing_by by;
	int as_c2c;       /* lines in the shape of perf c2c; text only, without `sort` */
	int with_repairs; /* each line with its touches, who takes it from whom, and the repair; JSON only */
};

/* NM_ENOENT: the profile has no coherent cores; NM_EINVAL: no such level, process or column. */
int nm_sharing_run(struct nm_profile *profile, const struct nm_sharing_request *request,
		   const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
