/* SPDX-License-Identifier: MIT
 *
 * event_filter.h - keeps those single events of a hierarchy (monitor.h) that a query asks for
 * (event_query.h).
 *
 * While the program runs an event knows only attribution keys; names exist at the end. So the filter picks
 * events by kind, level and address as they come, and keeps keys apart wherever somebody picks by name later.
 */
#ifndef NM_EVENT_FILTER_H
#define NM_EVENT_FILTER_H

#include "event_query.h"
#include "hierarchy.h"

struct nm_event_filter;

/* The query stays the caller's and must outlive the filter and what nm_event_filter_take returns. 0 or
 * NM_ENOMEM. */
int nm_event_filter_new(struct nm_event_filter **ret_filter, const struct nm_event_query *query,
			const struct nm_machine *machine);
void nm_event_filter_free(struct nm_event_filter *filter);

/* Sends the hierarchy's events to the filter; before the first batch. */
void nm_event_filter_attach(struct nm_event_filter *filter, struct nm_hierarchy *hierarchy);

/* Instead of that, where somebody else picks among the events: whether the query asks for an event; takes one
 * that it asks for. */
int nm_event_filter_wants(const struct nm_event_filter *filter, const struct nm_event *event);
void nm_event_filter_keep(struct nm_event_filter *filter, const struct nm_event *event);

/* LOG, for event_places.h: counts an event, and returns whether it is one of those that the log keeps; keeps one,
 * perhaps in another thread. The latter: 0 or NM_ENOMEM. */
int nm_event_filter_admits(struct nm_event_filter *filter, const struct nm_event *event);
int nm_event_filter_log(struct nm_event_filter *filter, const struct nm_logged_event *event);

/* Hands over what was kept; the caller frees rows, residencies and logged events.  0, or NM_ENOMEM if something
 * was lost. */
int nm_event_filter_take(struct nm_event_filter *filter, struct nm_filtered_events *ret_events);

#endif
