/* SPDX-License-Identifier: MIT
 *
 * columns.h - the columns of ranked reports: the format and the SQL of each.
 */
#ifndef NM_REPORT_COLUMNS_H
#define NM_REPORT_COLUMNS_H

#include "metrics.h"
#include "table.h"

struct nm_ranked_column {
	struct nm_column column;
	const char *sql; /* NULL: `compose` or `derive` makes the column */
};

/* How a metric is shown. */
struct nm_column nm_metric_column(const struct nm_metric *metric);

/* The last columns of every ranked report: the cause, what to try, what it saves. */
const struct nm_ranked_column *nm_derived_columns(unsigned *ret_count);

/* Columns of a field, where object and field are keys, and of an object that has fields. */
const struct nm_ranked_column *nm_field_columns(unsigned *ret_count);
const struct nm_ranked_column *nm_structure_columns(unsigned *ret_count);
/* Of the field that a line of code loads most, where object and line are keys. */
const struct nm_ranked_column *nm_line_field_columns(unsigned *ret_count);

/* Table expressions that these columns need, appended to a WITH clause: g (process: "process, " or "") and h
 * (among: an SQL condition on the object; types: fields have types). */
void nm_field_expression(const char *process, FILE *sql);
void nm_structure_expression(const char *among, FILE *sql);
/* j, which is made of h. */
void nm_line_field_expression(const char *among, FILE *sql);

/* y, the components that are allocated for the elements of an object, one for each. */
#define NM_COMPONENT_JOIN " LEFT JOIN y ON y.whole = substr(c.object, 1, instr(c.object, ' (') - 1)"

/* The same of the order in which lines of code load an object: v, q and u (what, places: an SQL condition on the
 * place or the object), and the joins with c. */
const struct nm_ranked_column *nm_walk_columns(unsigned *ret_count);
void nm_walk_expression(const char *process, const char *what, const char *places, FILE *sql);
void nm_walk_joins(int by_process, FILE *sql);

/* The innermost frame beside a place of the user's code (inner_frames.c). */
const struct nm_ranked_column *nm_inner_columns(unsigned *ret_count);

/* Composers of a row's cells. "capacity 90%": the most frequent class of misses. */
const char *nm_compose_class(struct nm_table *table, size_t row);
/* "file:line (function)" of the row. */
const char *nm_compose_location(struct nm_table *table, size_t row);
/* The same of the victim of an eviction. */
const char *nm_compose_victim_location(struct nm_table *table, size_t row);
/* The same of the reference that touched a line of memory before. */
const char *nm_compose_previous_location(struct nm_table *table, size_t row);
/* The same of the other line of code that contends. */
const char *nm_compose_other_location(struct nm_table *table, size_t row);
/* "object (file:line)" of the evictor. */
const char *nm_compose_evictor(struct nm_table *table, size_t row);

#endif
