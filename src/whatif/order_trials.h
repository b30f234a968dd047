/* SPDX-License-Identifier: MIT
 *
 * order_trials.h - which orders of a structure's members, and which splits of it, to simulate in full: the second stage
 * of a search. The first one (order_search.h) knows neither what else is in the caches nor which loads wait for
 * others.
 *
 * Rounds of layouts are proposed, and the caller tells what each costs. The first rounds have the cheapest orders of the
 * estimate, with all else equal those by use and by affinity, and orders that are drawn; the next ones change the
 * cheapest so far: one member moves, or two change places. The last round has splits of the cheapest order. What is
 * drawn is the same in every run.
 */
#ifndef NM_ORDER_TRIALS_H
#define NM_ORDER_TRIALS_H

#include "order_search.h"

struct nm_order_trials {
	struct nm_order_search *search; /* it was run */
	unsigned most;                  /* orders, about */
	/* What is known: all layouts that were proposed, the first `told` of them with costs, as parts of that of the
	 * structure as it is */
	struct nm_vec(struct nm_found_layout) tried;
	size_t told;
	struct nm_order best;
	uint64_t state;
	int has_split;
};

/* search and `most` are set, the rest is 0. */
void nm_order_trials_init(struct nm_order_trials *trials);
void nm_order_trials_done(struct nm_order_trials *trials);

/* Proposes up to `room` layouts, those of `tried` from `told` on; none: it is over. Then tell the cost of each. */
int nm_order_trials_next(struct nm_order_trials *trials, unsigned room, struct nm_error *err);
void nm_order_trials_tell(struct nm_order_trials *trials, const double *costs);

/* The cheapest orders, or splits, up to `most`, that cost less than the structure as it is; their number. */
unsigned nm_order_trials_found(const struct nm_order_trials *trials, int is_split, unsigned most,
			       struct nm_found_layout *ret);

#endif
