/* SPDX-License-Identifier: MIT
 *
 * whatif_search.h - nearmiss whatif --search: layouts of a structure that may cost less, and which of them does when it
 * is simulated in full.
 */
#ifndef NM_WHATIF_SEARCH_H
#define NM_WHATIF_SEARCH_H

#include "diff.h"
#include "order_search.h"

enum { NM_SEARCH_VISITS = 1 << 20, NM_SEARCH_LAYOUTS = 300 };

struct nm_whatif_search {
	struct nm_visit_log log;
	struct nm_order_search orders;
	struct nm_found_layout found[NM_FOUND_ORDERS + NM_FOUND_SPLITS];
	unsigned count, first; /* of those found; which candidate the first of them is */
};

void nm_whatif_search_init(struct nm_whatif_search *search, const char *structure);
void nm_whatif_search_done(struct nm_whatif_search *search);

/* After a replay with the log: finds layouts. profile: that of this replay. 0, or a status after a message. */
int nm_whatif_search_run(struct nm_whatif_search *search, const struct nm_machine *machine,
			 struct nm_profile *profile);

/* Writes the best order and the best split as declarations, by the profiles of the program as it is (inputs[0]) and of
 * candidates. 0 or a code. */
int nm_whatif_search_write(const struct nm_whatif_search *search, const struct nm_diff_input *inputs,
			   FILE *out, struct nm_error *err);

#endif
