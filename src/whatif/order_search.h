/* SPDX-License-Identifier: MIT
 *
 * order_search.h - searches for an order of a structure's members, and for a split of it, by an estimate of their costs.
 *
 * A layout's cost is that of its misses in the caches, simulated over a log of visits (visit_log.h): an estimate that
 * ranks layouts, since blocks are moved as if their neighbours were blocks of the structure too. The search begins with
 * the order as it is, with the members that are used most in front, with a chain along the affinity graph: after the
 * member used most always the one that most visits use together with those before it, and with orders that are drawn.
 * From the best of these it moves one member at a time, as long as that costs less. Splits keep the k members used
 * most. What the layouts found really cost, order_trials.h finds out.
 */
#ifndef NM_ORDER_SEARCH_H
#define NM_ORDER_SEARCH_H

#include "machine.h"
#include "orders.h"

/* Cycles that a load of a level adds to a reference: what prefetchers cover, and what they do not. */
struct nm_load_cost {
	double covered, other;
};

struct nm_found_layout {
	const char *text; /* in the language of candidates; NULL: there is none */
	struct nm_order order;
	unsigned hot; /* split: so many members stay; 0: it is no split */
};

enum { NM_FOUND_ORDERS = 4, NM_FOUND_SPLITS = 8 };

struct nm_order_search {
	const struct nm_visit_log *log;
	const struct nm_machine *machine;
	struct nm_load_cost costs[NM_MAX_LEVELS]; /* 0 for levels of code */
	unsigned most;                            /* layouts that are simulated, about */
	/* What is found: */
	unsigned tried;
	double own; /* the cost of the structure as it is */
	/* the cheapest, in order */
	struct nm_found_layout orders[NM_FOUND_ORDERS], splits[NM_FOUND_SPLITS];
	struct nm_map known; /* text -> index of its cost */
	struct nm_vec(double) costs_known;
	struct nm_strings names;
};

/* What it costs; infinitely much if blocks need more room. NM_EINVAL: it does not fit. */
int nm_order_cost(const struct nm_order_search *search, const char *text, double *ret_cost,
		  struct nm_error *err);

/* Orders, then splits of one. log, machine, costs and `most` are set, the rest is 0. Call nm_order_search_done in any
 * case. */
int nm_order_search_run(struct nm_order_search *search, struct nm_error *err);
int nm_order_search_splits(struct nm_order_search *search, const struct nm_order *order,
			   struct nm_error *err);
void nm_order_search_done(struct nm_order_search *search);

#endif
