/* SPDX-License-Identifier: MIT
 *
 * policy_order.c - policies by order: LRU (the line touched first leaves) and FIFO (the line loaded first
 * leaves).
 *
 * The ways of a set form a linked ring, so every step takes constant time. Fast levels, which are LRU too, do
 * not use this: their order is in the timestamps that fast.c keeps.
 */
#include "policy.h"

struct link {
	uint32_t newer,
	    older; /* ways; element `ways` closes the ring: its newer is the oldest, its older the newest */
};

static void push_way(struct link *links, uint32_t end, uint32_t way)
{
	links[way] = (struct link){.newer = end, .older = links[end].older};
	links[links[end].older].newer = way;
	links[end].older = way;
}

static void order_start(struct nm_replacement *r, uint64_t set)
{
	struct link *links = nm_replacement_state(r, set);

	links[r->ways] = (struct link){r->ways, r->ways};
	for (uint32_t way = 0; way < r->ways; way++)
		push_way(links, r->ways, way);
}

static void order_renew(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	struct link *links = nm_replacement_state(r, set);

	links[links[way].newer].older = links[way].older;
	links[links[way].older].newer = links[way].newer;
	push_way(links, r->ways, way);
}

static void order_residency(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	(void)r, (void)set, (void)way;
}

static uint32_t order_oldest(struct nm_replacement *r, uint64_t set)
{
	const struct link *links = nm_replacement_state(r, set);

	return links[r->ways].newer;
}

/* The ring has each way once. */
static int order_is_valid(const struct nm_replacement *r, uint64_t set)
{
	const struct link *links = nm_replacement_state(r, set);
	uint32_t way = links[r->ways].newer, count = 0;

	for (; way < r->ways && count < r->ways && links[links[way].newer].older == way; count++)
		way = links[way].newer;
	return way == r->ways && count == r->ways && links[links[way].newer].older == way;
}

const struct nm_policy nm_policy_lru = {.name = "lru",
					.way_bytes = sizeof(struct link),
					.set_bytes = sizeof(struct link),
					.start = order_start,
					.touch = order_renew,
					.load = order_renew,
					.victim = order_oldest,
					.is_valid = order_is_valid};
const struct nm_policy nm_policy_fifo = {.name = "fifo",
					 .way_bytes = sizeof(struct link),
					 .set_bytes = sizeof(struct link),
					 .start = order_start,
					 .touch = order_residency,
					 .load = order_renew,
					 .victim = order_oldest,
					 .is_valid = order_is_valid};
