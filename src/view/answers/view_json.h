/* SPDX-License-Identifier: MIT
 *
 * view_json.h - functions shared by the answers: convert names and rows of queries to JSON.
 */
#ifndef NM_VIEW_JSON_H
#define NM_VIEW_JSON_H

#include "metrics.h"
#include "report.h"
#include "view_priv.h"

/* Largest numbers of rows, nodes and bins of an answer. */
enum { NM_VIEW_ROWS = 1000, NM_VIEW_NODES = 2000, NM_VIEW_BINS = 2048 };

/* A name as JSON: control characters and invalid UTF-8 become U+FFFD. NULL becomes null. */
json_t *nm_view_text(const char *text);

/* A number as JSON: null if it is not finite. */
json_t *nm_view_real(double value);

/* A value of a row as JSON. */
json_t *nm_view_value(const struct nm_rows *rows, unsigned column);

/* The rows of a query as a list of objects, a member for each column. `texts` are its parameters from ?1. */
int nm_view_select(struct nm_profile *profile, const char *sql, const char *const *texts, unsigned count,
		   json_t **ret_list, struct nm_error *err);

/* The level that the parameter `level` names, or the first data level; malloc'ed. NM_EINVAL: there is no such
 * level. */
int nm_view_level(struct nm_profile *profile, const struct nm_request *request, char **ret_level,
		  struct nm_error *err);

/* The input that the parameter `input` names, or NULL for their sum. NM_EINVAL: there is no such input. */
int nm_view_input(struct nm_profile *profile, const struct nm_request *request, const char **ret_input,
		  struct nm_error *err);

/* The counts of a level, or of one input there (store.h). */
int nm_view_counts(const struct nm_view_profile *of, const char *level, const char *input,
		   const struct nm_cube **ret_counts, struct nm_error *err);

/* Whether the parameter `mine` asks for code of the user alone, and what it made run: where the key `library` is 0. */
int nm_view_is_mine(const struct nm_request *request);

/* The part of the rows that the parameters `offset` and `limit` select; `usual` is the limit if there is none. */
int nm_view_part(const struct nm_request *request, int64_t usual, int64_t *ret_offset, int64_t *ret_limit,
		 struct nm_error *err);

/* The denominators for sums of counts: the instructions of the run, or of one input; the unit of a load of this
 * level. Does not change total->sum. */
int nm_view_total(struct nm_profile *profile, const char *level, const char *input,
		  struct nm_metric_total *total, struct nm_error *err);

/* A key of facts as JSON; all keys of a row, as an object. */
json_t *nm_view_key(nm_key key, int is_number);
json_t *nm_view_keys(const struct nm_cube *facts, size_t row);

/* A function that writes a report, whose JSON is the answer. */
typedef int nm_view_report(struct nm_profile *profile, const void *request, const struct nm_style *style,
			   FILE *out, struct nm_error *err);
int nm_view_run(nm_view_report *report, struct nm_profile *profile, const void *request,
		json_t **ret_document, struct nm_error *err);

/* The part of an overview that is known of one input (inputs.c). */
int nm_view_overview_of_input(struct nm_profile *profile, const char *level, const char *input,
			      json_t *answer, struct nm_error *err);

/* The level that the verdict names, malloc'ed; NULL: it names none. */
int nm_view_verdict_level(struct nm_profile *profile, char **ret_level, struct nm_error *err);

/* Adds to a structure with its fields the members that a layout moves (members.c). */
int nm_view_add_members(json_t *structure, struct nm_error *err);

/* ---- the answers ---- */

typedef int nm_view_profile_answer(const struct nm_view_profile *of, const struct nm_request *request,
				   json_t **ret_answer, struct nm_error *err);
nm_view_profile_answer nm_view_overview, nm_view_inputs, nm_view_metrics, nm_view_dimensions, nm_view_names,
    nm_view_table, nm_view_tree, nm_view_chains, nm_view_sources, nm_view_source, nm_view_line,
    nm_view_evictions, nm_view_eviction_lines, nm_view_curves, nm_view_histogram, nm_view_sharing,
    nm_view_sharing_lines, nm_view_structures, nm_view_timeline, nm_view_timeline_rows;

#endif
