/* SPDX-License-Identifier: MIT
 *
 * hierarchy.h - a memory hierarchy: takes batches of references and counts hits, misses and more, by
 * attribution key and level. An *attribution key* is a dense number that the caller gives to every (thread,
 * site, object).
 *
 * Counting rules (the contract; files repeat those that they implement):
 * - Cold at the start; write-back, write-allocate, LRU, non-inclusive unless a level says otherwise
 *   (general.c).
 * - A reference that spans several lines is one reference, and one miss if any of them misses; loads (line
 *   fills), reuse and bytes used are counted per line.
 * - A level is referenced by the fills that the level above asks for, a read or a write as the reference that
 *   caused it. Write-backs are counted apart and touch nothing.
 * - A load is cold (first reference to the line in the run), capacity (a fully associative LRU cache of the
 *   same size, fed the same stream, misses too), conflict (the rest), or coherence. Their sum is loads.
 * - Reuse, bytes used and evictions are charged to the key that *loaded* the line, when it leaves or at the
 *   end. reuse = accesses served by the line, the loading one included. For further levels, counts and byte
 *   masks flow down when the line leaves the level above, so reuse there also counts the program's
 *   references.
 * - evictions = lines replaced or invalidated, not those resident at the end; evictions + resident = loads,
 *   and with prefetching loads + prefetches. Where a write of another core took over what was modified, there
 *   is no write-back.
 * - In a level with sectors all of these count sectors.
 */
#ifndef NM_HIERARCHY_H
#define NM_HIERARCHY_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "machine.h"

enum nm_ref_kind { NM_REF_READ = 0, NM_REF_WRITE = 1, NM_REF_FETCH = 16 };

/* One reference. A fetch may stand for `weight` instructions that lie in one run of bytes; a coalesced one
 * (coalesced.h) for `weight` references, `kind` of which are writes; its `attr` is its number. A reference of
 * weight 0 is not counted: it moves lines as any other, but monitors do not see it. Its misses and loads are
 * charged to its key. */
struct nm_ref {
	uint64_t address;
	uint32_t attr;
	uint16_t size;  /* bytes, at least 1 */
	uint8_t kind;   /* enum nm_ref_kind */
	uint8_t weight; /* references that this stands for, 1 for data */
};

/* Per attribution key and level. Plain sums: add them up over anything. */
struct nm_counts {
	uint64_t reads, writes;                       /* references to this level (fetches count as reads) */
	uint64_t read_misses, write_misses;           /* references that missed */
	uint64_t cold, capacity, conflict, coherence; /* of the loads */
	uint64_t loads;                               /* lines filled */
	uint64_t reuse;                    /* accesses served by lines that this attribution key loaded */
	uint64_t used_bytes, loaded_bytes; /* of the lines that this attribution key loaded */
	uint64_t evictions;                /* lines loaded by this attribution key that were replaced */
	uint64_t writebacks;               /* of those, dirty ones sent to the next level */
	uint64_t weighted_bytes;           /* bytes used of each line, times the accesses that it served */
	uint64_t covered; /* loads that prefetchers would have made ahead (prefetch_coverage.h) */
	/* of the others, those whose address depends on another load; estimated by the caller */
	uint64_t dependent;
	uint64_t page_walks; /* of the first data level: loads neither covered nor in a page of the TLB */
};

/* Further counts, of levels with sectors, prefetching or coherence; also plain sums. */
struct nm_extras {
	uint64_t sector_misses; /* loads of a sector whose line was there without it */
	/* Of prefetches that this attribution key caused (prefetch_tracker.h): */
	uint64_t prefetches;   /* lines loaded */
	uint64_t useful;       /* of these, used before they left */
	uint64_t late_evicted; /* of the others, asked for soon after they had left */
	uint64_t pollution;    /* conflict misses on lines that they had evicted */
	/* The same of the program's own only: */
	uint64_t redundant;    /* prefetches of lines that were there already */
	uint64_t late;         /* useful ones that were used before they can have come */
	uint64_t non_temporal; /* non-temporal stores, line by line */
	/* Of coherence misses (coherence.h): */
	uint64_t coherence; /* loads of lines that were lost to an invalidation */
	uint64_t false_sharing, false_first, false_words; /* of these, by three definitions */
	uint64_t unneeded;                                /* of these, nobody had written to the line */
	uint64_t remote;                                  /* loads from the memory of another node */
};

static inline void nm_extras_add(struct nm_extras *to, const struct nm_extras *more)
{
	to->sector_misses += more->sector_misses;
	to->prefetches += more->prefetches;
	to->useful += more->useful;
	to->late_evicted += more->late_evicted;
	to->pollution += more->pollution;
	to->redundant += more->redundant;
	to->late += more->late;
	to->non_temporal += more->non_temporal;
	to->coherence += more->coherence;
	to->false_sharing += more->false_sharing;
	to->false_first += more->false_first;
	to->false_words += more->false_words;
	to->unneeded += more->unneeded;
	to->remote += more->remote;
}

/* `count` times a load by attribution key `evictor`, or a prefetch that it caused, replaced a line that
 * attribution key `victim` had loaded. */
struct nm_eviction {
	uint32_t evictor, victim;
	uint64_t count : 63, prefetch : 1;
};

/* The step of an attribution key's loads in the first level of the first machine. */
struct nm_walk {
	uint64_t loads;    /* in all */
	uint64_t followed; /* those that stepped by: at least */
	int64_t step;      /* bytes */
};

struct nm_hierarchy;
struct nm_oracle;

int nm_hierarchy_new(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine,
		     struct nm_error *err);
/* The same for stored references: levels with policy=opt use `oracle`, which may be NULL. */
int nm_hierarchy_new_with_oracle(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine,
				 struct nm_oracle *oracle, struct nm_error *err);
/* The same, but levels that machines have in common are simulated once (shared_levels.c). data_only: there are no
 * fetches, as nm_hierarchy_set_data_only. It cannot be watched. */
int nm_hierarchy_new_shared(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine,
			    struct nm_oracle *oracle, int data_only, struct nm_error *err);
void nm_hierarchy_free(struct nm_hierarchy *hierarchy);

/* The level that is simulated for this one; mostly itself. */
unsigned nm_hierarchy_simulated(const struct nm_hierarchy *hierarchy, unsigned level);

/* Between batches: sets the memory that can have huge pages, in order of address, adjacent ranges joined;
 * none at first. Matters for TLBs with huge=, and where the program has requested a size. 0 or NM_ENOMEM. */
struct nm_range {
	uint64_t low, end;
	/* enum nm_page_size: the requested size, which it has on every machine; NM_PAGE_4K: none */
	unsigned asked;
};
int nm_hierarchy_set_memory(struct nm_hierarchy *hierarchy, const struct nm_range *ranges, size_t count);

/* Between batches: sets the core that makes the next references; 0 at first. */
void nm_hierarchy_set_core(struct nm_hierarchy *hierarchy, unsigned core);

/* Between batches: the running core has passed a lock, a barrier or something else that orders threads. */
void nm_hierarchy_synchronise(struct nm_hierarchy *hierarchy);

/* Between batches: gives the next attribution keys the numbers of their instructions, which stride
 * prefetchers distinguish; a key without one counts as an instruction of its own. 0 or NM_ENOMEM. */
int nm_hierarchy_add_instructions(struct nm_hierarchy *hierarchy, const uint32_t *instructions, size_t count);

/* From now on, references may be these coalesced ones. Call after nm_hierarchy_watch. If only data are
 * expected, too, batches are not searched for the largest key, so all keys must be announced
 * (nm_coalesced_raise_limit). 0 or NM_ENOMEM. */
struct nm_coalesced_table;
int nm_hierarchy_set_coalesced(struct nm_hierarchy *hierarchy, const struct nm_coalesced_table *coalesced);

/* Feeds a batch of at most NM_BATCH references. 0, NM_ENOMEM, or NM_EPLUGIN: a plug-in named a slot that does
 * not exist. */
enum { NM_BATCH = 1024 };
int nm_hierarchy_run(struct nm_hierarchy *hierarchy, const struct nm_ref *refs, size_t count);

/* A core makes references [end of the turn before, end) of a batch. */
struct nm_time_slice {
	uint16_t end, core;
	uint8_t synchronised; /* the core has synchronised with others just before */
};

/* The same for a batch of several cores; there is at least one turn, and the last ends with the batch. */
int nm_hierarchy_run_time_slices(struct nm_hierarchy *hierarchy, const struct nm_ref *refs,
				 const struct nm_time_slice *time_slices, size_t time_slice_count);

/* Before the first batch: none has fetches. */
void nm_hierarchy_set_data_only(struct nm_hierarchy *hierarchy);

/* Before a batch: from now on, references may have weight 0. */
void nm_hierarchy_allow_uncounted(struct nm_hierarchy *hierarchy);

/* A prefetch of the program, between two references. */
struct nm_software_prefetch {
	uint64_t address;
	uint32_t attr;
	uint8_t depth; /* of the level that it names: 0 is the first; the last one if there are fewer */
	uint8_t alone; /* the levels behind that lack the line do not load it, if none includes others */
};

/* Of a machine with hints: the running core prefetches. 0 or a code, as nm_hierarchy_run. */
int nm_hierarchy_prefetch(struct nm_hierarchy *hierarchy, const struct nm_software_prefetch *prefetch);

/* The same: the running core makes a non-temporal store, one write. Each level drops the line if it has it; the
 * store is a reference to it, and neither a hit nor a miss. */
int nm_hierarchy_store_past(struct nm_hierarchy *hierarchy, const struct nm_ref *write);

/* What the program tells the caches within a batch: of prefetches, what comes before reference `before`; of
 * non-temporal stores, that this reference is one. */
struct nm_cache_hint {
	uint16_t before;
	uint16_t syncs; /* of the batch that come before it (interleave.h) */
	uint16_t core;  /* that prefetches */
	uint8_t is_store;
	struct nm_software_prefetch prefetch;
};

/* Before a batch: its hints, in order, which it borrows. From the first of them on the hierarchy follows hints
 * (take_hints.c), if it can. 0 or NM_ENOMEM. */
int nm_hierarchy_set_hints(struct nm_hierarchy *hierarchy, const struct nm_cache_hint *hints, size_t count);

/* Whether it follows hints. */
int nm_hierarchy_follows_hints(const struct nm_hierarchy *hierarchy);

/* Before a batch: where the references of the one after it are or will be, which the host prefetches
 * meanwhile; NULL: unknown. Does not affect results. */
void nm_hierarchy_prefetch_host(struct nm_hierarchy *hierarchy, const struct nm_ref *next);

/* Before the first batch: shows a sampler (sampler.h) loads and residencies of the first data level of the
 * first machine, unless its lines are too long. It has one list for each batch. */
struct nm_sampler;
void nm_hierarchy_set_sampler(struct nm_hierarchy *hierarchy, struct nm_sampler *sampler);

/* After the last batch: shows the sampler the lines that are still resident. */
int nm_hierarchy_sample_rest(struct nm_hierarchy *hierarchy);

/* Between batches: whether all levels and directories hold what they must (validate.c). For tests; slow. */
int nm_hierarchy_is_valid(const struct nm_hierarchy *hierarchy);

/* Credits the lines that are still resident. Nothing may be fed afterwards. */
int nm_hierarchy_finish(struct nm_hierarchy *hierarchy);

/* Counts of a level, indexed by attribution key; *ret_attr_count is 1 + the largest attribution key seen;
 * *ret_counts is to be freed by the caller. `reads` and `writes` of first levels stay 0 for each key: the
 * caller, who makes the references, counts them. 0 or NM_ENOMEM. */
int nm_hierarchy_counts(const struct nm_hierarchy *hierarchy, unsigned level, struct nm_counts **ret_counts,
			size_t *ret_attr_count);
void nm_counts_add(struct nm_counts *to, const struct nm_counts *counts);
void nm_counts_subtract(struct nm_counts *from, const struct nm_counts *counts);
/* Sum over all attribution keys (reads and writes filled in for every level). */
void nm_hierarchy_total(const struct nm_hierarchy *hierarchy, unsigned level, struct nm_counts *ret_total);

/* Further counts of a level, indexed by attribution key; the caller frees *ret_extras; NULL if the level has
 * none. 0 or NM_ENOMEM. */
int nm_hierarchy_extra_counts(const struct nm_hierarchy *hierarchy, unsigned level,
			      struct nm_extras **ret_extras, size_t *ret_attr_count);

/* The coherence of the machine whose first level this is (coherence.h); NULL: it has no protocol. */
struct nm_coherence;
struct nm_coherence *nm_hierarchy_coherence(const struct nm_hierarchy *hierarchy, unsigned level);

/* The walk of an attribution key, if the machine has covered loads; else 0. */
struct nm_walk nm_hierarchy_walk(const struct nm_hierarchy *hierarchy, uint32_t attr);

/* The eviction matrix of a level, in no order; of a level that each core has for itself a pair may stand
 * there for each of them. *ret_list is to be freed by the caller. */
int nm_hierarchy_evictions(const struct nm_hierarchy *hierarchy, unsigned level,
			   struct nm_eviction **ret_list, size_t *ret_count);

#endif
