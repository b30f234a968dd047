/* SPDX-License-Identifier: MIT
 *
 * layout_levels.h - what candidate layouts of a program's data do at each level: the misses, evictions and lines loaded
 * of the profile as it is and of each candidate's, with the least and the greatest misses of the relocations.
 */
#ifndef NM_LAYOUT_LEVELS_H
#define NM_LAYOUT_LEVELS_H

#include "diff.h"

/* inputs[0] is the program as it is; `path` says what the others are. Writes a table. 0 or a code. */
int nm_layout_levels(const struct nm_diff_input *inputs, unsigned count, enum nm_diff_layout layout,
		     const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
