/* SPDX-License-Identifier: MIT
 *
 * curve.h - miss-ratio curves of profiles: miss ratio against cache size, as a plot for a terminal, SVG, CSV
 * or JSON.
 */
#ifndef NM_CURVE_H
#define NM_CURVE_H

#include <stdint.h>
#include <stdio.h>

#include "reader.h"
#include "report.h"

enum nm_curve_format { NM_CURVE_TEXT, NM_CURVE_SVG, NM_CURVE_CSV, NM_CURVE_JSON };

/* A cache size that a vertical line marks. */
struct nm_curve_mark {
	char label[40]; /* "L2", "zen4/L2" */
	double bytes;
};

struct nm_curve_source {
	struct nm_profile *profile;
	const char *label; /* tells it from the other profiles; NULL: there is only one */
};

struct nm_curve_request {
	const char *by;      /* scope: total, object, function, line, thread, field */
	const char *only;    /* a pattern of names with *, ? and [...]; NULL: all */
	const char *method;  /* exact, statcache, ...; NULL: all */
	const char *process; /* NULL: all */
	int64_t limit;       /* of names; 0: all */
	int64_t offset;      /* in JSON: names that miss more, and are left out */
	double from, to;     /* bytes; 0: chosen from the curves */
	int has_start;       /* in JSON each curve has a point at the smallest size that is shown */
	int log_ratio;       /* the axis of miss ratios is logarithmic */
	unsigned height;     /* rows of a plot in text */
	const struct nm_curve_mark *marks;
	size_t mark_count;
};

/* NM_EINVAL: there is no such scope, or no curve matches; err says which there are. */
int nm_curve_run(const struct nm_curve_source *sources, size_t count, const struct nm_curve_request *request,
		 enum nm_curve_format format, const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
