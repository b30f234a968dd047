/* SPDX-License-Identifier: MIT
 *
 * policies.c - the table of replacement policies, and the state that they keep.
 */
#include <stdlib.h>

#include "map.h"
#include "policy.h"

const struct nm_policy *const nm_policies[NM_POLICY_COUNT] = {
    [NM_POLICY_LRU] = &nm_policy_lru,           [NM_POLICY_FIFO] = &nm_policy_fifo,
    [NM_POLICY_RANDOM] = &nm_policy_random,     [NM_POLICY_TREE_PLRU] = &nm_policy_tree_plru,
    [NM_POLICY_BIT_PLRU] = &nm_policy_bit_plru, [NM_POLICY_NRU] = &nm_policy_nru,
    [NM_POLICY_SRRIP] = &nm_policy_srrip,       [NM_POLICY_BRRIP] = &nm_policy_brrip,
    [NM_POLICY_DRRIP] = &nm_policy_drrip,       [NM_POLICY_OPT] = &nm_policy_opt,
};

int nm_replacement_init(struct nm_replacement *r, const struct nm_level_spec *spec)
{
	const struct nm_policy *policy = nm_policies[spec->policy];

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

uint32_t nm_replacement_draw(struct nm_replacement *r, uint32_t n)
{
	return (uint32_t)((nm_mix64(r->random += 0x9e3779b97f4a7c15ull) >> 32) * n >> 32);
}
