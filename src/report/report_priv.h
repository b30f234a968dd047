/* SPDX-License-Identifier: MIT
 *
 * report_priv.h - what a report is made of.
 */
#ifndef NM_REPORT_PRIV_H
#define NM_REPORT_PRIV_H

#include "choose.h"
#include "levels.h"
#include "table.h"

/* A request that was checked against the profile. */
struct nm_asked {
	struct nm_report_request request; /* with a level */
	int one_level;                    /* the user named the level */
	int has_sites;                    /* the profile knows strides, */
	int has_weights;                  /* weighted bytes, */
	int has_fields;                   /* fields, */
	int has_cells;                    /* counts by number, */
	int has_prefetches;               /* and what they pushed out */
	struct nm_levels levels;
	struct nm_name_choice object, function, file;
};

/* A report is either a query of its own (it has `columns`), or the summary, which is made of others, or ranked. */
struct nm_report {
	const char *name, *summary;
	int is_summary;
	const char
	    *keys; /* of a ranked one: names, by commas: what is counted; NULL: what the request says */
	const char *shown; /* columns that this ranked report shows and others hide, by commas; or NULL */
	const struct nm_column *columns;
	unsigned column_count;
	const char *sort; /* column that it is ranked by, or NULL */
	const char *ties; /* SQL: what orders rows that agree in it */
	const char *sql;  /* parameters ?1: the level or NULL; ?2: the process or NULL */
	int all_levels;   /* not one level, unless the user names it */
	int of_contexts;  /* needs a profile with call chains */
	int of_sites;     /* needs a profile with strides */
	int of_fields; /* needs a profile with fields; of a ranked one: rows without a field are left out */
	const char *view, *without; /* needs rows of this view; what a profile without has not, or NULL */
};

/* ---- columns.c ---- */

struct nm_ranked_column {
	struct nm_column column;
	const char *sql; /* NULL: the column is made by compose or derive */
};

const struct nm_ranked_column *nm_ranked_columns(unsigned *ret_count);

/* Composes "capacity 90%", the most frequent class, for a table with columns cold, capacity, ... */
const char *nm_compose_class(struct nm_table *table, size_t row);
/* Composers: "file:line (function)" of a row, the same of its victim, "object (file:line)" of its evictor. */
const char *nm_cell_where(struct nm_table *table, size_t row);
const char *nm_cell_victim_where(struct nm_table *table, size_t row);
const char *nm_cell_evictor(struct nm_table *table, size_t row);

/* ---- by_field.c: of fields, and of objects that have some ---- */

const struct nm_ranked_column *nm_field_columns(unsigned *ret_count);
const struct nm_ranked_column *nm_fielded_columns(unsigned *ret_count);

/* Table expressions g (process: "process, " or "") and h (among: a condition that chooses objects). */
void nm_field_expression(const char *process, FILE *sql);
void nm_fielded_expression(const char *among, FILE *sql);

/* ---- first.c: the first ones of many pairs of object and line ---- */

/* Whether they can be told, ranked by this column of c.  If so: table expressions b and a, behind w, of one level. */
int nm_first_knows(const struct nm_asked *asked, const char *rank);
void nm_first_expression(const struct nm_asked *asked, const char *rank, FILE *sql);

/* ---- ranking.c: the query of a request ---- */

enum { NM_QUERY_COLUMNS = 96 };

struct nm_query {
	struct nm_column columns[NM_QUERY_COLUMNS];
	unsigned count, keys; /* the first ones say what is counted */
	char *sql;            /* malloc'ed; without ORDER BY and LIMIT */
	char *ties;
};

/* NM_EINVAL: no such key. */
int nm_query_make(struct nm_query *ret_query, const struct nm_report *report, const struct nm_asked *asked,
		  struct nm_error *err);
void nm_query_done(struct nm_query *query);

/* ---- report.c ---- */

/* A report's rows and their columns.  {0}-initialised; to be done with in any case. */
struct nm_filled {
	struct nm_table table;
	struct nm_query query;
};

int nm_report_fill(const struct nm_report *report, struct nm_profile *profile, const struct nm_asked *asked,
		   struct nm_filled *ret_filled, struct nm_error *err);
void nm_filled_done(struct nm_filled *filled);

/* Checks a request.  *ret_asked must be {0} and be done with in any case. */
int nm_ask(struct nm_profile *profile, const struct nm_report_request *request, struct nm_asked *ret_asked,
	   struct nm_error *err);
void nm_asked_done(struct nm_asked *asked);

/* The summary: what was run, how the levels did, the first pairs, what to do about it. */
int nm_summary_run(struct nm_profile *profile, const struct nm_asked *asked, const struct nm_style *style,
		   FILE *out, struct nm_error *err);

/* Starts the JSON document of a report: {"schema":...,"version":...,"report":name. */
void nm_json_begin(const char *report, FILE *out);

/* ---- advice.c ---- */

/* Derivers: the cause of a row's misses and what to try against it, by the first rule that fits. */
const char *nm_cell_cause(struct nm_table *table, size_t row);
const char *nm_cell_try(struct nm_table *table, size_t row);

/* ---- remarks.c ---- */

/* Sentences on what to try, one for each of the first pairs and for what was amiss in the recording.
 * process: NULL for all.  The sentences live in the pool of `pairs`. */
struct nm_remarks nm_vec(const char *);
int nm_remarks_make(struct nm_profile *profile, const char *process, struct nm_table *pairs,
		    struct nm_remarks *ret_remarks, struct nm_error *err);

/* huge.c: what huge pages would save of the misses of the last level of a TLB.  pages: NULL if it was not simulated. */
struct nm_saving {
	char level[40], object[200]; /* object: of which most would be saved */
	const char *pages;           /* "2M" */
	int64_t misses, saved, of_object;
};
int nm_huge_pages_saving(struct nm_profile *profile, const char *process, struct nm_saving *ret_saving,
			 struct nm_error *err);

#endif
