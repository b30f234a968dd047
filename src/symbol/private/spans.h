/* SPDX-License-Identifier: MIT
 *
 * spans.h - address ranges that have a number, looked up by address.
 *
 * Ranges are pushed in any order and may nest or overlap. spans_flatten turns them once into a sorted list of
 * disjoint ones in which the innermost range wins: the one that starts last; among equal starts the one that
 * ends first; among equal ranges the one with the greatest number (walks number parents before children).
 */
#ifndef NM_SPANS_H
#define NM_SPANS_H

#include <stdint.h>

#include "vector.h"

struct span {
	uint64_t low, end;
	uint32_t id;
};
struct spans nm_vec(struct span);

int spans_flatten(struct spans *spans); /* 0 or NM_ENOMEM; on failure the list is left as it was */

/* The first flat span that ends after address (it may also start after it), or spans->count. */
size_t spans_search(const struct spans *spans, uint64_t address);

/* The flat span that contains address, or NULL. */
const struct span *spans_find(const struct spans *spans, uint64_t address);

#endif
