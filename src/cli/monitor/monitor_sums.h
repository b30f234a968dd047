/* SPDX-License-Identifier: MIT
 *
 * monitor_sums.h - counts and histograms of `nearmiss monitor`.
 */
#ifndef NM_MONITOR_SUMS_H
#define NM_MONITOR_SUMS_H

#include "monitor/monitor_view.h"

/* Fills the table. 0, NM_EINVAL (no such column to sort by) or NM_ENOMEM. */
int nm_monitor_show_sums(struct nm_monitor_view *view);

#endif
