/* SPDX-License-Identifier: MIT
 *
 * report_priv.h - what a report is made of.
 */
#ifndef NM_REPORT_PRIV_H
#define NM_REPORT_PRIV_H

#include "table.h"

struct nm_report {
	const char *name, *summary;
	const struct nm_column *columns; /* NULL: the summary, which is made of others */
	unsigned column_count;
	const char *sort; /* column that it is ranked by */
	const char *ties; /* SQL: what orders rows that agree in it */
	/* Parameters: ?1 level, ?2 process or NULL, ?3 thread or NULL.  ORDER BY and LIMIT are appended. */
	const char *sql;
	int all_levels; /* not one level: ?1 and ?3 are not used */
};

/* Runs a report's query into *ret_table ({0}-initialised; to be done with by the caller in any case).
 * Level, process and thread must have been checked. */
int nm_report_fill(const struct nm_report *report, struct nm_profile *profile,
		   const struct nm_report_request *request, struct nm_table *ret_table, struct nm_error *err);

/* Composes "capacity 90%", the most frequent class, for a table with columns cold, capacity, ... */
const char *nm_compose_class(struct nm_table *table, size_t row);

/* The summary: what was run, how the levels did, the first pairs, what to do about it. */
int nm_summary_run(struct nm_profile *profile, const struct nm_report_request *request,
		   const struct nm_style *style, FILE *out, struct nm_error *err);

/* Starts the JSON document of a report: {"schema":...,"version":...,"report":name. */
void nm_json_begin(const char *report, FILE *out);

/* advice.c: sentences on what to try, one for each of the first pairs and for what was amiss.  process: NULL
 * for all. */
struct nm_advice nm_vec(const char *);
int nm_advice(struct nm_profile *profile, const char *process, struct nm_table *pairs,
	      struct nm_advice *ret_advice, struct nm_error *err);

#endif
