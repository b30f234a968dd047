/* SPDX-License-Identifier: MIT
 *
 * prefetch_tracker.h - the fate of prefetched lines, in a level that prefetches or is behind one that does.
 *
 * Counting rules (after Srinath et al., "Feedback Directed Prefetching", HPCA 2007, and Srinivasan, Davidson
 * and Tyson, "A Prefetch Taxonomy", IEEE Transactions on Computers 53:2, 2004), all charged to the
 * attribution key whose request caused the prefetch:
 * - prefetches: lines that a prefetch loaded. A level that lacks the line asks the next one, which is a
 *   prefetch there if it is missing there too, else a touch for the policy; it is neither a reference nor a
 *   miss.
 * - useful: prefetched lines that were used before they left, by a demand request or through the level above.
 *   The others are useless: accuracy is useful / prefetches.
 * - late evicted: useless lines requested soon after they left, before as many lines as the level has were
 *   loaded.
 * - pollution: conflict misses on lines that a prefetch evicted when they left last.
 * - late, of the program's own prefetches, into the level that they name: useful ones whose first request is
 *   fewer references after them than the level that served them takes cycles. At a cycle for each reference,
 *   which is the best case, the request waited for the line.
 * - redundant: prefetches of lines that the level or one before it had. They touch it for its policy.
 * - A prefetched line has no class: classes come from demand requests alone. evictions + resident = loads +
 *   prefetches; loaded_bytes are of both.
 * - An exclusive level passes on a line that a prefetch requests, together with whether it is still unused.
 * - Evictions by prefetches are separate in the matrix (NM_BY_PREFETCH).
 *
 * Dropped: a second cache without prefetches, to know which misses they caused: as slow as a second machine.
 */
#ifndef NM_PREFETCH_TRACKER_H
#define NM_PREFETCH_TRACKER_H

#include <stdint.h>

#include "cache.h"
#include "map.h"
#include "prefetch.h"

struct nm_prefetch_tracker {
	struct nm_prefetch prefetch;
	unsigned char *waits;  /* by slot: its line was prefetched and is not used yet */
	uint64_t *due;         /* by slot: when that line comes, in references; 0: at once */
	uint64_t entered;      /* lines that came in */
	struct nm_map evicted; /* lines that a prefetch evicted -> the attribution key of that prefetch */
	/* lines that left unused -> the attribution key of their prefetch, and `entered` at that time <<
	 * 32 */
	struct nm_map unused;
	uint64_t swept; /* `entered` at the last purge of `unused` */
};

int nm_prefetch_tracker_new(struct nm_prefetch_tracker **ret_prefetched, const struct nm_cache *cache,
			    struct nm_prefetch_queue *queue);
void nm_prefetch_tracker_free(struct nm_prefetch_tracker *prefetched);

/* A line is loaded on demand, with this class; a line is prefetched into a slot. */
void nm_prefetch_tracker_demand_fill(struct nm_cache *cache, uint64_t line, int class);
void nm_prefetch_tracker_prefetched(struct nm_cache *cache, uint64_t line, uint32_t slot, uint32_t attr);

/* The line that was just prefetched into the slot comes after that many references. */
void nm_prefetch_tracker_delay(struct nm_cache *cache, uint32_t slot, uint32_t references);

/* The line at a slot, which waits for its first use, is requested. */
void nm_prefetch_tracker_use(struct nm_cache *cache, uint32_t slot);

/* The line at a slot leaves; `evictor` may have NM_BY_PREFETCH. */
void nm_prefetch_tracker_evicted(struct nm_cache *cache, uint32_t slot, uint32_t evictor);

/* The residency at a slot moves to another, free one; the residency at a slot ends, at the end of the run or
 * because it was merged. */
void nm_prefetch_tracker_move(struct nm_cache *cache, uint32_t from, uint32_t to);
void nm_prefetch_tracker_end(struct nm_cache *cache, uint32_t slot);

#endif
