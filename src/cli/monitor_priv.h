/* SPDX-License-Identifier: MIT
 *
 * monitor_priv.h - the table of `nearmiss monitor` while it is made: by monitor_sums.c or monitor_events.c, from names
 * and values that monitor_table.c gives.
 */
#ifndef NM_MONITOR_PRIV_H
#define NM_MONITOR_PRIV_H

#include "monitoring.h"
#include "table.h"
#include "vector.h"

enum { NM_MONITOR_FIGURES = NM_MAX_LEVELS * NM_EVENTS + 1, NM_MONITOR_COLUMNS = NM_MONITOR_FIGURES + 8 };

/* A column of counts. */
struct nm_monitor_figure {
	unsigned level, kind;
	const char *name, *title;
};

/* Sums over a place of a process. */
struct nm_monitor_sums {
	size_t process;
	uint64_t place;
	const char *object;
	uint64_t total;
	size_t at; /* of its first figure among all counts */
};

struct nm_monitor_view {
	struct nm_table table; /* first: composers have nothing else */
	const struct nm_monitoring *m;
	struct nm_result *const *results;
	size_t count;
	struct nm_monitor_figure figures[NM_MONITOR_FIGURES];
	unsigned figure_count, sorted_by; /* a figure, or figure_count: the total */
	struct nm_column columns[NM_MONITOR_COLUMNS];
	struct nm_vec(struct nm_monitor_sums) sums;
	struct nm_vec(uint64_t) counts; /* figure_count of each sums */
	uint64_t most, left_out;        /* the greatest total; rows beyond the limit */
	struct nm_error *err;
};

/* Fill the table.  0, NM_ENOMEM, NM_EINVAL (no such column) or NM_ENOENT (no such event). */
int nm_monitor_show_sums(struct nm_monitor_view *view);
int nm_monitor_show_residencies(struct nm_monitor_view *view);
int nm_monitor_show_nth(struct nm_monitor_view *view);

/* NM_ENOMEM, and says so. */

/* What an event befell; whether the row's object and function were asked for. */
const char *nm_monitor_object(const struct nm_result *result, unsigned kind, uint32_t cell, uint32_t victim);
int nm_monitor_picks(const struct nm_monitor_view *view, const struct nm_result *result,
		     const struct nm_sift_row *row);

/* Values of the table; texts belong to it. */
struct nm_value nm_monitor_text(struct nm_monitor_view *view, const char *string);
struct nm_value nm_monitor_address(struct nm_monitor_view *view, uint64_t address);

static inline struct nm_value nm_monitor_integer(uint64_t n)
{
	return (struct nm_value){.type = NM_VALUE_INTEGER, .integer = (int64_t)n};
}

static inline const struct nm_result_site *nm_monitor_site(const struct nm_result *r, uint32_t cell)
{
	return &r->sites[r->cells[cell].site];
}

#endif
