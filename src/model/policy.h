/* SPDX-License-Identifier: MIT
 *
 * policy.h - replacement policies, which choose the line that leaves a full set: a table with one row for
 * each.
 *
 * A policy knows ways by number. It sees hits and loads, and chooses a victim when all ways hold lines; free
 * ways are filled first, the lowest first, without asking. Its state is `set_bytes` per set and `way_bytes`
 * per way, initially zero.
 */
#ifndef NM_POLICY_H
#define NM_POLICY_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "machine.h"
#include "map.h"

/* The state of a policy for one level. */
struct nm_replacement {
	const struct nm_policy *policy;
	uint32_t ways;
	uint64_t sets;
	uint64_t random; /* state of the generator */
	uint64_t
	    period;    /* DRRIP: sets 0, period, 2 * period, ... lead for SRRIP, those after them for BRRIP */
	unsigned duel; /* DRRIP: the counter that decides for the other sets */
	unsigned char *state;
	size_t stride;                  /* bytes of state a set */
	struct nm_next_uses *next_uses; /* OPT */
	int failed;                     /* OPT: memory ran out */
	/* OPT: the line of each way, by set, including the one that is being loaded */
	const uint64_t *tags;
};

struct nm_policy {
	const char *name; /* in a SPEC */
	int draws;        /* draws random numbers: takes `seed=` */
	int looks_ahead;  /* must know the references to come (oracle.h) */
	size_t way_bytes, set_bytes;
	void (*start)(struct nm_replacement *r, uint64_t set); /* or NULL */
	void (*touch)(struct nm_replacement *r, uint64_t set, uint32_t way);
	void (*load)(struct nm_replacement *r, uint64_t set, uint32_t way);
	uint32_t (*victim)(struct nm_replacement *r, uint64_t set);
	/* Whether the state of a set is one that it can have; NULL: any is. */
	int (*is_valid)(const struct nm_replacement *r, uint64_t set);
};

/* All policies, ended by NULL; the first, LRU, is the default. */
extern const struct nm_policy *const nm_policies[];

/* The policy of a level. */
static inline const struct nm_policy *nm_level_policy(const struct nm_level_spec *spec)
{
	return spec->policy ? spec->policy : nm_policies[0];
}

/* Whether a level's policy must know the references to come. */
static inline int nm_level_looks_ahead(const struct nm_level_spec *spec)
{
	return spec->policy && spec->policy->looks_ahead;
}

int nm_replacement_init(struct nm_replacement *r, const struct nm_level_spec *spec); /* 0 or NM_ENOMEM */
void nm_replacement_done(struct nm_replacement *r);

static inline void *nm_replacement_state(const struct nm_replacement *r, uint64_t set)
{
	return r->state + set * r->stride;
}

/* A number below n, by splitmix64. */
static inline uint32_t nm_replacement_draw(struct nm_replacement *r, uint32_t n)
{
	assert(n > 0);
	return (uint32_t)((nm_mix64(r->random += 0x9e3779b97f4a7c15ull) >> 32) * n >> 32);
}

#endif
