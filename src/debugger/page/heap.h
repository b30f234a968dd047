/* SPDX-License-Identifier: MIT
 *
 * heap.h - the memory of a simulation, apart from all other memory, so that it can be copied as a whole and put
 * back: what fork() is for processes.
 *
 * While a heap is *entered*, malloc() and its kin take memory from it (page/heap.c wraps them). An *image* is
 * the contents of a heap at one time. Images share the pages that are equal. Putting one back restores all
 * memory at its addresses, so that pointers hold.
 */
#ifndef NM_PAGE_HEAP_H
#define NM_PAGE_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct nm_heap;
struct nm_heap_image;

struct nm_heap *nm_heap_new(void);       /* or NULL */
void nm_heap_free(struct nm_heap *heap); /* its images are to be freed before */

void nm_heap_enter(struct nm_heap *heap); /* NULL: memory is the usual one again */

/* NULL: out of memory. */
struct nm_heap_image *nm_heap_save(struct nm_heap *heap);
void nm_heap_restore(struct nm_heap *heap, struct nm_heap_image *image);

struct nm_heap_image *nm_heap_image_share(struct nm_heap_image *image);
void nm_heap_image_free(struct nm_heap_image *image); /* or NULL */

/* Bytes of the pages that no other image has. */
uint64_t nm_heap_image_bytes(const struct nm_heap_image *image);

#endif
