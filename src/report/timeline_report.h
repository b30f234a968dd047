/* SPDX-License-Identifier: MIT
 *
 * timeline_report.h - the course of a process: misses of each level over its instructions, its working set, and
 * the objects or lines that miss most; as text, SVG, CSV or JSON.
 */
#ifndef NM_TIMELINE_REPORT_H
#define NM_TIMELINE_REPORT_H

#include "reader.h"
#include "report.h"

enum nm_timeline_format { NM_TIMELINE_TEXT, NM_TIMELINE_SVG, NM_TIMELINE_CSV, NM_TIMELINE_JSON };

struct nm_timeline_request {
	const char *process; /* NULL: the one with the most instructions */
	const char *level;   /* whose objects or lines are shown; NULL: the first level that takes data */
	const char *by;      /* "object" or "line" */
	const char *phase;   /* rows count in this one only; NULL: in the run */
	int64_t limit;       /* of objects or lines; 0: all that the profile has */
};

/* NM_EINVAL: there is no such process, level or `by`, or the profile has no timeline; err says so. */
int nm_timeline_run(struct nm_profile *profile, const struct nm_timeline_request *request,
		    enum nm_timeline_format format, const struct nm_style *style, FILE *out,
		    struct nm_error *err);

#endif
