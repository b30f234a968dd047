/* SPDX-License-Identifier: MIT
 *
 * index.h - functions from a line to its set: a table with one row for each.
 */
#ifndef NM_INDEX_H
#define NM_INDEX_H

#include <stdint.h>

#include "machine.h"

struct nm_index_geometry {
	uint64_t sets; /* that there are */
	/* prime: the largest prime not above sets; slices: sets of one slice */
	uint64_t modulus;
	unsigned set_bits, line_shift; /* log2 of sets, if that is an integer; log2 of the line's bytes */
	unsigned slice_bits;
};

struct nm_index {
	const char *name, *summary;
	uint64_t (*set)(const struct nm_index_geometry *p, uint64_t line);
	/* Why a level cannot have it; NULL: it can. The function may be NULL: any level can. */
	const char *(*lacks)(const struct nm_level_spec *spec);
};

extern const struct nm_index nm_indexes[NM_INDEX_COUNT]; /* by enum nm_index_kind */

void nm_index_geometry_init(struct nm_index_geometry *p, const struct nm_level_spec *spec);

#endif
