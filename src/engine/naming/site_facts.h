/* SPDX-License-Identifier: MIT
 *
 * site_facts.h - what all blocks that were allocated through one call have in common.
 */
#ifndef NM_SITE_FACTS_H
#define NM_SITE_FACTS_H

#include <stdint.h>

#include "map.h"
#include "vector.h"

struct nm_contexts;
struct nm_space;

enum { NM_SITE_CALLERS = 4 };

struct nm_site_facts {
	uint64_t size, largest;
	uint64_t caller[NM_SITE_CALLERS]; /* the calls that led to this one, so many at most */
	unsigned callers;
	int varies; /* the size of blocks */
};

/* By the call's pc; made from all buckets when the first is asked for. */
struct nm_site_table {
	struct nm_map index; /* pc -> 1 + index */
	struct nm_vec(struct nm_site_facts) list;
	size_t objects; /* of which the table was made */
};

/* Zeros if nothing is known. */
struct nm_site_facts nm_site_facts_of(struct nm_site_table *table, const struct nm_space *space,
				      const struct nm_contexts *contexts, uint64_t pc);

void nm_site_table_done(struct nm_site_table *table);

#endif
