/* SPDX-License-Identifier: MIT
 *
 * latent.h - latent false sharing: neighbours that would share a line if lines were twice as long, or if
 * the data began at another offset (Liu, Tian, Hu and Berger, "PREDATOR: Predictive False Sharing
 * Detection", PPoPP 2014, section 3).
 *
 * A block is *watched* once one core has it, another core has its neighbour, and one of them writes. Each
 * touch of a watched block goes to *virtual lines*: two blocks long, starting at an even block, and one
 * block long, starting 1/4, 2/4 and 3/4 into a block. A virtual line covers parts of two blocks, its
 * *halves*.
 *
 * Counting rules:
 *   - Caches of virtual lines are infinite, and a write invalidates the copies of all other cores.
 *   - A touch is a *latent miss* if its core lost the virtual line to a write in one half, had touched only
 *     the other half since it got the line, and now touches that other half again. With real lines, that
 *     write invalidates no copy of the other half.
 *   - Latent misses are not misses of any level.
 */
#ifndef NM_LATENT_H
#define NM_LATENT_H

#include <stdint.h>

#include "arena.h"
#include "contention.h"
#include "map.h"
#include "vector.h"

enum {
	NM_LATENT_DOUBLED, /* lines of two blocks; 1 to 3: lines of one block, shifted by so many quarters */
	NM_LATENT_LAYOUTS = 4
};

/* How many bytes earlier the data would begin, with lines of `block` bytes. */
static inline uint64_t nm_latent_earlier(uint32_t layout, uint64_t block)
{
	return layout * block / NM_LATENT_LAYOUTS;
}

struct nm_latent_block {
	uint64_t number;
	uint16_t core;
	/* touches by `core` that would change nothing: a bit for each quarter, reads in the lower half,
	 * writes in the upper half */
	uint8_t repeated;
};

/* How often the touch is a latent miss because of a write by the other one. */
struct nm_latent_pair {
	uint32_t touch, other; /* indices */
	uint32_t layout;
	uint64_t misses;
};

struct nm_latent {
	unsigned block_shift;
	struct nm_contention *touches; /* of watched blocks, without counts */
	struct nm_vec(struct nm_latent_pair) pairs;
	struct nm_map block_of, line_of, pair_of;
	struct nm_arena arena;
	int failed; /* memory ran out */
};

/* 0 or NM_ENOMEM. */
int nm_latent_new(struct nm_latent **ret_latent, unsigned block_shift);
void nm_latent_free(struct nm_latent *latent);

/* The block is watched from now on; NULL: memory ran out. */
struct nm_latent_block *nm_latent_watch(struct nm_latent *latent, uint64_t number);
/* NULL: it is not watched. */
struct nm_latent_block *nm_latent_find(const struct nm_latent *latent, uint64_t number);

/* A core touches bytes of a watched block. */
void nm_latent_touch(struct nm_latent *latent, struct nm_latent_block *block, unsigned core, uint64_t address,
		     uint32_t bytes, uint32_t attr, int write);

#endif
