/* SPDX-License-Identifier: MIT
 *
 * pages.h - TLBs with pages of several sizes: finds the size of an address's page, and the level that it goes
 * to.
 *
 * Levels of a TLB see a page as a line of 4096 bytes, whatever its size: huge pages have addresses of their
 * own, and bytes touched are counted in 4096ths of the page.
 */
#ifndef NM_PAGES_H
#define NM_PAGES_H

#include <stddef.h>

#include "cache.h"

enum { NM_PAGES_RECENT = 256 };

struct nm_page_rules {
	struct nm_range *ranges; /* see nm_hierarchy_set_memory */
	size_t count;
	int asked; /* the program has requested sizes */
	struct {
		uint64_t chunk; /* of 2M, + 1; 0: none */
		unsigned size;  /* enum nm_page_size: the largest that its pages can be, */
		unsigned least; /* and the requested one */
	} recent[NM_PAGES_RECENT];
};

/* A machine that is a TLB. */
struct nm_pager {
	/* by side (data, fetches): where pages of a size enter, or NULL */
	struct nm_cache *entry[2][NM_PAGE_SIZES];
	unsigned huge; /* enum nm_page_size: the largest that is used */
};

/* Keeps a copy. 0 or NM_ENOMEM. */
int pages_set(struct nm_page_rules *pages, const struct nm_range *ranges, size_t count);
void pages_done(struct nm_page_rules *pages);

/* Feeds one reference. */
void pager_take(const struct nm_pager *pager, struct nm_page_rules *pages, const struct nm_ref *ref);

/* The address that stands for one in a page of this size, and back: for a huge page, the first address of its
 * 4096th. */
uint64_t model_page_address(uint64_t address, unsigned size);
uint64_t page_origin(uint64_t page_address);

#endif
