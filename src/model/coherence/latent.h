/* SPDX-License-Identifier: MIT
 *
 * latent.h - false sharing that there is not, but would be: between neighbours that would lie in one line if
 * lines were twice as long, or if what is there began at another offset (Liu, Tian, Hu and Berger, "PREDATOR:
 * Predictive False Sharing Detection", PPoPP 2014, section 3).
 *
 * A block is *watched* from when two cores have it and its neighbour, and one of them writes. Each touch of a
 * watched block goes to *virtual lines*: two blocks long from an even block on, and one block long from 1/4,
 * 2/4 and 3/4 of a block on. Each virtual line lies in two blocks, its *halves*.
 *
 * Counting rules:
 *   - Caches of virtual lines have no end, and a write invalidates the copies of all other cores.
 *   - A touch is a *latent miss* if its core had the virtual line and lost it to a write in one half, while it
 *   had touched only the other half since it had the line, and touches that half again. In the real lines
 *   that write takes nothing from it.
 *   - Nothing of it is counted as a miss of any level.
 */
#ifndef NM_LATENT_H
#define NM_LATENT_H

#include <stdint.h>

#include "arena.h"
#include "contention.h"
#include "map.h"
#include "vector.h"

enum {
	NM_LATENT_DOUBLED, /* lines of two blocks; else lines of a block, so many quarters of it further on */
	NM_LATENT_LAYOUTS = 4
};

struct nm_latent_block {
	uint64_t number;
	uint16_t core;
	uint8_t
	    settled; /* touches by the core that change nothing: by quarter; of writes in the upper half */
};

/* How often the touch misses what the other one took. */
struct nm_latent_pair {
	uint32_t touch, other; /* indices */
	uint32_t layout;
	uint64_t misses;
};

struct nm_latent {
	unsigned block_shift;
	struct nm_contention *touches; /* of watched blocks, each once: without counts */
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
