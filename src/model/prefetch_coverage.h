/* SPDX-License-Identifier: MIT
 *
 * prefetch_coverage.h - which loads a processor's prefetchers would have made ahead of the program, and which
 * walk pages.
 *
 * Used to estimate cost only. The caches are simulated without prefetching, so that misses are the program's
 * own. For each load of a first level we ask whether a prefetcher that saw the loads before it would have
 * named its line; if so, the loads of further levels for it are covered, too. Nothing is fetched, so nothing
 * is evicted; late and useless prefetches are not modelled (a level's prefetch= does that).
 *
 * Three prefetchers, bits of enum nm_hw_prefetcher (machine.h), all by virtual addresses:
 *   - pair: loading one of the two lines of an aligned 128 bytes brings the other. The line next to the
 *     page's last load is covered if both are a pair.
 *   - stream: loads of a page of 4K that go in one direction by at most STREAM_NEAR lines, or by the same
 *     step of at most STREAM_FAR, are covered from the third on. A stream goes on in the next page.
 *   - stride: an attribution key, which is a line of code with an object, that steps by the same distance of
 *     at most half a page for the third time.
 * As published of Intel's four (Intel 64 and IA-32 Architectures Optimization Reference Manual, "Data
 * Prefetching") and of the like ones of AMD's Zen (Software Optimization Guide, family 19h, "Prefetching of
 * Data").
 *
 * Of the loads that no prefetcher covers we count those whose page of 4K is not in the last TLB of the core: an LRU
 * of NM_TLB_WAYS ways. Hits of the first level do not refresh a page: its lines lie in pages that the TLB has
 * anyway.
 *
 * A key's steps from load to load are counted whatever the prefetchers: the advice asks for them.
 */
#ifndef NM_PREFETCH_COVERAGE_H
#define NM_PREFETCH_COVERAGE_H

#include <stdint.h>

#include "hierarchy.h"
#include "vector.h"

enum { NM_COVERAGE_PAGES = 128, NM_TLB_WAYS = 8 };

/* The last load of an attribution key, and the step that most of its loads follow. Each is compared with the
 * last but one, too, so that two interleaved walks are seen. */
struct nm_walk_state {
	uint64_t last[2];
	int64_t step;
	uint64_t loads, followed; /* all loads; those that followed `step` since it was chosen */
	uint64_t votes;           /* for `step`, less those against it (Boyer and Moore) */
	uint64_t page_walks;      /* loads that nothing foresaw in a page that the TLB did not have */
};

/* The last load of a page, and the direction of loads there. */
struct nm_page_stream {
	uint64_t page;
	int16_t line, step; /* within the page; outside of it if the stream came from another page */
	uint16_t run;       /* steps in one direction */
};

/* The pages that a core's TLB holds, latest first in each set. */
struct nm_tlb_set {
	uint64_t pages[NM_TLB_WAYS]; /* 1 + the page's number; 0: none */
};

struct nm_coverage {
	unsigned by;                               /* bits of enum nm_hw_prefetcher */
	int covered;                               /* of the current load: 0 or 1 */
	unsigned shift;                            /* log2 of a line's bytes */
	struct nm_vec(struct nm_walk_state) walks; /* by attribution key */
	struct nm_page_stream pages[NM_COVERAGE_PAGES];
	struct nm_tlb_set *tlbs, *tlb; /* of all cores, [tlb_sets] each; of the running one; or NULL */
	uint32_t tlb_sets;
};

/* line_shift: of the first level's lines. tlb: pages that the TLB of each core holds; 0: page walks are not
 * counted. Call nm_coverage_done in any case. 0 or NM_ENOMEM. */
int nm_coverage_init(struct nm_coverage *coverage, unsigned by, unsigned line_shift, unsigned tlb,
		     unsigned cores);
void nm_coverage_done(struct nm_coverage *coverage);

/* Makes attribution keys [0, count) exist. 0 or NM_ENOMEM. */
int nm_coverage_reserve(struct nm_coverage *coverage, size_t count);

/* The loads that follow are of a core: 0, 1, ... */
void nm_coverage_set_core(struct nm_coverage *coverage, unsigned core);

/* A first level loads the line at an address: sets `covered`. data: not for a fetch, whose page walks are not
 * counted. */
void nm_coverage_fill(struct nm_coverage *coverage, uint64_t address, uint32_t attr, int data);

#endif
