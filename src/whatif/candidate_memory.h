/* SPDX-License-Identifier: MIT
 *
 * candidate_memory.h - addresses for what a candidate layout moves: a range of its own, in which small blocks are
 * given out as malloc does (malloc_heap.h). Large blocks begin 16 bytes behind a page, and variables at their
 * alignment. A pool is such a large block, and gives its blocks out without headers, one behind the other; the one that
 * was freed last comes first.
 */
#ifndef NM_CANDIDATE_MEMORY_H
#define NM_CANDIDATE_MEMORY_H

#include <stdint.h>

#include "malloc_heap.h"
#include "map.h"
#include "vector.h"

enum {
	NM_MEMORY_LARGE = 128 * 1024, /* bytes of a block that has pages of its own */
	NM_MEMORY_GRANULE = 16        /* that blocks lie at multiples of */
};

struct nm_free_block {
	uint64_t address;
	uint64_t next; /* 1 + its index; 0: it is the last */
};

/* Blocks that were freed: lists by their size, each with the one freed last at its head. */
struct nm_free_blocks {
	struct nm_map heads; /* bytes -> index in `blocks` */
	struct nm_vec(struct nm_free_block) blocks;
	uint64_t spare; /* 1 + index of an element of `blocks` that is in no list, or 0 */
};

struct nm_candidate_memory {
	struct nm_malloc_heap heap;  /* of small blocks: empty before the first, */
	uint64_t begin;              /* where it is to begin */
	uint64_t pages;              /* of large ones and variables, */
	uint64_t huge;               /* of what has huge pages */
	struct nm_free_blocks freed; /* large ones */
};

/* The ranges of a candidate, each a multiple of 2^40 long and behind the addresses of programs' heaps. */
#define NM_MEMORY_BLOCKS (UINT64_C(0x20) << 40)
#define NM_MEMORY_PAGES (UINT64_C(0x22) << 40)
#define NM_MEMORY_HUGE (UINT64_C(0x24) << 40)
#define NM_MEMORY_BYTES (UINT64_C(1) << 38)

void nm_memory_init(struct nm_candidate_memory *memory);
void nm_memory_done(struct nm_candidate_memory *memory);

/* Where the next block behind an address can begin. */
static inline uint64_t nm_memory_next(uint64_t address)
{
	return (address + NM_MEMORY_GRANULE) / NM_MEMORY_GRANULE * NM_MEMORY_GRANULE;
}

/* Have small blocks begin where one at this address would be, modulo 1G: before the first is given out. */
void nm_memory_continue(struct nm_candidate_memory *memory, uint64_t address);

/* An address for a block of malloc, aligned to `align`, a power of two; 0: no memory. 0 or NM_ENOMEM for release. */
uint64_t nm_memory_allocate(struct nm_candidate_memory *memory, enum nm_heap_call call, uint64_t bytes,
			    uint64_t align);
int nm_memory_release(struct nm_candidate_memory *memory, uint64_t address, uint64_t bytes, uint64_t align);

/* Where a block of `was` bytes lies after realloc to `bytes`; 0: no memory. */
uint64_t nm_memory_resize(struct nm_candidate_memory *memory, uint64_t address, uint64_t was, uint64_t bytes);

/* An address for a variable, or for memory with huge pages; it is not given back. */
uint64_t nm_memory_variable(struct nm_candidate_memory *memory, uint64_t bytes, uint64_t align);
uint64_t nm_memory_huge(struct nm_candidate_memory *memory, uint64_t bytes);

/* A pool: blocks of one site. */
struct nm_pool {
	uint64_t next, end;
	struct nm_free_blocks freed;
};
uint64_t nm_pool_allocate(struct nm_pool *pool, struct nm_candidate_memory *memory, uint64_t bytes);
int nm_pool_release(struct nm_pool *pool, uint64_t address, uint64_t bytes);
void nm_pool_done(struct nm_pool *pool);

#endif
