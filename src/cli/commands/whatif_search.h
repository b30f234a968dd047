/* SPDX-License-Identifier: MIT
 *
 * whatif_search.h - nearmiss whatif --search: layouts of a structure that may cost less, and which of them does when it
 * is simulated in full.
 */
#ifndef NM_WHATIF_SEARCH_H
#define NM_WHATIF_SEARCH_H

#include "diff.h"
#include "order_trials.h"

enum {
	NM_SEARCH_VISITS = 1 << 20,
	NM_SEARCH_LAYOUTS = 300, /* of which the costs are estimated, */
	NM_SEARCH_TRIALS = 64,   /* orders that are simulated in full */
	NM_SEARCH_FOUND = 4      /* layouts that are shown */
};

struct nm_whatif_search {
	struct nm_visit_log log;
	struct nm_order_search orders;
	struct nm_order_trials trials;
	struct nm_found_layout found[NM_SEARCH_FOUND];
	unsigned count, first; /* of those found; which candidate the first of them is */
};

void nm_whatif_search_init(struct nm_whatif_search *search, const char *structure);
void nm_whatif_search_done(struct nm_whatif_search *search);

/* After a replay with the log: begins the trials. profile: that of this replay. 0, or a status after a message. */
int nm_whatif_search_run(struct nm_whatif_search *search, const struct nm_machine *machine,
			 struct nm_profile *profile);

/* The trials that were proposed were replayed; paths: of the profiles of the program as it is, and of each.
 * Returns the same. */
int nm_whatif_search_tell(struct nm_whatif_search *search, char *const *paths);

/* After the trials: the layouts that cost least, as many as there is room for. */
void nm_whatif_search_find(struct nm_whatif_search *search, unsigned room);

/* Writes the best order and the best split as declarations, by the profiles of the program as it is (inputs[0]) and of
 * candidates. 0 or a code. */
int nm_whatif_search_write(const struct nm_whatif_search *search, const struct nm_diff_input *inputs,
			   FILE *out, struct nm_error *err);

#endif
