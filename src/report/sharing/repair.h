/* SPDX-License-Identifier: MIT
 *
 * repair.h - what to change where cores contend for a line of memory, and what is left of its misses then.
 */
#ifndef NM_REPORT_REPAIR_H
#define NM_REPORT_REPAIR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Who touches which bytes of the line; NULL and -1: not known. */
struct nm_line_touch {
	unsigned offset, bytes;
	int64_t thread, structure, position;
	const char *object, *type, *field;
	int64_t reads, writes;
};

/* Writes sentences, without an end of line. Touches that are few beside the others are dropped from the list.
 * `bytes`: of the line; misses: coherence misses, of which `false_misses` are false sharing. What the repair
 * of false sharing leaves are the others: they move what another core wrote and this one used. */
void nm_repair_print(struct nm_line_touch *touches, size_t count, unsigned bytes, int64_t misses,
		     int64_t false_misses, FILE *out);

#endif
