/* SPDX-License-Identifier: MIT
 *
 * set_associative.h - misses of set-associative LRU caches from stack distances (Smith, IEEE TSE 1978; Hill
 * and Smith, IEEE ToC 1989, section 4).
 *
 * Lines are taken to fall into sets at random, each into any with the same probability. A touch with d other
 * lines since the last one hits if fewer than `ways` of them fell into its set: the sum of a binomial
 * distribution.
 */
#ifndef NM_SET_ASSOCIATIVE_H
#define NM_SET_ASSOCIATIVE_H

#include <stdint.h>

/* The probability that a touch misses; sets and ways at least 1.  Exact with one set. */
double nm_set_associative_miss(uint64_t distance, uint64_t sets, uint64_t ways);

#endif
