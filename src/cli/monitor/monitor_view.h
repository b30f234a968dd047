/* SPDX-License-Identifier: MIT
 *
 * monitor_view.h - builds the table of `nearmiss monitor`: counts and histograms (monitor_sums.c), the history of a
 * line, and a log (events.c).
 */
#ifndef NM_MONITOR_VIEW_H
#define NM_MONITOR_VIEW_H

#include "monitor/monitor_table.h"
#include "table.h"
#include "vector.h"

enum { NM_MONITOR_FIGURES = NM_MAX_LEVELS * NM_EVENTS + 1, NM_MONITOR_COLUMNS = NM_MONITOR_FIGURES + 8 };

/* A column of counts. */
struct nm_monitor_figure {
	unsigned level, kind;
	const char *name, *title;
};

/* Counts of one key in one process: a level, an address or a set. */
struct nm_monitor_sums {
	size_t process;
	uint64_t key;
	const char *object;
	uint64_t total;
	size_t at; /* index of its first count in view->counts */
};

struct nm_monitor_view {
	struct nm_table table; /* first: functions that compose a column get nothing else */
	const struct nm_monitor_request *request;
	struct nm_result *const *results;
	size_t count;
	struct nm_monitor_figure figures[NM_MONITOR_FIGURES];
	unsigned figure_count, sorted_by; /* a figure, or figure_count: the total */
	struct nm_column columns[NM_MONITOR_COLUMNS];
	struct nm_vec(struct nm_monitor_sums) sums;
	struct nm_vec(uint64_t) counts; /* figure_count for each of sums */
	uint64_t most, left_out;        /* the greatest total; rows beyond the limit */
	struct nm_error *err;
};

/* The object that an event happens to: the one that is referenced or, when a line leaves, the one that the
 * line had been loaded for. */
const char *nm_monitor_object(const struct nm_result *result, unsigned kind, uint32_t attr, uint32_t victim);

/* Whether a row passes --object and --function. The function is that of the reference that caused the
 * event. */
int nm_monitor_picks(const struct nm_monitor_view *view, const struct nm_result *result,
		     const struct nm_event_row *row);

/* Fails with NM_EINVAL if no object or function has the requested name. */
int nm_monitor_check_names(struct nm_monitor_view *view);

/* Values of the table; the table owns the texts. */
struct nm_value nm_monitor_text(struct nm_monitor_view *view, const char *string);
struct nm_value nm_monitor_address(struct nm_monitor_view *view, uint64_t address);

/* Fill the table. 0, NM_EINVAL (sums: no such column to sort by), NM_ENOENT (the others: fewer events than nth) or
 * NM_ENOMEM. */
int nm_monitor_show_sums(struct nm_monitor_view *view);
int nm_monitor_show_residencies(struct nm_monitor_view *view);
int nm_monitor_show_log(struct nm_monitor_view *view);

static inline struct nm_value nm_monitor_integer(uint64_t n)
{
	return (struct nm_value){.type = NM_VALUE_INTEGER, .integer = (int64_t)n};
}

static inline const struct nm_result_site *nm_monitor_site(const struct nm_result *r, uint32_t attr)
{
	return &r->sites[r->attrs[attr].site];
}

#endif
