/* SPDX-License-Identifier: MIT
 *
 * prefetch_whatif.h - which loads of a traced program are to be prefetched in trials (prefetch_trials.h), and what came
 * of it: for nm_pass_prefetch_trials, a caller's own pass (engine.h), whose pass_arg is a struct nm_prefetch_whatif.
 */
#ifndef NM_PREFETCH_WHATIF_H
#define NM_PREFETCH_WHATIF_H

#include "prefetch_trials.h"

struct nm_pass;

/* An instruction that loads, as reports name it. */
struct nm_prefetch_place {
	const char *module; /* NULL: code without a file */
	uint64_t address;
};

struct nm_prefetch_whatif {
	const struct nm_prefetch_place *places;
	size_t place_count;
	const struct nm_prefetch_trial *trials;
	unsigned trial_count;
	/* Results, of all processes: */
	struct nm_prefetch_sums *sums; /* [trial_count], zeros at first */
	uint64_t lines;                /* that the loads accessed, in the process where they are most */
};

extern const struct nm_pass nm_pass_prefetch_trials;

#endif
