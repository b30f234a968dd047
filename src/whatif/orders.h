/* SPDX-License-Identifier: MIT
 *
 * orders.h - orders of a structure's members: some to begin a search with, changes of one, and its text in the language
 * of candidates.
 *
 * Members are of the element map: bit-fields of one word, the alternatives of a union and the members of a nested
 * structure stay together. An array without a size stays last, and a pointer to virtual functions first; neither is in
 * an order.
 */
#ifndef NM_ORDERS_H
#define NM_ORDERS_H

#include "map.h"
#include "visit_log.h"

enum { NM_ORDER_MOST = NM_VISIT_UNITS };

struct nm_order {
	uint32_t at[NM_ORDER_MOST]; /* indices in the map */
	unsigned count;
	double cost;
};

/* All members, or those that are used, as they lie; of these, those used most in front. */
void nm_order_as_it_is(const struct nm_visit_log *log, int used_only, struct nm_order *ret);
void nm_order_by_use(const struct nm_visit_log *log, const struct nm_order *own, struct nm_order *ret);

/* Along the affinity graph: each line begins with the member used most of those that are left, and takes those that are
 * used most together with what it has. */
void nm_order_by_affinity(const struct nm_visit_log *log, const struct nm_order *most_used,
			  struct nm_order *ret);

/* Adds the members that it does not have, those of the largest alignment first. */
void nm_order_complete(const struct nm_visit_log *log, struct nm_order *order);

/* Whether a complete order is that of the structure as it is. */
int nm_order_is_own(const struct nm_visit_log *log, const struct nm_order *order);

uint64_t nm_order_bytes(const struct nm_visit_log *log,
			const struct nm_order *order); /* of the structure then */

/* The member at one place goes to another; two change places; all are drawn anew. */
struct nm_order nm_order_move(const struct nm_order *order, unsigned from, unsigned to);
struct nm_order nm_order_swap(const struct nm_order *order, unsigned one, unsigned other);
void nm_order_shuffle(struct nm_order *order, uint64_t *state);

/* The complete order as a candidate of `names`; hot > 0: split too, so that only the first `hot` of `used` stay. NULL:
 * out of memory. */
const char *nm_order_text(const struct nm_visit_log *log, struct nm_strings *names,
			  const struct nm_order *order, const struct nm_order *used, unsigned hot);

#endif
