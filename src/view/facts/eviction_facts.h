/* SPDX-License-Identifier: MIT
 *
 * eviction_facts.h - reads the evictions of a level.
 */
#ifndef NM_VIEW_EVICTION_FACTS_H
#define NM_VIEW_EVICTION_FACTS_H

#include "cube.h"

/* Adds the evictions of a level to a cube whose keys are those of NM_FACTS_EVICTIONS in store.c, of which the last, of
 * innermost frames, need not be there. 0 or a code. */
int nm_eviction_facts_read(struct nm_cube *cube, struct nm_cube_names *names, struct nm_profile *profile,
			   int has_inner, const char *level, struct nm_error *err);

#endif
