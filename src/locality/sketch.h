/* SPDX-License-Identifier: MIT
 *
 * sketch.h - the number of distinct lines of a stream, estimated in 4 KB: HyperLogLog (Flajolet, Fusy,
 * Gandouet, Meunier 2007). A line's hash chooses a register, which keeps the largest number of leading zeros
 * of the rest of the hash. The standard error is 1.04 / sqrt(4096) = 1.6 %; few lines are counted by the
 * registers that are still 0 (linear counting, Whang et al. 1990). The sketch of two streams is the maximum of
 * theirs, so sketches of intervals can be merged.
 */
#ifndef NM_SKETCH_H
#define NM_SKETCH_H

#include <stdint.h>

#include "map.h"

enum { NM_SKETCH_BITS = 12, NM_SKETCH = 1 << NM_SKETCH_BITS };

static inline void nm_sketch_add(uint8_t *sketch, uint64_t line)
{
	const uint64_t hash = nm_mix64(line);
	const uint8_t rank = (uint8_t)(1 + __builtin_clzll(hash << NM_SKETCH_BITS | 1));
	uint8_t *to = &sketch[hash >> (64 - NM_SKETCH_BITS)];

	if (__builtin_expect(*to < rank, 0))
		*to = rank;
}

void nm_sketch_merge(uint8_t *to, const uint8_t *from);

double nm_sketch_count(const uint8_t *sketch);

#endif
