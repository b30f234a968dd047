/* SPDX-License-Identifier: MIT
 *
 * blocks.h - which live block (heap block, or range that the program named) holds an address.
 *
 * The address space is a two-level table of 4 KB pages.  A page that lies wholly inside one block names it;
 * a page shared by several blocks has one entry per 16-byte granule, since allocators align to 16. Where
 * blocks do share a granule (an allocator with 8-byte classes, scalars named by hand) all but the first are
 * kept aside in a hash, byte by byte.  A lookup is three dependent loads; memory is a quarter of the bytes
 * in small blocks and next to nothing for large ones.  Dropped: one entry per 64-byte line (blocks smaller
 * than a line need a second search); a balanced tree (60 ns a lookup instead of 5).
 */
#ifndef NM_BLOCKS_H
#define NM_BLOCKS_H

#include <stdint.h>

#include "arena.h"
#include "map.h"
#include "vector.h"

struct nm_block {
	uint64_t address, size;
	uint32_t object;        /* what the caller gave; after removal: next free slot */
	uint32_t range_holders; /* the caller's own, 0 in a new block */
};

enum {
	NM_PAGE_BITS = 12,
	NM_GRANULE_BITS = 4,
	NM_GRANULES = 1 << (NM_PAGE_BITS - NM_GRANULE_BITS),
	NM_TABLE_BITS = 18, /* pages per table: 1 GB */
	NM_TOP_BITS = 17    /* tables: 47-bit user addresses */
};

/* In a granule's entry: no other block and no other memory shares it. */
#define NM_GRANULE_WHOLE (1u << 31)

struct nm_block_page {
	uint32_t whole;     /* block that covers the page, or 0 */
	uint32_t *granules; /* [NM_GRANULES] of the arena, or NULL */
};

struct nm_block_table {
	struct nm_block_page pages[1 << NM_TABLE_BITS];
};

struct nm_blocks {
	struct nm_block_table **top;                   /* [1 << 17], one per GB */
	struct nm_vec(struct nm_block_table *) tables; /* all that `top` has */
	struct nm_arena arena;
	struct nm_vec(struct nm_block) list; /* [0] is no block */
	uint32_t *objects;                   /* [list.room]: of each block, close together */
	size_t objects_room;
	uint32_t free_slot;
	int failed; /* memory ran out where it could not be told: the next add tells */
	size_t live;
	struct nm_vec(uint32_t)
	    released_holders;  /* cachers != 0 of blocks that were removed, for the caller to empty */
	struct nm_map crowded; /* byte address -> block, where the granule is another's */
	struct nm_map crowds;  /* granule number -> how many of its bytes are in `crowded` */
};

int nm_blocks_init(struct nm_blocks *blocks);
void nm_blocks_done(struct nm_blocks *blocks);

/* A block of 0 bytes is kept as one of 1 byte.  Live blocks that it overlaps are removed first (their
 * release went unseen).  0 or NM_ENOMEM. */
int nm_blocks_add(struct nm_blocks *blocks, uint64_t address, uint64_t size, uint32_t object);

/* The block that starts at address, or NULL. */
const struct nm_block *nm_blocks_at(const struct nm_blocks *blocks, uint64_t address);

/* 1 if a block started at address and is removed. */
int nm_blocks_remove(struct nm_blocks *blocks, uint64_t address);

/* The block that contains address, or NULL.  Valid until the next add or remove. */
const struct nm_block *nm_blocks_find(const struct nm_blocks *blocks, uint64_t address);

/* What is known of the granule around address without a look at its blocks: NM_GRANULE_WHOLE and the index
 * of the block that has all of it; or 0: there is no block; or something else. */
static inline uint32_t nm_blocks_granule(const struct nm_blocks *blocks, uint64_t address)
{
	const struct nm_block_table *table;
	const struct nm_block_page *page;

	if (address >> (NM_PAGE_BITS + NM_TABLE_BITS + NM_TOP_BITS))
		return 0;
	table = blocks->top[address >> (NM_PAGE_BITS + NM_TABLE_BITS)];
	if (!table)
		return 0;
	page = &table->pages[address >> NM_PAGE_BITS & ((1u << NM_TABLE_BITS) - 1)];
	if (page->whole)
		return page->whole | NM_GRANULE_WHOLE;
	return page->granules ? page->granules[address >> NM_GRANULE_BITS & (NM_GRANULES - 1)] : 0;
}

#endif
