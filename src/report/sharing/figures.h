/* SPDX-License-Identifier: MIT
 *
 * figures.h - tables that sum the rows of a view by key. If the profile has several orders of the threads,
 * they also have the range of each sum over the orders.
 *
 * A figure F then has two more columns, F_min and F_max, and text shows "min..max" instead of F. A row that
 * is missing in an order counts as 0.
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
	/* Columns that rows are grouped by, and composed ones: before the figures and after them. */
	const struct nm_column *keys, *behind;
	const struct nm_column *processes; /* before the keys, if all processes ran on one machine */
	const struct nm_column *facts;     /* columns with any one of the values in the rows of a key */
	unsigned key_count, behind_count, process_count, fact_count, figure_count;
	const enum nm_figure_name *figures;
	const char *where;      /* SQL: which rows of the view */
	const char *of_process; /* SQL: which rows of it are of process ?2; NULL: those of its machine */
	const char *having;     /* SQL: which rows of the table, or NULL */
	const char *sort, *ties;
};

/* Fills the rows. more: another condition on the view's rows, or NULL. Returns as nm_report_fill. */
int nm_figures_fill(const struct nm_figure_table *table, struct nm_profile *profile,
		    const struct nm_selection *selection, const char *more,
		    struct nm_report_table *ret_filled, struct nm_error *err);

#endif
