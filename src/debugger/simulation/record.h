/* SPDX-License-Identifier: MIT
 *
 * record.h - shared memory that all checkpoints of one run write and the debugger reads: the misses up to each
 * bin of the run, and the lines that left a level in each piece of the run.
 *
 * Each value depends only on its bin or piece, so all checkpoints write the same. The lines that left in a
 * piece are a Bloom filter (Bloom, CACM 1970) that keeps all bits of a line in one cache line (Putze,
 * Sanders and Singler, 2007). It has a byte for each reference of the piece, which for real programs is at
 * least 20 bits for each line, so at most one query in 1,000 is a false positive.
 */
#ifndef NM_DEBUG_RECORD_H
#define NM_DEBUG_RECORD_H

#include <stdint.h>

#include "errors.h"
#include "map.h"

enum {
	NM_PIECE_REFERENCES = 1 << 16, /* of a piece, unless the run would have more than NM_PIECES */
	NM_PIECES = 1 << 11,
	NM_FILTER_BLOCKS = NM_PIECE_REFERENCES / 64, /* of 512 bits */
	NM_FILTER_WORDS = NM_FILTER_BLOCKS * 8,
	NM_FILTER_PROBES = 4,
};

/* Mapped memory; lengths are powers of two. */
struct nm_shared_record {
	/* misses of the first level up to the end of each bin of references; 0: none, or unknown */
	uint64_t *misses;
	uint64_t bins, bin_shift; /* log2 of its references */
	uint64_t *left;           /* by piece: NM_FILTER_WORDS words */
	uint64_t pieces, piece_shift;
};

int nm_record_new(struct nm_shared_record *ret_record, uint64_t references, struct nm_error *err);
void nm_record_free(struct nm_shared_record *record);
uint64_t nm_record_bytes(const struct nm_shared_record *record);

/* The piece that contains a reference; positions count from 1. */
static inline uint64_t nm_record_piece(const struct nm_shared_record *r, uint64_t position)
{
	return (position - 1) >> r->piece_shift;
}

/* Bit i of a line in a filter. */
static inline uint64_t nm_filter_bit(uint64_t hash, unsigned i)
{
	return hash % NM_FILTER_BLOCKS * 512 + (hash >> (10 + 9 * i)) % 512;
}

static inline uint64_t nm_filter_hash(unsigned level, uint64_t line)
{
	return nm_mix64(line ^ (uint64_t)level << 58);
}

static inline void nm_record_left(const struct nm_shared_record *r, uint64_t piece, unsigned level,
				  uint64_t line)
{
	const uint64_t hash = nm_filter_hash(level, line);

	for (unsigned i = 0; i < NM_FILTER_PROBES; i++) {
		const uint64_t bit = nm_filter_bit(hash, i);

		r->left[piece * NM_FILTER_WORDS + bit / 64] |= 1ull << bit % 64;
	}
}

/* Whether a line may have left a level in a piece; 0: it has not. */
static inline int nm_record_may_have_left(const struct nm_shared_record *r, uint64_t piece, unsigned level,
					  uint64_t line)
{
	const uint64_t hash = nm_filter_hash(level, line);

	for (unsigned i = 0; i < NM_FILTER_PROBES; i++) {
		const uint64_t bit = nm_filter_bit(hash, i);

		if (!(r->left[piece * NM_FILTER_WORDS + bit / 64] >> bit % 64 & 1))
			return 0;
	}
	return 1;
}

/* Misses of the first level in the first `bins` bins. */
static inline uint64_t nm_record_misses(const struct nm_shared_record *r, uint64_t bins)
{
	return bins ? r->misses[bins - 1] : 0;
}

#endif
