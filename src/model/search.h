/* SPDX-License-Identifier: MIT
 *
 * search.h - finds a line among the tags of a set, and the smallest of its timestamps, with the vectors that
 * this copy of fast.c may use.
 */
#ifndef NM_SEARCH_H
#define NM_SEARCH_H

#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define ALWAYS static inline __attribute__((always_inline))

#if defined(__AVX2__)
/* A bit for each of four tags that is the line. */
ALWAYS unsigned same_of_4(const uint64_t *tags, __m256i key)
{
	const __m256i same = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)tags), key);

	return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same));
}

ALWAYS unsigned same_of_8(const uint64_t *tags, __m256i key)
{
	return same_of_4(tags, key) | same_of_4(tags + 4, key) << 4;
}

/* Compares sixteen at a time, so that no branch depends on where the line is. */
ALWAYS unsigned find_way(const uint64_t *tags, unsigned ways, uint64_t line)
{
	const __m256i key = _mm256_set1_epi64x((long long)line);
	unsigned w = 0, same;

	for (; w + 16 <= ways; w += 16) {
		same = same_of_8(tags + w, key) | same_of_8(tags + w + 8, key) << 8;
		if (same)
			return w + (unsigned)__builtin_ctz(same);
	}
	if (w < ways) {
		same = same_of_8(tags + w, key);
		if (same)
			return w + (unsigned)__builtin_ctz(same);
	}
	return UINT32_MAX;
}
#define VECTOR_WAYS 8
#endif

ALWAYS unsigned find_plain(const uint64_t *tags, unsigned ways, uint64_t line)
{
	for (unsigned w = 0; w < ways; w++)
		if (tags[w] == line)
			return w;
	return UINT32_MAX;
}

ALWAYS unsigned find_fixed(const uint64_t *tags, unsigned ways, uint64_t line)
{
#ifdef VECTOR_WAYS
	if (ways % VECTOR_WAYS == 0)
		return find_way(tags, ways, line);
#endif
	return find_plain(tags, ways, line);
}

enum { WAY_BITS = 6 }; /* a timestamp and, in the low bits, its way are one number */

#if defined(__AVX2__)
ALWAYS __m256i with_way(const uint64_t *timestamps, __m256i way)
{
	return _mm256_or_si256(_mm256_slli_epi64(_mm256_load_si256((const __m256i *)timestamps), WAY_BITS),
			       way);
}

ALWAYS __m256i least_of(__m256i a, __m256i b) { return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b)); }

ALWAYS unsigned oldest_way(const uint64_t *timestamps, unsigned ways)
{
	__m256i way = _mm256_set_epi64x(3, 2, 1, 0), least = with_way(timestamps, way);

	for (unsigned w = 4; w < ways; w += 4) {
		way = _mm256_add_epi64(way, _mm256_set1_epi64x(4));
		least = least_of(least, with_way(timestamps + w, way));
	}
	least = least_of(least, _mm256_permute4x64_epi64(least, 0x4e));
	least = least_of(least, _mm256_shuffle_epi32(least, 0x4e));
	return (unsigned)_mm_cvtsi128_si32(_mm256_castsi256_si128(least)) & ((1u << WAY_BITS) - 1);
}
#endif

/* The way with the oldest timestamp, of at most 64. No branch depends on the timestamps, whose order nothing
 * predicts. */
ALWAYS unsigned oldest(const uint64_t *timestamps, unsigned ways)
{
	uint64_t least = UINT64_MAX;

#ifdef VECTOR_WAYS
	if (ways % VECTOR_WAYS == 0)
		return oldest_way(timestamps, ways);
#endif
	for (unsigned w = 0; w < ways; w++) {
		const uint64_t one = timestamps[w] << WAY_BITS | w;

		least = one < least ? one : least;
	}
	return least & ((1u << WAY_BITS) - 1);
}

#endif
