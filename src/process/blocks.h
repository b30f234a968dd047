/* SPDX-License-Identifier: MIT
 *
 * blocks.h - finds the live block (a heap block, or a range that the program named) around an address.
 *
 * A shadow table follows the program's addresses. A page of 4 KB that has blocks is a struct nm_block_page:
 * two bytes for each granule of 16 bytes, malloc's alignment, hold its owner, as an index into the page's
 * short list of owners, the number of its bytes in the block, and whether the block begins there. So a
 * look-up is one or two loads, with the same locality as the program's own accesses, and small blocks cost 14
 * % of their size: they are kept nowhere else. If blocks share a granule, or one begins within it, the page
 * keeps an owner for each byte.
 *
 * A large block has a record; pages entirely inside it refer to the record and have no granules.
 *
 * Dropped: a record for each small block, which takes 44 bytes for a node of 24 and another cache miss per
 * look-up; a hash of bytes for shared granules; one entry per 64-byte line; a balanced tree.
 */
#ifndef NM_BLOCKS_H
#define NM_BLOCKS_H

#include <stdint.h>

#include "arena.h"
#include "vector.h"

enum {
	NM_PAGE_BITS = 12,
	NM_GRANULE_BITS = 4,
	NM_GRANULES = 1 << (NM_PAGE_BITS - NM_GRANULE_BITS),
	NM_TABLE_BITS = 18, /* pages per table: 1 GB */
	NM_TOP_BITS = 17,   /* tables: 47-bit user addresses */
	NM_LARGE_BLOCK = 256
};

/* A granule: 0: in no block; else the index of its owner, or of a struct nm_shared_granule. */
enum {
	NM_GRANULE_INDEX = (1 << 9) - 1,
	NM_GRANULE_LAST = 9,         /* shift: the last byte of the block in it, in four bits */
	NM_GRANULE_BEGINS = 1 << 13, /* the block begins here */
	NM_GRANULE_SHARED = 1 << 14
};

/* An owner: the object of a small block, or this and the index of a large one; 0: no block. */
#define NM_OWNER_LARGE (1u << 31)

struct nm_shared_granule {
	uint32_t owner[1 << NM_GRANULE_BITS]; /* of each byte */
	uint16_t begins;                      /* bytes at which a block begins */
	uint16_t bytes;                       /* in blocks; 0: this element is free */
};

enum { NM_OWNERS_INSIDE = 10 };

struct nm_block_page {
	uint16_t granules[NM_GRANULES];
	uint32_t *owners; /* [0] is none; points to `inside` or is malloc'ed */
	struct nm_shared_granule *shared;
	uint16_t owner_count, owner_room, shared_count;
	uint16_t used; /* granules that are not 0 */
	uint32_t inside[NM_OWNERS_INSIDE];
	struct nm_block_page *next; /* of all pages ever made */
	uint64_t address;
};

struct nm_block_table {
	/* A struct nm_block_page *; or 1 + 2 * the index of a large block that covers the page; or 0. */
	uintptr_t pages[1 << NM_TABLE_BITS];
};

struct nm_large_block {
	uint64_t address, size;
	uint32_t object;        /* after removal: next free slot */
	uint32_t range_holders; /* for the caller; 0 in a new block */
};

/* A block as found. large: its index if it is a large one, else 0. */
struct nm_block {
	uint64_t address, size;
	uint32_t object, large;
};

struct nm_blocks {
	struct nm_block_table **top;    /* [1 << 17], one per GB */
	struct nm_vec(uint32_t) tables; /* indices of `top` that are in use */
	struct nm_arena arena;          /* pages */
	struct nm_block_page *pages;    /* all that were ever made: tables are large and mostly untouched */
	struct nm_vec(struct nm_block_page *) free_pages;
	struct nm_vec(struct nm_large_block) large; /* [0] is no block */
	uint32_t free_slot;
	size_t live;
	int failed; /* out of memory where no code could be returned: the next add returns it */
	struct nm_vec(uint32_t)
	    released_holders; /* nonzero range_holders of removed blocks, for the caller to empty */
};

int nm_blocks_init(struct nm_blocks *blocks);
void nm_blocks_done(struct nm_blocks *blocks);

/* Copies blocks; ret_blocks need not be initialised. 0 or NM_ENOMEM. */
int nm_blocks_copy(struct nm_blocks *ret_blocks, const struct nm_blocks *blocks);

/* Adds a block; one of 0 bytes is kept as 1 byte. Live blocks that it overlaps are removed first: their
 * release was not seen. object: not 0, below NM_OWNER_LARGE. 0 or NM_ENOMEM. */
int nm_blocks_add(struct nm_blocks *blocks, uint64_t address, uint64_t size, uint32_t object);

/* 1 if a block contains address. */
int nm_blocks_find(const struct nm_blocks *blocks, uint64_t address, struct nm_block *ret_block);

/* Removes the block that begins at address: 1, or 0 if there is none. ret_removed may be NULL. */
int nm_blocks_remove(struct nm_blocks *blocks, uint64_t address, struct nm_block *ret_removed);

/* Removes all blocks that overlap [address, address + bytes). */
void nm_blocks_remove_range(struct nm_blocks *blocks, uint64_t address, uint64_t bytes);

/* 1 if [address, address + bytes) is in one block. */
int nm_blocks_hold(const struct nm_blocks *blocks, uint64_t address, uint64_t bytes);

/* For tests and checks: whether pages, granules and large blocks agree. */
int nm_blocks_are_valid(const struct nm_blocks *blocks);

/* The owner of the block around an address; 0: none. */
static inline uint32_t nm_blocks_owner(const struct nm_blocks *blocks, uint64_t address)
{
	const struct nm_block_table *table;
	const struct nm_block_page *page;
	uintptr_t entry;
	unsigned granule, byte = address & ((1u << NM_GRANULE_BITS) - 1);

	if (address >> (NM_PAGE_BITS + NM_TABLE_BITS + NM_TOP_BITS))
		return 0;
	table = blocks->top[address >> (NM_PAGE_BITS + NM_TABLE_BITS)];
	if (!table)
		return 0;
	entry = table->pages[address >> NM_PAGE_BITS & ((1u << NM_TABLE_BITS) - 1)];
	if (!entry)
		return 0;
	if (entry & 1)
		return NM_OWNER_LARGE | (uint32_t)(entry >> 1);
	page = (const struct nm_block_page *)entry;
	granule = page->granules[address >> NM_GRANULE_BITS & (NM_GRANULES - 1)];
	if (__builtin_expect(granule & NM_GRANULE_SHARED, 0))
		return page->shared[granule & NM_GRANULE_INDEX].owner[byte];
	return byte <= (granule >> NM_GRANULE_LAST & 15) ? page->owners[granule & NM_GRANULE_INDEX] : 0;
}

static inline uint32_t nm_blocks_object(const struct nm_blocks *blocks, uint32_t owner)
{
	return owner & NM_OWNER_LARGE ? blocks->large.at[owner & ~NM_OWNER_LARGE].object : owner;
}

#endif
