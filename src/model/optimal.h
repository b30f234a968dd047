/* SPDX-License-Identifier: MIT
 *
 * optimal.h - the fewest loads that any replacement can do with: Belady's OPT, of a list that is known to its end.
 */
#ifndef NM_OPTIMAL_H
#define NM_OPTIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"

/* Line numbers in the order in which a level is asked for them.  ret_loads, if not NULL, gets a 1 for each that OPT
 * loads, 0 for each that it holds.  The index, sets and ways of the level count; all lines are loaded.
 * 0 or NM_ENOMEM. */
int nm_optimal_loads(const struct nm_level_spec *spec, const uint64_t *lines, size_t count,
		     unsigned char *ret_loads, uint64_t *ret_count);

#endif
