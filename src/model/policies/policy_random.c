/* SPDX-License-Identifier: MIT
 *
 * policy_random.c - a random line leaves. Each level has its own generator, seeded by `seed=`, so that runs
 * repeat.
 */
#include "policy.h"

static void random_touch(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	(void)r, (void)set, (void)way;
}

static uint32_t random_victim(struct nm_replacement *r, uint64_t set)
{
	(void)set;
	return nm_replacement_draw(r, r->ways);
}

const struct nm_policy nm_policy_random = {
    .name = "random", .draws = 1, .touch = random_touch, .load = random_touch, .victim = random_victim};
