/* SPDX-License-Identifier: MIT
 *
 * sums.h - the metrics (metrics.h) that annotations show.
 */
#ifndef NM_SUMS_H
#define NM_SUMS_H

#include "metrics.h"
#include "table.h"

/* The metrics of annotations, in their order; NULL behind the last. */
const struct nm_metric *nm_sum_column_at(unsigned i);
unsigned nm_sum_column_count(void);

/* How tables show metric i: annotations drop no column. */
struct nm_column nm_sum_column_layout(unsigned i);

/* The indices of the metrics of a list "a,b,c", at most `room`. NM_EINVAL: the message lists valid names. */
int nm_sum_columns_chosen(const char *list, unsigned *ret_chosen, unsigned room, unsigned *ret_count,
			  struct nm_error *err);
int nm_sum_column_named(const char *name, unsigned *ret_index, struct nm_error *err);

struct nm_value nm_sum_column_value(const struct nm_metric *metric, const struct nm_metric_sums *sums,
				    const struct nm_metric_total *total);

/* What to rank and colour rows by: the metric, or the misses where sums of the metric mean nothing. */
int64_t nm_sum_column_weight(const struct nm_metric *metric, const struct nm_metric_sums *sums);

#endif
