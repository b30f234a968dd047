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

/* One reference. A fetch may stand for `weight` instructions that lie in one run of bytes; a group
 * (coalesced.h) for `weight` references, of which `kind` write, and has its number in the place of the
 * attribution key.  One of weight 0 is not to be counted: it moves lines as any other, but is no reference, and
 * monitors hear of nothing. Misses and loads are charged to its key. */
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
	uint64_t foreseen;                 /* loads that prefetchers would have made ahead (foresight.h) */
	/* of the others, those whose address waits for another load; estimated by who makes the references */
	uint64_t chained;
};

/* The same of levels that are more than caches of lines loaded on demand; sums too. */
struct nm_extras {
	uint64_t sector_misses; /* loads of a sector whose line was there without it */
	/* Of prefetches that this attribution key caused (prefetch_tracker.h): */
	uint64_t prefetches;   /* lines loaded */
	uint64_t useful;       /* of these, used before they left */
	uint64_t late_evicted; /* of the others, asked for soon after they had left */
	uint64_t pollution;    /* conflict misses on lines that they had pushed out */
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

/* By how much the loads of an attribution key step in the first level of the first machine. */
struct nm_walk {
	uint64_t loads;    /* in all */
	uint64_t followed; /* those that stepped by: at least */
	int64_t step;      /* bytes */
};

struct nm_hierarchy;
struct nm_oracle;

int nm_hierarchy_new(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine,
		     struct nm_error *err);
/* The same for references that are stored: levels with policy=opt ask `oracle`; or NULL. */
int nm_hierarchy_new_with_oracle(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine,
				 struct nm_oracle *oracle, struct nm_error *err);
void nm_hierarchy_free(struct nm_hierarchy *hierarchy);

/* Between batches: the memory that can have huge pages is now this, in order of address, neighbours joined. 
 * A matter of TLBs with huge=, and of all for which something was asked for; none at first. 0 or
 * NM_ENOMEM. */
struct nm_range {
	uint64_t low, end;
	/* enum nm_page_size: pages that it has in any machine; NM_PAGE_4K: nothing was asked for */
	unsigned asked;
};
int nm_hierarchy_set_memory(struct nm_hierarchy *hierarchy, const struct nm_range *ranges, size_t count);

/* Between batches: what comes now is referenced by this core; core 0 at first. */
void nm_hierarchy_set_core(struct nm_hierarchy *hierarchy, unsigned core);

/* Between batches: the running core passed a lock, a barrier or what else orders threads. */
void nm_hierarchy_synchronise(struct nm_hierarchy *hierarchy);

/* Between batches: numbers of the instructions that the next attribution keys come from, which those who
 * prefetch by instruction tell apart; an attribution key that was not announced is an instruction of its own.
 * 0 or NM_ENOMEM. */
int nm_hierarchy_add_instructions(struct nm_hierarchy *hierarchy, const uint32_t *instructions, size_t count);

/* References may be coalesced of these from now on. After nm_hierarchy_watch. Where only data are expected
 * too, all attribution keys must be announced (nm_coalesced_raise_limit), and batches are not looked over
 * for them. 0 or NM_ENOMEM. */
struct nm_coalesced_table;
int nm_hierarchy_set_coalesced(struct nm_hierarchy *hierarchy, const struct nm_coalesced_table *coalesced);

/* Feeds a batch; at most NM_BATCH references. 0, NM_ENOMEM, or NM_EPLUGIN: a plug-in named a slot that is
 * not. */
enum { NM_BATCH = 1024 };
int nm_hierarchy_run(struct nm_hierarchy *hierarchy, const struct nm_ref *refs, size_t count);

/* References [end of the turn before, end) of a batch are referenced by a core. */
struct nm_turn {
	uint16_t end, core;
	uint8_t synchronised; /* the core synchronised with others just before */
};

/* The same for a batch of several cores; turn_count is at least 1, and the last turn ends with the batch. */
int nm_hierarchy_run_turns(struct nm_hierarchy *hierarchy, const struct nm_ref *refs,
			   const struct nm_turn *turns, size_t turn_count);

/* Before the first batch: none has fetches. */
void nm_hierarchy_expect_data(struct nm_hierarchy *hierarchy);

/* Before a batch: it or later ones may have references of weight 0. */
void nm_hierarchy_expect_uncounted(struct nm_hierarchy *hierarchy);

/* Before a batch: memory of NM_BATCH references that will hold, or holds, the batch after it, which the host
 * then fetches while it runs the one; NULL: not known. Nothing about results depends on it. */
void nm_hierarchy_expect(struct nm_hierarchy *hierarchy, const struct nm_ref *next);

/* Has a sampler (sampler.h) see loads and residencies of the level where the data of the first machine
 * go first, before the first batch; if lines are too long for it, it sees nothing. Its lists are one
 * for each batch. */
struct nm_sampler;
void nm_hierarchy_set_sampler(struct nm_hierarchy *hierarchy, struct nm_sampler *sampler);

/* After the last batch: tells the sampler of the lines that are still resident. */
int nm_hierarchy_sample_rest(struct nm_hierarchy *hierarchy);

/* Settles the lines that are still resident. Nothing may be fed afterwards. */
int nm_hierarchy_finish(struct nm_hierarchy *hierarchy);

/* Counts of a level, indexed by attribution key; *ret_attr_count is 1 + the largest attribution key seen;
 * *ret_counts is to be freed by the caller. For first levels `reads` and `writes` are left 0 per
 * attribution key: the caller who makes the references counts them as they are made. 0 or NM_ENOMEM. */
int nm_hierarchy_counts(const struct nm_hierarchy *hierarchy, unsigned level, struct nm_counts **ret_counts,
			size_t *ret_attr_count);
/* Sum over all attribution keys (reads and writes filled in for every level). */
void nm_counts_subtract(struct nm_counts *from, const struct nm_counts *counts);
void nm_hierarchy_total(const struct nm_hierarchy *hierarchy, unsigned level, struct nm_counts *ret_total);

/* What a level counts beside that, indexed by attribution key as the counts are, *ret_extras to be freed by
 * the caller; NULL where the level has nothing to count. 0 or NM_ENOMEM. */
int nm_hierarchy_extras(const struct nm_hierarchy *hierarchy, unsigned level, struct nm_extras **ret_extras,
			size_t *ret_attr_count);

/* The coherence of the machine that begins with a level (coherence.h), or NULL: it has no protocol. */
struct nm_coherence;
struct nm_coherence *nm_hierarchy_coherence(const struct nm_hierarchy *hierarchy, unsigned level);

/* Where the machine foresees loads: the walk of an attribution key; else all 0. */
struct nm_walk nm_hierarchy_walk(const struct nm_hierarchy *hierarchy, uint32_t attr);

/* The eviction matrix of a level, in no order; of a level that each core has for itself a pair may stand
 * there for each of them. *ret_list is to be freed by the caller. */
int nm_hierarchy_evictions(const struct nm_hierarchy *hierarchy, unsigned level,
			   struct nm_eviction **ret_list, size_t *ret_count);

#endif
