/* SPDX-License-Identifier: MIT
 *
 * ranking.h - the query of a ranked report.
 */
#ifndef NM_REPORT_RANKING_H
#define NM_REPORT_RANKING_H

#include "report_selection.h"
#include "table.h"

struct nm_report;

enum { NM_QUERY_COLUMNS = 144 };

struct nm_query {
	struct nm_column columns[NM_QUERY_COLUMNS];
	unsigned count, keys; /* the first `keys` columns are the keys */
	char *sql;            /* malloc'ed; without ORDER BY and LIMIT */
	char *ties; /* malloc'ed: the keys by commas, which order rows that agree in the sort column */
};

/* NM_EINVAL: no such key. Call nm_query_done in any case. */
int nm_query_make(struct nm_query *ret_query, struct nm_profile *profile, const struct nm_report *report,
		  const struct nm_selection *selection, struct nm_error *err);
void nm_query_done(struct nm_query *query);

/* Sums `counts` by keys in the table NM_RANKED (ranked_rows.h), with some metrics (both lists by commas), for a query
 * that joins it. rank: the metric of which the request's limit of first rows is enough, or NULL. 0 or a code. */
int nm_ranked_by(struct nm_profile *profile, const struct nm_selection *selection, const char *keys,
		 const char *metrics, const char *rank, struct nm_error *err);

/* ---- inner_frames.c: the innermost frame, where the keys name another ---- */

struct nm_inner_frames {
	const char *keys[4]; /* of the report: those of function, file, line and object that it has */
	unsigned key_count;
	int among_chosen;   /* a has the places, else they are those of the rows of */
	const char *counts; /* this view */
	int of_process;     /* that of parameter 2 */
};

/* Writes the table expression m behind c. */
void nm_inner_frames_expression(const struct nm_inner_frames *m, FILE *sql);

#endif
