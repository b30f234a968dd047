/* SPDX-License-Identifier: MIT
 *
 * report_priv.h - a report's definition and its rows.
 */
#ifndef NM_REPORT_PRIV_H
#define NM_REPORT_PRIV_H

#include <string.h>

#include "columns.h"
#include "ranking.h"
#include "report_table.h"

#define COUNT_OF(list) (unsigned)(sizeof(list) / sizeof *(list))

/* A report is the summary, or the fields of structures, or a query of its own (it has `columns`), or a ranking. */
struct nm_report {
	const char *name, *summary;
	int is_summary, is_structure; /* are shown by code of their own */
	const char *keys;  /* of a ranking: what is counted, by commas; NULL: the keys of the request */
	const char *shown; /* columns that this ranking shows and others hide, by commas; or NULL */
	const struct nm_column *columns;
	unsigned column_count;
	const char *sort;   /* column that ranks the rows, or NULL */
	const char *ties;   /* SQL: what orders rows that agree in it */
	const char *sql;    /* parameters ?1: the level or NULL; ?2: the process or NULL */
	const char *joined; /* keys by which `counts` is summed for the query, in NM_RANKED; or NULL */
	int is_of_joined;   /* its first rows by `sort` are those of NM_RANKED */
	int all_levels;     /* shows all levels unless the user names one */
	int has_total;      /* text ends with a line of totals */
	int needs_contexts; /* call chains */
	int needs_fields;   /* of a ranking: leaves out rows without a field */
	const char *view,
	    *without; /* a view that must have rows, and what to call it if it has none; or NULL */
};

/* The column that ranks the rows, or NULL: the user's, else the report's. Where the machine has prefetchers,
 * reports that rank by misses rank by estimated cycles. */
static inline const char *nm_report_sort(const struct nm_report *report, const struct nm_selection *selection)
{
	const int by_cost = !report->columns && selection->levels.has_covered;

	if (selection->request.sort)
		return selection->request.sort;
	return report->sort && by_cost && !strcmp(report->sort, "misses") ? "cycles" : report->sort;
}

/* Prints the summary: the command, the levels, the first pairs, what to try. */
int nm_summary_run(struct nm_profile *profile, struct nm_selection *selection, const struct nm_style *style,
		   FILE *out, struct nm_error *err);

/* The same of a sampled recording. */
int nm_sampled_summary_run(struct nm_profile *profile, const struct nm_report_request *request,
			   const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
