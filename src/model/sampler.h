/* SPDX-License-Identifier: MIT
 *
 * sampler.h - some of the loads and residencies of one level, as they are, for passes that want to know more
 * than sums.
 *
 * A sampler gets two kinds of samples, both chosen by nothing but what came before, so that the same
 * references give the same ones:
 *   - at some loads, the reference that missed, and the residency of the line that leaves next: at first all
 *   of them, then
 *     ever fewer, down to one of NM_SAMPLE_GAP, at gaps that vary.  Each stands for all since the one
 *     before: its weight.  It also learns which further levels had to load the line for it.
 *   - all residencies of some lines, which are chosen by a hash of their number: at first all lines, then
 *   half of them, and so
 *     on, whenever they have become too many.  Lines that were chosen among fewer were also chosen among
 *     more, so what is known of the remaining ones is complete.
 *
 * Glimpses are listed by batch, NM_SAMPLE_LISTS batches at a time: who models and who reads may be two
 * threads, as long as something else keeps them far enough apart.
 *
 * Dropped: to note the address that missed with each residency, which makes half a cache line three quarters.
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
	uint64_t address; /* of a miss: where; of a residency: of its line */
	uint64_t mask[NM_SAMPLE_WORDS];
	uint64_t served;   /* accesses */
	uint32_t weight;   /* misses, or residencies, that it stands for; 0: it stands for the line alone */
	uint32_t attr;     /* that missed, or that loaded the line */
	uint8_t residency; /* or else a miss, */
	uint8_t write;     /* of this kind */
	uint8_t followed;  /* the line is one of those of which all residencies are sampled */
	uint32_t loaded;   /* of a miss: further levels that missed too, as bits */
};

struct nm_line_samples {
	struct nm_vec(struct nm_line_sample) list;
	uint64_t chosen; /* when the batch was over: lines whose hash is at most this are followed */
};

struct nm_sampler {
	struct nm_line_samples *to;
	uint64_t due, gap; /* loads until the next sample; that it will stand for */
	uint64_t loads;    /* until the last sample */
	size_t latest;     /* miss in the list and 1, 0: none; what stands for the last load if due == gap */
	uint32_t weight;   /* of the next residency that ends, 0: it is not sampled */
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

/* Whether the load of a line, for the level above, is for the latest miss that was sampled: between the two
 * no other load comes, but of another line. */
static inline int nm_sampler_is_latest(const struct nm_sampler *w, uint64_t address, unsigned line_shift)
{
	return w->due == w->gap && w->latest &&
	       w->to->list.at[w->latest - 1].address >> line_shift == address >> line_shift;
}

struct nm_cache;

/* A load that is due; a further level loads for a miss, by its number in the list, and 1; a residency that is
 * to be sampled; what is in the level at the end. */
void nm_sampler_load(struct nm_sampler *sampler, uint64_t address, uint32_t attr, unsigned write);
void nm_sampler_further(struct nm_sampler *sampler, size_t miss, const struct nm_cache *cache);
void nm_sampler_residency(struct nm_cache *cache, uint32_t slot);
void nm_sampler_rest(struct nm_cache *cache);

#endif
