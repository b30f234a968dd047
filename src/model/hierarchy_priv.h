/* SPDX-License-Identifier: MIT
 *
 * hierarchy_priv.h - a hierarchy: build.c makes it, hierarchy.c runs it, counts.c reads it.
 */
#ifndef NM_HIERARCHY_PRIV_H
#define NM_HIERARCHY_PRIV_H

#include "cache.h"
#include "coherence.h"
#include "foresight.h"
#include "pages.h"
#include "prefetch.h"

/* Where what a core references goes first, in one machine. */
struct entry_levels {
	struct nm_cache *entry[2]; /* data, fetches; or NULL */
	struct nm_pager *pager;    /* instead, if it is a TLB; or NULL */
};

/* Of one machine: which levels a protocol keeps coherent. */
struct coherent_machine {
	unsigned first; /* level */
	struct nm_coherence *coherence;
};

struct nm_hierarchy {
	struct nm_cache *units; /* by level; of those that each core has for itself one for each core */
	unsigned begin[NM_MAX_LEVELS + 1]; /* units of level i: from begin[i] to begin[i + 1] */
	struct entry_levels *entry_levels; /* by core and machine */
	struct coherent_machine *coherent; /* [coherent_count] */
	unsigned coherent_count;
	struct nm_homes homes;
	struct nm_pages pages;
	unsigned count, machines, cores;
	unsigned core; /* the running one */
	struct nm_event_sink sink;
	struct nm_prefetch_queue queue;
	struct nm_foresight *foresight;             /* of the first machine, or NULL */
	struct nm_oracle *oracle;                   /* or NULL; borrowed */
	struct nm_sampler *sampler;                 /* of the first level, or NULL; borrowed */
	const struct nm_coalesced_table *coalesced; /* that references may be to, or NULL; borrowed */
	struct nm_ref *apart;                       /* [NM_BATCH], for references of coalesced one by one */
	int data_only;                              /* no fetches will come */
	int uncounted;                              /* references of weight 0 may come */
	int one_by_one;                             /* they are all to be taken so */
	int broken;                                 /* why: a code */
	int finished;
};

static inline struct nm_cache *unit_of(const struct nm_hierarchy *h, unsigned level, unsigned core)
{
	return &h->units[h->begin[level] + (h->begin[level + 1] - h->begin[level] > 1 ? core : 0)];
}

static inline unsigned unit_count(const struct nm_hierarchy *h) { return h->begin[h->count]; }

static inline struct entry_levels *entry_levels_of(const struct nm_hierarchy *h, unsigned core)
{
	return h->entry_levels + core * h->machines;
}

#endif
