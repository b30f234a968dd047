/* SPDX-License-Identifier: MIT
 *
 * policies.c - the table of replacement policies, memory for their state, and the policy without state.
 */
#include <assert.h>
#include <stdlib.h>

#include "map.h"
#include "policy.h"

extern const struct nm_policy nm_policy_lru, nm_policy_fifo, nm_policy_random, nm_policy_tree_plru,
    nm_policy_bit_plru, nm_policy_nru, nm_policy_srrip, nm_policy_brrip, nm_policy_drrip, nm_policy_opt;

const struct nm_policy *const nm_policies[] = {
    &nm_policy_lru, &nm_policy_fifo,  &nm_policy_random, &nm_policy_tree_plru, &nm_policy_bit_plru,
    &nm_policy_nru, &nm_policy_srrip, &nm_policy_brrip,  &nm_policy_drrip,     &nm_policy_opt,
    NULL,
};

int nm_replacement_init(struct nm_replacement *r, const struct nm_level_spec *spec)
{
	const struct nm_policy *policy = nm_level_policy(spec);

	assert(spec->sets && spec->ways);
	*r = (struct nm_replacement){
	    .policy = policy, .ways = spec->ways, .sets = spec->sets, .random = nm_mix64(spec->seed)};
	r->stride = (policy->set_bytes + policy->way_bytes * spec->ways + 7) / 8 * 8;
	r->state = calloc(spec->sets, r->stride ? r->stride : 1);
	if (!r->state)
		return NM_ENOMEM;
	for (uint64_t set = 0; policy->start && set < spec->sets; set++)
		policy->start(r, set);
	return 0;
}

void nm_replacement_done(struct nm_replacement *r)
{
	free(r->state);
	*r = (struct nm_replacement){0};
}

/* ---- policy random ---- */

/* A random line leaves. Each level has its own generator, seeded by `seed=`, so that runs
 * repeat.
 */

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
