/* SPDX-License-Identifier: MIT
 *
 * lazy_array.h - zeroed arrays that may be used only in part: tables by address, large cache models.
 *
 * A large array is an anonymous mapping: a page costs nothing before its first touch.
 * Dropped: calloc(); it may reuse huge pages that the heap holds, and then clears all of them.
 */
#ifndef NM_LAZY_ARRAY_H
#define NM_LAZY_ARRAY_H

#include <stddef.h>
#include <stdint.h>

enum { NM_LAZY_ARRAY_ALIGNMENT = 64 /* bytes */ };

/* `count` zeroed elements of `each` bytes, aligned to NM_LAZY_ARRAY_ALIGNMENT; NULL if out of memory or if
 * either is 0. The caller frees them with the same count and size. */
void *nm_lazy_array(uint64_t count, size_t each);
/* array may be NULL; count and size are then ignored. */
void nm_lazy_array_free(void *array, uint64_t count, size_t each);

/* All of the array will be used: pages may be huge ones. */
void nm_lazy_array_use_all(void *array, uint64_t count, size_t each);

/* Elements [from, end) of a large array are no longer needed: their whole pages may be freed. They then read
 * as zeros or keep their values. */
void nm_lazy_array_release_pages(void *array, uint64_t count, size_t each, uint64_t from, uint64_t end);

#endif
