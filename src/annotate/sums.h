/* SPDX-License-Identifier: MIT
 *
 * sums.h - sums of the view `counts` and the columns that are made of them, by name.
 */
#ifndef NM_SUMS_H
#define NM_SUMS_H

#include "table.h"

/* The counts of the view, in its order. */
struct nm_sums {
	int64_t reads, writes, read_misses, write_misses, cold, capacity, conflict, coherence, loads, reuse,
	    used_bytes, loaded_bytes, evictions, writebacks;
};

#define NM_SUMS_SQL                                                                                   \
	"sum(reads), sum(writes), sum(read_misses), sum(write_misses), sum(cold), sum(capacity), "    \
	"sum(conflict), sum(coherence), sum(loads), sum(reuse), sum(used_bytes), sum(loaded_bytes), " \
	"sum(evictions), sum(writebacks)"

/* What shares and rates are of. */
struct nm_sum_total {
	struct nm_sums sum;
	int64_t instructions;
	int64_t unit; /* of nm_level, or 0 */
};

/* One column: its layout, and its value. */
struct nm_sum_column {
	struct nm_column column;
	size_t offset; /* of a count in struct nm_sums, where `of` is NULL */
	struct nm_value (*of)(const struct nm_sums *figures, const struct nm_sum_total *whole);
	int adds_up; /* its sum over lines means something */
};

const struct nm_sum_column *nm_sum_column_at(unsigned i); /* NULL behind the last */
unsigned nm_sum_column_count(void);

/* Columns named "a,b,c" as indices, at most `room`.  NM_EINVAL names those that there are. */
int nm_sum_columns_chosen(const char *list, unsigned *ret_chosen, unsigned room, unsigned *ret_count,
			  struct nm_error *err);
int nm_sum_column_named(const char *name, unsigned *ret_index, struct nm_error *err);

struct nm_value nm_sum_column_value(const struct nm_sum_column *figure, const struct nm_sums *figures,
				    const struct nm_sum_total *whole);

/* By what to rank and to colour: the count, or the misses where a sum means nothing. */
int64_t nm_sum_column_weight(const struct nm_sum_column *figure, const struct nm_sums *figures);

void nm_sums_read(struct nm_sums *ret_sums, const struct nm_rows *rows, unsigned first_column);
void nm_sums_add(struct nm_sums *to, const struct nm_sums *more);

#endif
