/* SPDX-License-Identifier: MIT
 *
 * repair.h - what to change if cores contend for a line of memory, and how many misses the change leaves.
 */
#ifndef NM_REPORT_REPAIR_H
#define NM_REPORT_REPAIR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Which thread touches which bytes of the line; NULL and -1: unknown. */
struct nm_repair_touch {
	unsigned offset, bytes;
	int64_t thread, structure, position;
	const char *object, *type, *field;
	int64_t reads, writes, false_misses;
};

/* Writes sentences, without an end of line. Drops rare touches from the list. `bytes`: of the line; misses:
 * coherence misses, of which `false_misses` are false sharing. A repair of false sharing leaves the others,
 * which load data that another core wrote and this one uses. */
void nm_repair_print(struct nm_repair_touch *touches, size_t count, unsigned bytes, int64_t misses,
		     int64_t false_misses, FILE *out);

/* mixed.c: fields of one structure that have a line together, although some are hardly written and others often: each
 * write of the latter takes the former from the caches of all who read them.
 * Of a line's touches: writes a sentence with both lists, without an end of line, and returns 1; or writes nothing and
 * returns 0, if no structure has both, or if the fields that are read have less than 5% of the line's `misses`. */
int nm_mixed_print(const struct nm_repair_touch *touches, size_t count, unsigned bytes, int64_t misses,
		   FILE *out);

#endif
