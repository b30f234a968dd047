/* SPDX-License-Identifier: MIT
 *
 * figures.h - tables of sums of a view by keys; where the profile has several orders of the threads, with the
 * range of each sum over them.
 *
 * A figure F then has columns F_min and F_max beside it, and text shows "min..max" in its place. A row that
 * an order lacks counts as 0 there.
 */
#ifndef NM_REPORT_FIGURES_H
#define NM_REPORT_FIGURES_H

#include "report_priv.h"

/* Figures that a table may have. */
enum nm_figure_name {
	NM_FIGURE_READS,
	NM_FIGURE_WRITES,
	NM_FIGURE_COHERENCE, /* coherence misses, under this title */
	NM_FIGURE_MISSES,    /* the same */
	NM_FIGURE_FALSE,
	NM_FIGURE_TRUE,
	NM_FIGURE_TAKES,
	NM_FIGURE_TAKEN, /* the same of pairs */
	NM_FIGURE_INTERVENTIONS,
	NM_FIGURE_WRITEBACKS,
	NM_FIGURE_UPGRADES,
	NM_FIGURE_LINES,
	NM_FIGURE_THREADS,
	NM_FIGURES
};

struct nm_figure_table {
	const char *name;
	const char *view; /* "sharing"; its rows by order are in "schedule_sharing" */
	/* Columns that rows are grouped by, and composed ones: before the figures and behind them. */
	const struct nm_column *keys, *behind;
	const struct nm_column *facts; /* one of the values that the rows of a key have */
	unsigned key_count, behind_count, fact_count, figure_count;
	const enum nm_figure_name *figures;
	const char *where;  /* SQL: which rows of the view */
	const char *having; /* SQL: which rows of the table, or NULL */
	const char *sort, *ties;
};

/* The rows; more: another condition on the view's rows, or NULL. As nm_report_fill. */
int nm_figures_fill(const struct nm_figure_table *table, struct nm_profile *profile,
		    const struct nm_selection *selection, const char *more,
		    struct nm_report_table *ret_filled, struct nm_error *err);

#endif
