/* SPDX-License-Identifier: MIT
 *
 * policy_rrip.c - re-reference interval prediction, as in Jaleel, Theobald, Steely and Emer, "High
 * Performance Cache Replacement Using Re-Reference Interval Prediction (RRIP)", ISCA 2010, with 2 bits a line
 * and hit priority.
 *
 * A line's number tells how far away its next use is thought to be, 3 the farthest; a hit makes it 0. The
 * victim is the first way with a 3; while there is none, all grow by one. SRRIP loads with 2. BRRIP loads
 * with 3, and with 2 once in 32 times, at random. DRRIP makes 32 sets leaders of each of the two (fewer in
 * small caches; a single set is SRRIP's): a load in a leader of one moves a 10-bit counter towards the other,
 * and all other sets use BRRIP while the counter is in its upper half.
 */
#include <string.h>

#include "policy.h"

enum { FARTHEST = 3, FAR = 2, SELDOM = 32, LEADERS = 32, COUNT_MOST = 1023 };

static void rrip_hit(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	((unsigned char *)nm_replacement_state(r, set))[way] = 0;
}

static void load_far(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	((unsigned char *)nm_replacement_state(r, set))[way] = FAR;
}

static void load_farthest(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	((unsigned char *)nm_replacement_state(r, set))[way] =
	    nm_replacement_draw(r, SELDOM) ? FARTHEST : FAR;
}

static void start_duel(struct nm_replacement *r, uint64_t set)
{
	(void)set;
	r->period = r->sets > 2 * LEADERS ? r->sets / LEADERS : 2;
	r->duel = COUNT_MOST / 2;
}

/* If the sets are not a multiple of LEADERS there are a few more leaders. */
static void load_by_duel(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	uint64_t role = set % r->period;

	if (role == 0 && r->duel < COUNT_MOST)
		r->duel++;
	if (role == 1 && r->duel)
		r->duel--;
	if (role == 0 || (role > 1 && r->duel <= COUNT_MOST / 2))
		load_far(r, set, way);
	else
		load_farthest(r, set, way);
}

static uint32_t rrip_victim(struct nm_replacement *r, uint64_t set)
{
	unsigned char *far = nm_replacement_state(r, set), *way, most = 0;

	for (uint32_t w = 0; w < r->ways; w++)
		most = far[w] > most ? far[w] : most;
	for (uint32_t w = 0; w < r->ways; w++)
		far[w] = (unsigned char)(far[w] + FARTHEST - most);
	way = memchr(far, FARTHEST, r->ways);
	return (uint32_t)(way - far);
}

static int rrip_is_valid(const struct nm_replacement *r, uint64_t set)
{
	const unsigned char *far = nm_replacement_state(r, set);
	uint32_t way = 0;

	while (way < r->ways && far[way] <= FARTHEST)
		way++;
	return way == r->ways;
}

const struct nm_policy nm_policy_srrip = {.name = "srrip",
					  .way_bytes = 1,
					  .touch = rrip_hit,
					  .load = load_far,
					  .victim = rrip_victim,
					  .is_valid = rrip_is_valid};
const struct nm_policy nm_policy_brrip = {.name = "brrip",
					  .draws = 1,
					  .way_bytes = 1,
					  .touch = rrip_hit,
					  .load = load_farthest,
					  .victim = rrip_victim,
					  .is_valid = rrip_is_valid};
const struct nm_policy nm_policy_drrip = {.name = "drrip",
					  .draws = 1,
					  .way_bytes = 1,
					  .start = start_duel,
					  .touch = rrip_hit,
					  .load = load_by_duel,
					  .victim = rrip_victim,
					  .is_valid = rrip_is_valid};
