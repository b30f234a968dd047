/* SPDX-License-Identifier: MIT
 *
 * monitor_table.h - the table of events that passed the filters of `nearmiss monitor`.
 */
#ifndef NM_MONITOR_TABLE_H
#define NM_MONITOR_TABLE_H

#include <stdio.h>

#include "machine.h"
#include "report.h"
#include "result.h"

struct nm_monitor_request {
	const struct nm_machine *machine;
	struct nm_event_query event_query;
	const char *object, *function; /* a name or a pattern, or NULL: all */
	const char *sort;              /* a column, or NULL: by address or set */
	int64_t limit;                 /* rows; 0: all */
	int log;                       /* rows beyond the limit are asked for too: the table says how many */
};

/* Prints the table. 0, NM_EINVAL (no such object, function or column), NM_ENOENT (fewer events than nth) or
 * NM_ENOMEM. */
int nm_monitor_show(const struct nm_monitor_request *request, struct nm_result *const *results, size_t count,
		    const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
