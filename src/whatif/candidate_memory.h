/* SPDX-License-Identifier: MIT
 *
 * candidate_memory.h - addresses for what a candidate layout moves: a range of its own, in which small blocks are
 * given out as malloc does (malloc_heap.h). Until one moves, the heap *follows* the program's own: it is told of each
 * block, so that blocks that stay and chunks that are free are where they are in a rebuild. If it would put a block
 * elsewhere than the program's malloc did, that one is another, or has several arenas; then the heap is *lost*, and
 * begins empty. Large blocks begin 16 bytes behind a page, and variables at their alignment. A pool is such a large
 * block, and gives its blocks out without headers, one behind the other; the one that was freed last comes first.
 */
#ifndef NM_CANDIDATE_MEMORY_H
#define NM_CANDIDATE_MEMORY_H

#include <stdint.h>

#include "malloc_heap.h"
#include "map.h"
#include "vector.h"

enum {
	NM_MEMORY_LARGE = 128 * 1024, /* bytes of a block that has pages of its own, at first */
	NM_MEMORY_GRANULE = 16,       /* that blocks lie at multiples of */
	NM_MEMORY_REMAPPED = 1        /* in the place of an address: realloc leaves the block its own pages */
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
	struct nm_malloc_heap heap; /* of small blocks: empty before the first, */
	uint64_t begin;             /* where it is to begin */
	struct nm_map followed;     /* the program's blocks -> their own in the heap; large ones -> bytes */
	uint64_t followed_by;       /* how far the heap lies from the program's: modulo 2^64 */
	int is_lost;
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

/* Bytes of blocks that get pages of their own: malloc's threshold rises. */
static inline uint64_t nm_memory_large(const struct nm_candidate_memory *memory)
{
	return memory->heap.own_pages > NM_MEMORY_LARGE ? memory->heap.own_pages : NM_MEMORY_LARGE;
}

/* Where the next block behind an address can begin. */
static inline uint64_t nm_memory_next(uint64_t address)
{
	return (address + NM_MEMORY_GRANULE) / NM_MEMORY_GRANULE * NM_MEMORY_GRANULE;
}

/* A block of the program that stays has come; resized: what nm_memory_leave told of the one that realloc has released,
 * or 0. 0 or NM_ENOMEM. */
int nm_memory_follow(struct nm_candidate_memory *memory, enum nm_heap_call call, uint64_t address,
		     uint64_t bytes, uint64_t resized);

/* It goes, if it has been followed. With `resizes` it stays in the heap until it is given to nm_memory_resize,
 * _release or _follow: its address there, or NM_MEMORY_REMAPPED, or 0. */
uint64_t nm_memory_leave(struct nm_candidate_memory *memory, uint64_t address, int resizes);

/* From now on blocks are placed. A heap that does not follow begins where one at this address would be, modulo 1G. */
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
