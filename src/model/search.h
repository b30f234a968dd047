/* SPDX-License-Identifier: MIT
 *
 * search.h - finds a line among the tags of a set, and the smallest of its stamps, with the vectors that this
 * copy of lookup.c may use.
 */
#ifndef NM_SEARCH_H
#define NM_SEARCH_H

#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define ALWAYS static inline __attribute__((always_inline))

#if defined(__AVX512F__)
ALWAYS unsigned find_way(const uint64_t *tags, unsigned ways, uint64_t line)
{
	const __m512i key = _mm512_set1_epi64((long long)line);
	for (unsigned w = 0; w < ways; w += 8) {
		unsigned hit = _mm512_cmpeq_epi64_mask(_mm512_load_si512(tags + w), key);
		if (hit)
			return w + (unsigned)__builtin_ctz(hit);
	}
	return UINT32_MAX;
}

ALWAYS unsigned oldest_way(const uint64_t *stamps, unsigned ways)
{
	__m512i least = _mm512_load_si512(stamps);
	for (unsigned w = 8; w < ways; w += 8)
		least = _mm512_min_epu64(least, _mm512_load_si512(stamps + w));
	return find_way(stamps, ways, _mm512_reduce_min_epu64(least));
}
#define VECTOR_WAYS 8
#elif defined(__AVX2__)
ALWAYS unsigned find_way(const uint64_t *tags, unsigned ways, uint64_t line)
{
	const __m256i key = _mm256_set1_epi64x((long long)line);
	for (unsigned w = 0; w < ways; w += 8) {
		__m256i a = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)(tags + w)), key);
		__m256i b = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)(tags + w + 4)), key);
		unsigned hit = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(a)) |
			       (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(b)) << 4;
		if (hit)
			return w + (unsigned)__builtin_ctz(hit);
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

ALWAYS unsigned oldest_plain(const uint64_t *stamps, unsigned ways)
{
	unsigned oldest = 0;
	uint64_t least = stamps[0];
	for (unsigned w = 1; w < ways; w++)
		if (stamps[w] < least) {
			least = stamps[w];
			oldest = w;
		}
	return oldest;
}

ALWAYS unsigned find_fixed(const uint64_t *tags, unsigned ways, uint64_t line)
{
#ifdef VECTOR_WAYS
	if (ways % VECTOR_WAYS == 0)
		return find_way(tags, ways, line);
#endif
	return find_plain(tags, ways, line);
}

/* The way that was touched first. */
ALWAYS unsigned oldest(const uint64_t *stamps, unsigned ways)
{
#if defined(__AVX512F__)
	if (ways % 8 == 0)
		return oldest_way(stamps, ways);
#endif
	return oldest_plain(stamps, ways);
}

#endif
