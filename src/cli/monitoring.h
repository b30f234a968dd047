/* SPDX-License-Identifier: MIT
 *
 * monitoring.h - what `nearmiss monitor` was asked for, and the table that it makes of the results.
 */
#ifndef NM_MONITORING_H
#define NM_MONITORING_H

#include <stdio.h>

#include "machine.h"
#include "report.h"
#include "result.h"

struct nm_monitoring {
	struct nm_machine machine;
	struct nm_sift_request sift;
	const char *object, *function; /* a name or a pattern, or NULL: all */
	const char *sort;              /* a column, or NULL: places in ascending order */
	int64_t limit;                 /* rows; 0: all */
};

/* 0, or NM_EINVAL: no such object, function or column; or NM_ENOMEM. */
int nm_monitor_show(const struct nm_monitoring *monitoring, struct nm_result *const *results, size_t count,
		    const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
