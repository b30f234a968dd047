/* SPDX-License-Identifier: MIT
 *
 * whatif_prefetch.h - nearmiss whatif --prefetch: prefetches of a line's loads, tried at several distances.
 */
#ifndef NM_WHATIF_PREFETCH_H
#define NM_WHATIF_PREFETCH_H

#include "options.h"
#include "prefetch_report.h"
#include "simulation_options.h"

struct nm_whatif_prefetch {
	const char *place;    /* FILE:LINE */
	const char *distance; /* "A..B", "N,N,...", or both; NULL: the usual ones */
	const char *by;       /* NULL, "distance" or "size": what CSV and JSON have */
	const char *trace;
	enum nm_diff_layout layout;
	int64_t width;
	/* Read from these: */
	char *file;
	int64_t line;
	unsigned distances[NM_TRIAL_DISTANCE], distance_count;
	int by_size;
};

/* Reads the texts: 0, or a status after a message; call nm_whatif_prefetch_done in any case. */
int nm_whatif_prefetch_read(struct nm_whatif_prefetch *prefetch, const struct nm_command *self);
void nm_whatif_prefetch_done(struct nm_whatif_prefetch *prefetch);

/* Replays the trace, of which `profile` counts instructions, with the prefetches, and shows what they do. 0 or a
 * status. */
int nm_whatif_prefetch_run(const struct nm_whatif_prefetch *prefetch, const struct nm_command *self,
			   const struct nm_simulation_options *options, struct nm_profile *profile);

#endif
