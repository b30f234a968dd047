/* SPDX-License-Identifier: MIT
 *
 * homes.h - the node of each page of memory: the node of the core that first loads a line of the page
 * (4 KiB), as Linux places pages by default (first touch).
 */
#ifndef NM_HOMES_H
#define NM_HOMES_H

#include "map.h"

enum { NM_HOME_PAGE_SHIFT = 12 };

struct nm_homes {
	unsigned cores, nodes; /* nodes 0: each core is a node */
	unsigned running;      /* core */
	struct nm_map node_of; /* page -> node */
	int failed;            /* memory ran out */
};

/* Cores are assigned to nodes in order, the same number to each. */
static inline unsigned nm_homes_node(const struct nm_homes *homes, unsigned core)
{
	return homes->nodes ? core * homes->nodes / homes->cores : core;
}

/* The home of an address that a core loads. */
static inline unsigned nm_homes_find(struct nm_homes *homes, uint64_t address, unsigned core)
{
	const uint64_t page = address >> NM_HOME_PAGE_SHIFT;
	uint64_t node = nm_map_get(&homes->node_of, page, UINT64_MAX);

	if (node != UINT64_MAX)
		return (unsigned)node;
	node = nm_homes_node(homes, core);
	if (nm_map_put(&homes->node_of, page, node))
		homes->failed = 1;
	return (unsigned)node;
}

#endif
