/* SPDX-License-Identifier: MIT
 *
 * zeros.h - arrays of zeros of which often only some is touched: tables by address, the places of a large cache.
 *
 * A large one is a mapping of its own, of small pages, that costs nothing before it is touched: the pages of zeros are the
 * system's.  calloc() may take it from huge pages that the heap has left (src/cli/heap.c) and clear all of them.
 */
#ifndef NM_ZEROS_H
#define NM_ZEROS_H

#include <stddef.h>
#include <stdint.h>

enum { NM_ZEROS_ALIGNMENT = 64 /* bytes */ };

/* `count` elements of `each` bytes, or NULL.  Owned by the caller, who gives them back with the same figures. */
void *nm_zeros(uint64_t count, size_t each);
/* NULL is no array, and no error. */
void nm_zeros_free(void *array, uint64_t count, size_t each);

#endif
