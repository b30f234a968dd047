/* SPDX-License-Identifier: MIT
 *
 * bins.h - log-linear bins of distances: one for each of 0 ... 63, then 32 to an octave.
 *
 * The width of a bin is at most 1/32 of its lowest distance, so its middle is off by less than 1.6 %. Every
 * power of two begins a bin, and from 64 on every 32nd part of an octave does: how many distances are at
 * least that long is known exactly.
 */
#ifndef NM_BINS_H
#define NM_BINS_H

#include <assert.h>
#include <stdint.h>

enum nm_distance_bin {
	NM_BINS_SINGLE = 64,
	NM_BINS_OCTAVE = 32,
	NM_BINS = NM_BINS_SINGLE + (64 - 6) * NM_BINS_OCTAVE,
	NM_BIN_BEYOND, /* the line was touched before, longer ago than the limit */
	NM_BIN_COLD    /* the line was not touched before */
};

static inline unsigned nm_bin_of(uint64_t distance)
{
	unsigned octave;

	if (distance < NM_BINS_SINGLE)
		return (unsigned)distance;
	octave = 63u - (unsigned)__builtin_clzll(distance);
	return NM_BINS_SINGLE + (octave - 6) * NM_BINS_OCTAVE +
	       (unsigned)(distance >> (octave - 5) & (NM_BINS_OCTAVE - 1));
}

/* The lowest distance of a bin, and the highest. */
static inline uint64_t nm_bin_low(unsigned bin)
{
	assert(bin < NM_BINS);
	if (bin < NM_BINS_SINGLE)
		return bin;
	bin -= NM_BINS_SINGLE;
	return (uint64_t)(NM_BINS_OCTAVE + bin % NM_BINS_OCTAVE) << (bin / NM_BINS_OCTAVE + 1);
}

static inline uint64_t nm_bin_high(unsigned bin)
{
	uint64_t width = bin < NM_BINS_SINGLE ? 1 : 1ull << ((bin - NM_BINS_SINGLE) / NM_BINS_OCTAVE + 1);

	return nm_bin_low(bin) + (width - 1);
}

#endif
