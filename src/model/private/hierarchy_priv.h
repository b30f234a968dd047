/* SPDX-License-Identifier: MIT
 *
 * hierarchy_priv.h - a hierarchy: build.c makes it, hierarchy.c runs it, counts.c reads it.
 */
#ifndef NM_HIERARCHY_PRIV_H
#define NM_HIERARCHY_PRIV_H

#include "cache.h"
#include "coherence.h"
#include "pages.h"
#include "prefetch.h"
#include "prefetch_coverage.h"

/* Where the references of a core enter a machine. */
struct entry_levels {
	struct nm_cache *entry[2]; /* data, fetches; or NULL */
	struct nm_pager *pager;    /* if the machine is a TLB, used instead; else NULL */
};

/* A machine with a coherence protocol. */
struct coherent_machine {
	unsigned first; /* level */
	struct nm_coherence *coherence;
};

struct nm_hierarchy {
	struct nm_cache *units;            /* by level; private levels have one for each core */
	unsigned begin[NM_MAX_LEVELS + 1]; /* units of level i: from begin[i] to begin[i + 1] */
	uint8_t same[NM_MAX_LEVELS];       /* the level whose units a level has: itself, or shared_levels.c */
	int next_level[NM_MAX_LEVELS];     /* that serves its misses; -1: memory */
	struct entry_levels *entry_levels; /* by core and machine */
	struct coherent_machine *coherent; /* [coherent_count] */
	unsigned coherent_count;
	struct nm_homes homes;
	struct nm_page_rules pages;
	unsigned count, machines, cores;
	unsigned core; /* the running one */
	struct nm_event_sink sink;
	struct nm_prefetch_queue queue;
	struct nm_coverage *coverage;               /* of the first machine, or NULL */
	struct nm_oracle *oracle;                   /* or NULL; borrowed */
	struct nm_sampler *sampler;                 /* of the first level, or NULL; borrowed */
	const struct nm_coalesced_table *coalesced; /* that references may be to, or NULL; borrowed */
	const struct nm_cache_hint *due;            /* [due_count] hints of the batch, from the next one on */
	size_t due_count;
	const struct nm_ref *expected; /* the next batch, or NULL (nm_hierarchy_prefetch_host) */
	struct nm_ref *apart;          /* [NM_BATCH], for references of coalesced one by one */
	int data_only;                 /* there are no fetches */
	int uncounted;                 /* references may have weight 0 */
	int hints;                     /* the program's prefetches come in between */
	int one_by_one;                /* take references one by one */
	int broken;                    /* the code of the failure, or 0 */
	int finished;
	uint8_t sketch[NM_SKETCH]; /* of the lines that the first data level has loaded */
};

static inline struct nm_cache *unit_of(const struct nm_hierarchy *h, unsigned level, unsigned core)
{
	level = h->same[level];
	return &h->units[h->begin[level] + (h->begin[level + 1] - h->begin[level] > 1 ? core : 0)];
}

static inline unsigned unit_count(const struct nm_hierarchy *h) { return h->begin[h->count]; }

/* The level behind one of the same machine, or NULL. */
static inline struct nm_cache *next_of_machine(const struct nm_hierarchy *h, const struct nm_cache *c,
					       unsigned core)
{
	const int next = h->next_level[c->level];

	return next < 0 ? NULL : unit_of(h, (unsigned)next, core);
}

/* Whether a level takes the fills of another. */
static inline int takes_fills(const struct nm_cache *c, const struct nm_cache *upper)
{
	const struct nm_cache *next = upper->next;

	while (next && next != c)
		next = next->sibling;
	return next != NULL;
}

/* build.c: finds levels that form chains, and those whose next level sees the same cold lines. */
void find_short_cuts(struct nm_hierarchy *h);

/* take_hints.c: from now on the hierarchy follows hints, if it can. 0 or NM_ENOMEM. */
int hierarchy_take_hints(struct nm_hierarchy *h);

/* shared_levels.c: finds the levels that machines have in common (`same`). */
void share_levels(struct nm_hierarchy *h, const struct nm_machine *machine);

static inline struct entry_levels *entry_levels_of(const struct nm_hierarchy *h, unsigned core)
{
	return h->entry_levels + core * h->machines;
}

#endif
