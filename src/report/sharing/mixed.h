/* SPDX-License-Identifier: MIT
 *
 * mixed.h - fields of one structure that have a line together, although some are hardly written and others often: each
 * write of the latter takes the former from the caches of all who read them.
 */
#ifndef NM_REPORT_MIXED_H
#define NM_REPORT_MIXED_H

#include "repair.h"

/* Of a line's touches: writes a sentence with both lists, without an end of line, and returns 1; or writes nothing and
 * returns 0, if no structure has both, or if the fields that are read have less than 5% of the line's `misses`. */
int nm_mixed_print(const struct nm_repair_touch *touches, size_t count, unsigned bytes, int64_t misses,
		   FILE *out);

#endif
