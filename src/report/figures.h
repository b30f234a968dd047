/* SPDX-License-Identifier: MIT
 *
 * figures.h - sums of the view `counts` and the columns that are made of them, by name.
 */
#ifndef NM_FIGURES_H
#define NM_FIGURES_H

#include "table.h"

/* The counts of the view, in its order. */
struct nm_figures {
	int64_t reads, writes, read_misses, write_misses, cold, capacity, conflict, coherence, loads, reuse,
	    used_bytes, loaded_bytes, evictions, writebacks;
};

#define NM_FIGURE_SUMS                                                                                \
	"sum(reads), sum(writes), sum(read_misses), sum(write_misses), sum(cold), sum(capacity), "    \
	"sum(conflict), sum(coherence), sum(loads), sum(reuse), sum(used_bytes), sum(loaded_bytes), " \
	"sum(evictions), sum(writebacks)"

/* What shares and rates are of. */
struct nm_whole {
	struct nm_figures sum;
	int64_t instructions;
	int64_t unit; /* of nm_level, or 0 */
};

/* One column: its layout, and its value. */
struct nm_figure {
	struct nm_column column;
	size_t offset; /* of a count in struct nm_figures, where `of` is NULL */
	struct nm_value (*of)(const struct nm_figures *figures, const struct nm_whole *whole);
	int adds_up; /* its sum over lines means something */
};

const struct nm_figure *nm_figure_at(unsigned i); /* NULL behind the last */
unsigned nm_figure_count(void);

/* Columns named "a,b,c" as indices, at most `room`.  NM_EINVAL names those that there are. */
int nm_figures_chosen(const char *list, unsigned *ret_chosen, unsigned room, unsigned *ret_count,
		      struct nm_error *err);
int nm_figure_named(const char *name, unsigned *ret_index, struct nm_error *err);

struct nm_value nm_figure_value(const struct nm_figure *figure, const struct nm_figures *figures,
				const struct nm_whole *whole);

/* By what to rank and to colour: the count, or the misses where a sum means nothing. */
int64_t nm_figure_weight(const struct nm_figure *figure, const struct nm_figures *figures);

void nm_figures_read(struct nm_figures *ret_figures, const struct nm_rows *rows, unsigned first_column);
void nm_figures_add(struct nm_figures *to, const struct nm_figures *more);

#endif
