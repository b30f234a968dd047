/* SPDX-License-Identifier: MIT
 *
 * malloc_heap.h - where glibc's malloc puts blocks: its main heap as one thread uses it, as of 2.26 to 2.40. It lays
 * out *chunks*, a header of 16 bytes and the block, one behind the other; the last one is the *top*, which grows.
 * Chunks that were freed are in lists: at most seven of a size up to 1040 in the thread's cache, then those up to 128
 * in fast lists, where they stay apart; others grow together with free ones beside them, and wait unsorted until a
 * request sorts them into bins by size. The best fit is split. Blocks of `own_pages` and more, which no free chunk has
 * room for, are mapped elsewhere.
 *
 * What malloc reads and writes of chunks on its way, their sizes and links, is kept as `touches` if they are wanted.
 */
#ifndef NM_MALLOC_HEAP_H
#define NM_MALLOC_HEAP_H

#include <stdint.h>

#include "map.h"
#include "vector.h"

enum { NM_HEAP_LISTS = 200 };

/* Neighbours are indices, 0: none. */
struct nm_heap_chunk {
	uint64_t at, bytes;
	uint32_t before, after; /* in memory */
	uint32_t newer, older;  /* in its list: those nearer to its first, its last */
	uint32_t list;          /* 0: in use, or the top */
};

struct nm_heap_list {
	uint32_t first, last, count;
};

/* 8 bytes of a chunk. */
struct nm_heap_touch {
	uint64_t address;
	int is_write;
};

struct nm_malloc_heap {
	struct nm_vec(struct nm_heap_chunk) chunks; /* [0] is none */
	uint32_t spare;                             /* of `chunks`, a list by `older` */
	struct nm_map used;                         /* address of a block -> its chunk */
	struct nm_heap_list lists[NM_HEAP_LISTS];
	uint32_t top, remainder; /* what the last split for a small block left */
	int has_fast;            /* a chunk may be in a fast list */
	uint64_t own_pages, trims;
	int keeps_touches;
	struct nm_vec(struct nm_heap_touch) touches; /* since the caller has emptied them */
	int failed;                                  /* to keep one, for want of memory */
};

enum nm_heap_call {
	NM_HEAP_MALLOC,
	NM_HEAP_CALLOC, /* does not ask the thread's cache */
	NM_HEAP_ALIGNED,
	NM_HEAP_PIECE /* of a pool of the program's own: not malloc's */
};

/* An empty heap that begins at an address, a multiple of 16, with a top of `bytes`; 0: as a program's has at its
 * first block. 0 or NM_ENOMEM. */
int nm_malloc_heap_init(struct nm_malloc_heap *heap, uint64_t address, uint64_t bytes);
void nm_malloc_heap_done(struct nm_malloc_heap *heap);

/* Bytes of the chunk of a block. */
uint64_t nm_malloc_heap_room(uint64_t bytes);

/* *ret: the address of a block aligned to a power of two, or 0: it has own pages. 0 or NM_ENOMEM. */
int nm_malloc_heap_allocate(struct nm_malloc_heap *heap, enum nm_heap_call call, uint64_t bytes,
			    uint64_t align, uint64_t *ret);

/* Frees a block of the heap. */
void nm_malloc_heap_release(struct nm_malloc_heap *heap, uint64_t address);

/* realloc of a block of the heap; *ret as above. */
int nm_malloc_heap_resize(struct nm_malloc_heap *heap, uint64_t address, uint64_t bytes, uint64_t *ret);

/* A block with own pages was freed: the heap takes later ones up to its size. */
void nm_malloc_heap_unmapped(struct nm_malloc_heap *heap, uint64_t bytes);

/* Whether the block is one of the heap. */
int nm_malloc_heap_has(const struct nm_malloc_heap *heap, uint64_t address);

#endif
