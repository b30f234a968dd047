/* SPDX-License-Identifier: MIT
 *
 * grouping.h - counts of a level summed by keys: what tables, trees and comparisons have in common.
 */
#ifndef NM_VIEW_GROUPING_H
#define NM_VIEW_GROUPING_H

#include "answers.h"
#include "metrics.h"

enum { NM_GROUPING_KEYS = 4 };

struct nm_grouping {
	const char *keys[NM_GROUPING_KEYS];
	unsigned count;
	char *level;  /* malloc'ed */
	int64_t unit; /* bytes of a load; 0: a load is a line */
};

/* All keys that there are; NULL behind the last. `type` and `field` are those of structures' fields. */
extern const char *const nm_grouping_names[];

/* Takes the keys of the parameter `by` (else `otherwise`) and the level. NM_EINVAL says what there is. Call
 * nm_grouping_done in any case; *ret_grouping must be {0}. */
int nm_grouping_make(struct nm_grouping *ret_grouping, struct nm_profile *profile,
		     const struct nm_request *request, const char *otherwise, struct nm_error *err);
void nm_grouping_done(struct nm_grouping *grouping);

/* Whether the key holds numbers. */
int nm_grouping_is_number(const char *key);

/* Writes the table expressions c (keys, all counts, misses, lines), t (sums of c that shares are of) and p
 * (instructions), in whose terms the catalogue writes metrics. Parameter ?1 is the level. */
void nm_grouping_write(const struct nm_grouping *grouping, FILE *sql);

/* The metric that the parameter `name` names (else `otherwise`): one that has SQL in terms of these. */
int nm_grouping_metric(const struct nm_request *request, const char *name, const char *otherwise,
		       const struct nm_metric **ret_metric, struct nm_error *err);

/* Columns of a table (catalogue.c): of a metric, of a key. */
json_t *nm_view_metric(const struct nm_metric *metric);
json_t *nm_grouping_column(const char *key);

/* Whether metrics of the catalogue can be computed from these: 1 or 0. */
int nm_grouping_has(const struct nm_metric *metric);

#endif
