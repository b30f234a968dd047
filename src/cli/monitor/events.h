/* SPDX-License-Identifier: MIT
 *
 * events.h - shows single events for `nearmiss monitor`: the history of a line, and a log.
 */
#ifndef NM_MONITOR_EVENTS_H
#define NM_MONITOR_EVENTS_H

#include "monitor/monitor_view.h"

/* Fill the table. 0, NM_ENOENT (fewer events than nth) or NM_ENOMEM. */
int nm_monitor_show_residencies(struct nm_monitor_view *view);
int nm_monitor_show_log(struct nm_monitor_view *view);

#endif
