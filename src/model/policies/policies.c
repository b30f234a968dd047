/* SPDX-License-Identifier: MIT
 *
 * policies.c - the table of replacement policies, and memory for their state.
 */
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
