/* SPDX-License-Identifier: MIT
 *
 * spec_priv.h - shared by the files that read a SPEC: spec.c reads the text, spec_fit.c completes levels.
 */
#ifndef NM_SPEC_PRIV_H
#define NM_SPEC_PRIV_H

#include "machine_priv.h"

/* A text being read. */
struct nm_spec_reader {
	const char *spec, *at;
	struct nm_error *err;
};

/* Reports a fault at a place in the text. NM_EINVAL. */
#define nm_spec_fault(r, at, ...) nm_fail_at((r)->err, (r)->spec, (int)((at) - (r)->spec), __VA_ARGS__)

/* Where the text gives the figures of a level; NULL: it does not. */
struct nm_spec_positions {
	const char *size, *ways, *line, *sets, *index, *slices, *seed, *plugin, *policy, *huge, *sector,
	    *prefetch, *degree, *distance, *table, *cross;
};

/* A level as read, before its figures are completed. */
struct nm_spec_draft {
	struct nm_level_spec *level;
	uint64_t ways, line, sets, slices, sector;
	int full;
	struct nm_spec_positions at;
};

/* Makes size, ways and sets agree, and checks that keys suit the geometry. 0 or NM_EINVAL. */
int model_spec_fit(struct nm_spec_reader *reader, struct nm_spec_draft *draft);

#endif
