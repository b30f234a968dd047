/* SPDX-License-Identifier: MIT
 *
 * witness.h - some of the loads and stays of one level, as they are, for who wants to know more than sums.
 *
 * A witness is told of two kinds of glimpses, both chosen by nothing but what came before, so that the same references
 * give the same ones:
 *   - at some loads, the reference that missed, and the stay of the line that leaves next: at first all of them, then
 *     ever fewer, down to one of NM_GLIMPSE_GAP, at gaps that vary.  Each stands for all since the one before: its
 *     weight.  It is also told which further levels had to load the line for it.
 *   - all stays of some lines, which are chosen by a hash of their number: at first all lines, then half of them, and so
 *     on, whenever they have become too many.  Lines that were chosen among fewer were also chosen among more, so
 *     what is known of the remaining ones is complete.
 *
 * Glimpses are listed by batch, NM_GLIMPSE_LISTS batches at a time: who models and who reads may be two threads, as long
 * as something else keeps them far enough apart.
 *
 * Dropped: to note the address that missed with each stay, which makes half a cache line three quarters.
 */
#ifndef NM_WITNESS_H
#define NM_WITNESS_H

#include <stdint.h>

#include "vector.h"

enum {
	NM_GLIMPSE_GAP = 512,
	NM_GLIMPSE_WORDS = 4, /* of a stay's mask: lines of up to 256 bytes */
	NM_GLIMPSE_LISTS = 512
};

struct nm_glimpse {
	uint64_t address; /* of a miss: where; of a stay: of its line */
	uint64_t mask[NM_GLIMPSE_WORDS];
	uint64_t served;  /* accesses */
	uint32_t weight;  /* misses, or stays, that it stands for; 0: it stands for the line alone */
	uint32_t cell;    /* that missed, or that loaded the line */
	uint8_t stay;     /* or else a miss, */
	uint8_t write;    /* of this kind */
	uint8_t followed; /* the line is one of those of which all stays are told */
	uint32_t loaded;  /* of a miss: further levels that missed too, as bits */
};

struct nm_glimpses {
	struct nm_vec(struct nm_glimpse) list;
	uint64_t chosen; /* when the batch was over: lines whose hash is at most this are followed */
};

struct nm_witness {
	struct nm_glimpses *to;
	uint64_t due, gap; /* loads until the next glimpse; that it will stand for */
	uint64_t loads;    /* until the last glimpse */
	size_t latest;     /* miss in the list and 1, 0: none; what stands for the last load if due == gap */
	uint32_t weight;   /* of the next stay that ends, 0: it is not told */
	uint64_t chosen, followed, allowed;
	uint64_t batches;
	int failed; /* memory ran out */
	struct nm_glimpses lists[NM_GLIMPSE_LISTS];
};

void nm_witness_init(struct nm_witness *witness);
void nm_witness_done(struct nm_witness *witness);

/* The next batch begins; glimpses go to its list. */
void nm_witness_next(struct nm_witness *witness);

static inline uint64_t nm_witness_hash(uint64_t line)
{
	line *= 0x9e3779b97f4a7c15ull;
	return line ^ line << 32;
}

struct nm_cache;

/* A load that is due; a further level loads, perhaps for the latest miss; a stay that is to be told; what is in the level at the end. */
void nm_witness_load(struct nm_witness *witness, uint64_t address, uint32_t cell, unsigned write);
void nm_witness_further(struct nm_witness *witness, uint64_t address, const struct nm_cache *cache);
void nm_witness_stay(struct nm_cache *cache, uint32_t place);
void nm_witness_rest(struct nm_cache *cache);

#endif
