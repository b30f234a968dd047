/* SPDX-License-Identifier: MIT
 *
 * grouping.h - counts of a level summed by keys, for tables and trees.
 */
#ifndef NM_VIEW_GROUPING_H
#define NM_VIEW_GROUPING_H

#include "metrics.h"
#include "view_json.h"

enum { NM_GROUPING_KEYS = 4 };

struct nm_grouping {
	const char *keys[NM_GROUPING_KEYS];
	unsigned count;
	char *level;                  /* malloc'ed */
	const char *input;            /* whose counts, or NULL: of all; the request's */
	int is_mine;                  /* only of code that the user's code made run */
	const char *type, *field;     /* only of this type, and of this field; NULL: of all; the request's */
	struct nm_cube rows;          /* sums by the keys */
	struct nm_metric_total total; /* of all rows */
};

/* All available keys, with NULL at the end. `type` and `field` are those of structures' fields. */
extern const char *const nm_grouping_names[];

/* Takes the keys of the parameter `by` (else `otherwise`), the level, and the parameters `mine`, `type` and `field`.
 * The text of NM_EINVAL lists the keys. Call nm_grouping_done in any case; *ret_grouping must be {0}. */
int nm_grouping_make(struct nm_grouping *ret_grouping, const struct nm_view_profile *of,
		     const struct nm_request *request, const char *otherwise, struct nm_error *err);

/* Sums the counts of a profile. Call it once. */
int nm_grouping_sum(struct nm_grouping *grouping, const struct nm_view_profile *of, struct nm_error *err);
void nm_grouping_done(struct nm_grouping *grouping);

/* The metric that the parameter `name` names (else `otherwise`). NM_EINVAL: there is no such metric, or not of the
 * input. */
int nm_grouping_metric(const struct nm_grouping *grouping, const struct nm_request *request, const char *name,
		       const char *otherwise, const struct nm_metric **ret_metric, struct nm_error *err);

/* Whether a metric can be computed from the sums of a grouping, or of one input; whether there are sums by a key: 1
 * or 0. */
int nm_grouping_has(const struct nm_metric *metric, const char *input);
int nm_grouping_has_key(const char *key, const char *input);

/* The order of rows: by a metric, or if that is NULL, by the key of this number. Equal rows, and those
 * without a value, are ordered by their keys. */
struct nm_grouping_order {
	const struct nm_metric *metric;
	unsigned key;
	int ascending;
};
/* 0 or NM_ENOMEM. */
int nm_grouping_sort(const struct nm_grouping *grouping, const struct nm_grouping_order *order, size_t *rows,
		     size_t count);

/* Columns of a table (catalogue.c): of a metric, of a key. */
json_t *nm_view_metric(const struct nm_metric *metric);
json_t *nm_grouping_column(const char *key);

#endif
