/* SPDX-License-Identifier: MIT
 *
 * candidate_memory.h - addresses for what a candidate layout moves: a range of its own, in which small blocks are
 * given out as a simple malloc does. They lie at multiples of 16 with a header of 8 bytes before each; of a size the
 * block that was freed last is given out first, and one of 1K and more leaves a hole for smaller ones. Large blocks
 * begin 16 bytes behind a page, and variables at their alignment. A pool is such a large block, and gives its blocks
 * out without headers, one behind the other.
 */
#ifndef NM_CANDIDATE_MEMORY_H
#define NM_CANDIDATE_MEMORY_H

#include <stdint.h>

#include "map.h"
#include "vector.h"

enum {
	NM_MEMORY_LARGE = 128 * 1024, /* bytes of a block that has pages of its own */
	NM_MEMORY_GRANULE = 16,       /* that blocks lie at multiples of */
	NM_MEMORY_HOLES = 64          /* that are kept */
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
	uint64_t next;  /* of small blocks, */
	uint64_t pages; /* of large ones and variables, */
	uint64_t huge;  /* of what has huge pages */
	struct nm_free_blocks freed;
	unsigned hole_count;
	struct nm_memory_hole {
		uint64_t low, end;
	} holes[NM_MEMORY_HOLES];
};

/* The ranges of a candidate, each a multiple of 2^40 long and behind the addresses of programs' heaps. */
#define NM_MEMORY_BLOCKS (UINT64_C(0x20) << 40)
#define NM_MEMORY_PAGES (UINT64_C(0x22) << 40)
#define NM_MEMORY_HUGE (UINT64_C(0x24) << 40)
#define NM_MEMORY_BYTES (UINT64_C(1) << 38)

void nm_memory_init(struct nm_candidate_memory *memory);
void nm_memory_done(struct nm_candidate_memory *memory);

/* Bytes that a small block of malloc takes; and where the next one behind an address can begin. */
uint64_t nm_memory_room(uint64_t bytes);
static inline uint64_t nm_memory_next(uint64_t address)
{
	return (address + NM_MEMORY_GRANULE) / NM_MEMORY_GRANULE * NM_MEMORY_GRANULE;
}

/* Have small blocks begin where one at this address would be, modulo 1G: before the first is given out. */
void nm_memory_continue(struct nm_candidate_memory *memory, uint64_t address);

/* An address for a block of malloc, aligned to `align`, a power of two. 0 or NM_ENOMEM for release. */
uint64_t nm_memory_allocate(struct nm_candidate_memory *memory, uint64_t bytes, uint64_t align);
int nm_memory_release(struct nm_candidate_memory *memory, uint64_t address, uint64_t bytes, uint64_t align);

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
