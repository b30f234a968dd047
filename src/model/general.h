/* SPDX-License-Identifier: MIT
 *
 * general.h - additional state of levels that are not LRU, modulo, write-back, write-allocate and
 * non-inclusive.
 */
#ifndef NM_GENERAL_H
#define NM_GENERAL_H

#include "cache.h"
#include "coherence.h"
#include "index.h"
#include "plugin.h"
#include "policy.h"
#include "prefetch_tracker.h"

/* What a level must know of the levels around it. */
struct nm_level_context {
	int general;
	int has_extras;  /* it counts nm_extras, too */
	int has_covered; /* it counts loads that prefetchers would have made (prefetch_coverage.h) */
	struct nm_prefetch_queue *queue; /* if it prefetches, or is behind a level that does; else NULL */
	struct nm_next_uses *next_uses;  /* OPT */
	uint64_t reserved_slots;         /* exclusive: lines that the levels above it can hold */
};

struct nm_general {
	struct nm_plugin plugin; /* if there is one, it does placement and replacement */
	struct nm_replacement replacement;
	struct nm_index_geometry placement;
	uint64_t (*set)(const struct nm_index_geometry *placement, uint64_t line);
	unsigned sector_shift; /* log2 of the sectors in a line */
	uint64_t *lines;     /* of each way of each set, or NM_NO_LINE; without sectors these are the tags */
	uint64_t *free_ways; /* `free_words` words a set: a bit for each way without a line */
	uint32_t free_words;
	uint32_t *free_count;
	struct nm_cache **above; /* inclusive: those whose lines it holds too, innermost first */
	unsigned above_count;
	struct nm_prefetch_tracker *prefetched; /* of a level that gets prefetched lines, else NULL */
	/* exclusive: the free ones of the level's last `reserved_slots` slots */
	uint32_t *reserved_slots;
	uint32_t reserved_free;
	struct nm_homes *homes; /* of a last level that counts loads from remote memory, or NULL */
};

/* The level already has its arrays, spec and geometry. 0 or NM_ENOMEM. */
int nm_general_new(struct nm_cache *cache, const struct nm_level_context *context);
void nm_general_free(struct nm_general *general);

/* The set of a line, or of a sector of it. */
static inline uint64_t nm_general_set(const struct nm_cache *c, uint64_t line)
{
	return c->general->set(&c->general->placement, line >> c->general->sector_shift);
}

/* The program prefetches; the level takes its references. */
void nm_general_take_prefetch(struct nm_cache *entry, const struct nm_software_prefetch *prefetch);

/* Prefetches a line, unless it is resident; the attribution key caused the prefetch. */
void nm_general_prefetch(struct nm_cache *cache, uint64_t line, uint32_t attr);

uint32_t nm_general_find(const struct nm_cache *cache, uint64_t line);

#endif
