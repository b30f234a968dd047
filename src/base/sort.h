/* SPDX-License-Identifier: MIT
 *
 * sort.h - sorts long lists by a 64-bit key, much faster than qsort().
 */
#ifndef NM_SORT_H
#define NM_SORT_H

#include <stddef.h>
#include <stdint.h>

struct nm_keyed {
	uint64_t key, value;
};

/* Stable sort by key. Allocates as much memory again. 0 or NM_ENOMEM. */
int nm_sort_by_key(struct nm_keyed *list, size_t count);

#endif
