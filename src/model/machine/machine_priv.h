/* SPDX-License-Identifier: MIT
 *
 * machine_priv.h - shared by spec.c and machine.c.
 */
#ifndef NM_MACHINE_PRIV_H
#define NM_MACHINE_PRIV_H

#include "machine.h"

enum {
	MAX_LINES = 1 << 26,
	MAX_LINE_BYTES = 4096,
	MAX_DEGREE = 64,
	MAX_DISTANCE = 1024,
	MAX_TABLE = 65536,
	NM_PREFIX_MOST = 23, /* letters of a machine's name before those of its levels */
	NM_LEVEL_NAME_MOST = 11,
};
#define NM_PREFIX_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

/* Words in a SPEC, by enum nm_level_side, write_through, no_allocate and enum nm_inclusion. */
extern const char *const nm_side_names[3], *const nm_write_names[2], *const nm_allocate_names[2],
									 *const nm_inclusion_names[3];

extern const char *const nm_sharing_names[2];                      /* by enum nm_sharing, from NM_SHARED on */
extern const char *const nm_cross_names[2];                        /* by cross_pages */
extern const char *const nm_page_names[3];                         /* by enum nm_page_size */
extern const char *const nm_prefetcher_names[NM_PREFETCHER_KINDS]; /* of bits */

/* Why a level of known geometry cannot have its sectors; NULL: it can. */
const char *sector_fault(const struct nm_level_spec *level);

/* The same for its prefetcher. */
const char *prefetch_fault(const struct nm_level_spec *level);

/* The side that follows from a level's name. */
enum nm_level_side spec_side(const char *name);

/* Why level i cannot be behind the earlier ones; NULL: it can. */
const char *machine_clash(const struct nm_machine *machine, unsigned i);

#endif
