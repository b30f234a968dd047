/* SPDX-License-Identifier: MIT
 *
 * sampler.h - samples single loads and residencies of one level, for passes that need more than sums.
 *
 * There are two kinds of samples. Both are chosen deterministically, so the same references give the same
 * samples:
 * - at some loads, the reference that missed and the residency that ends next: all of them at first, then
 *   ever fewer, down to one in NM_SAMPLE_GAP, at varying gaps. The weight of a sample is the number of loads
 *   since the previous one. It also records which further levels had to load the line.
 * - all residencies of some lines, chosen by a hash of the line number: all lines at first, then half of
 *   them, and so on, whenever there are too many. Each selection is a subset of the one before, so the
 *   samples of the remaining lines are complete.
 *
 * Samples are kept in lists by batch, for NM_SAMPLE_LISTS batches: modelling and reading may be in two
 * threads, as long as the caller limits the distance between them.
 *
 * Dropped: storing the missing address in each residency, which grows the record from 32 to 48 bytes.
 */
#ifndef NM_SAMPLER_H
#define NM_SAMPLER_H

#include <stdint.h>

#include "vector.h"

enum {
	NM_SAMPLE_GAP = 512,
	NM_SAMPLE_WORDS = 4, /* of a residency's mask: lines of up to 256 bytes */
	NM_SAMPLE_LISTS = 512
};

struct nm_line_sample {
	uint64_t address; /* of a miss: the address; of a residency: its line's */
	uint64_t mask[NM_SAMPLE_WORDS];
	uint64_t served;   /* accesses */
	uint32_t weight;   /* misses or residencies that it stands for; 0: only for the line */
	uint32_t attr;     /* of the reference that missed, or that loaded the line */
	uint8_t residency; /* 0: it is a miss */
	uint8_t write;     /* of a miss: it is a write */
	uint8_t followed;  /* all residencies of the line are sampled */
	uint32_t loaded;   /* of a miss: a bit for each further level that missed too */
};

struct nm_line_samples {
	struct nm_vec(struct nm_line_sample) list;
	uint64_t chosen; /* at the end of the batch: lines whose hash is at most this are followed */
};

struct nm_sampler {
	struct nm_line_samples *to;
	uint64_t due, gap; /* loads until the next sample; loads that it will stand for */
	uint64_t loads;    /* until the last sample */
	/* 1 + the latest miss's index in the list, 0: none; it is the last load's if due == gap */
	size_t latest;
	uint32_t weight; /* of the next residency that ends; 0: it is not sampled */
	uint64_t chosen, followed, allowed;
	uint64_t batches;
	int failed; /* memory ran out */
	struct nm_line_samples lists[NM_SAMPLE_LISTS];
};

void nm_sampler_init(struct nm_sampler *sampler);
void nm_sampler_done(struct nm_sampler *sampler);

/* The next batch begins; samples go to its list. */
void nm_sampler_next(struct nm_sampler *sampler);

static inline uint64_t nm_sampler_hash(uint64_t line)
{
	line *= 0x9e3779b97f4a7c15ull;
	return line ^ line << 32;
}

/* Whether the load of a line, for the level above, belongs to the latest sampled miss: in between there are
 * only loads of other lines. */
static inline int nm_sampler_is_latest(const struct nm_sampler *s, uint64_t address, unsigned line_shift)
{
	return s->due == s->gap && s->latest &&
	       s->to->list.at[s->latest - 1].address >> line_shift == address >> line_shift;
}

struct nm_cache;

/* Samples a load that is due; notes that a further level has missed too (latest: 1 + the miss's index);
 * samples a residency; samples what is resident at the end. */
void nm_sampler_sample_fill(struct nm_sampler *sampler, uint64_t address, uint32_t attr, unsigned write);
void nm_sampler_further(struct nm_sampler *sampler, size_t miss, const struct nm_cache *cache);
void nm_sampler_residency(struct nm_cache *cache, uint32_t slot);
void nm_sampler_rest(struct nm_cache *cache);

#endif
