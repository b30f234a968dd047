/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * hints.h - which instructions tell the caches what comes: prefetches and non-temporal stores.
 *
 * VEX drops prefetches and makes plain stores of non-temporal ones, so we decode the instruction's bytes. Without
 * Valgrind's headers, for the unit test.
 */
#ifndef NEARMISS_VALGRIND_HINTS_H
#define NEARMISS_VALGRIND_HINTS_H

#include <stddef.h>
#include <stdint.h>

enum nm_hint_kind {
	NM_HINT_NONE,
	NM_HINT_PREFETCH,
	NM_HINT_STORE /* a non-temporal one */
};

enum nm_segment { NM_SEGMENT_NONE, NM_SEGMENT_FS, NM_SEGMENT_GS };

/* base + (index << shift) + displacement, in a segment. Registers have their numbers in code; -1: there is none. */
struct nm_operand {
	int base, index, shift;
	enum nm_segment segment;
	int is_narrow; /* the sum without the segment is cut to 32 bits */
	int64_t displacement;
};

struct nm_hint {
	enum nm_hint_kind kind;
	unsigned flags;            /* NM_WIRE_*: what becomes of the line */
	struct nm_operand operand; /* of a prefetch */
};

/* The hint that the instruction at the address is. `pc`: where it runs. */
struct nm_hint nm_hint_decode(const unsigned char *code, uint64_t pc);

/* Whether the bytes of code may hold a prefetch: true for all that do. */
int nm_hint_may_prefetch(const unsigned char *code, size_t bytes);

#endif
