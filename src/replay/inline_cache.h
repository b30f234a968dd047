/* SPDX-License-Identifier: MIT
 *
 * inline_cache.h - turns the addresses of a block into references, NM_ENTRIES accesses at a time, with the
 * vector instructions that this copy of execute.c may use; also finds the records of a run of blocks.
 *
 * An entry matches addresses in its range, which lies in memory or in the running function's own frame; there
 * it is counted down from the frame's end, as debug information places local variables. All entries are
 * compared at once. If the address of one lies elsewhere, the entry is open: its reference is pending until
 * resolve.c finds its attribution key. References are written for all entries, even those after the block's
 * last access: there is room, and the next block overwrites them.
 *
 * The fields are encoded for a short comparison: 2^63 is added, since vectors compare signed numbers, and
 * the highest bit tells which of two origins and lengths apply (struct nm_stack_window).
 *
 * Dropped: 32-bit fields, which save 64 bytes per group but need seven more instructions.
 */
#ifndef NM_INLINE_CACHE_H
#define NM_INLINE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "coalesced.h"
#include "decoded_block.h"
#include "hierarchy.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define ALWAYS static inline __attribute__((always_inline))

/* The running stack: [low, low + length), of which the running function owns [low, low + own). In figures
 * of entries: own ends with the byte `last`, and has span - NM_BIAS + NM_TO_STACK_END + NM_SPARE bytes. */
struct nm_stack_window {
	uint64_t low, length, own;
	uint64_t last, span;
};

enum {
	NM_SPARE = NM_COALESCED_SPAN - 1, /* bytes of a coalesced access beyond its first, at most */
	/* bytes below a stack from which a coalesced access may reach into it */
	NM_BELOW = NM_COALESCED_SPAN
};

/* Sets the end of the running function's frame. No entry serves a frame of less than NM_SPARE bytes, which
 * only lies at the end of a stack. */
ALWAYS void nm_stack_window_own(struct nm_stack_window *w, uint64_t end)
{
	const uint64_t nowhere = 1ull << 62;

	w->own = end - w->low;
	w->last = NM_BIAS + end - 1;
	w->span = NM_BIAS - NM_TO_STACK_END + w->own - NM_SPARE;
	if (__builtin_expect(w->own < NM_SPARE, 0)) {
		w->last = NM_BIAS + nowhere;
		w->span = NM_BIAS - NM_TO_STACK_END;
	}
}

_Static_assert(sizeof(struct nm_ref) == 16 && offsetof(struct nm_ref, attr) == 8 &&
		   offsetof(struct nm_ref, size) == 12 && offsetof(struct nm_ref, kind) == 14 &&
		   offsetof(struct nm_ref, weight) == 15 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "a reference is its address and one more word");

/* One entry. Returns whether it is open. */
ALWAYS int nm_look_up_one(const struct nm_cache_entries *e, unsigned entry, uint64_t address,
			  const struct nm_stack_window *window, struct nm_ref *out)
{
	const uint64_t low = e->low[entry], length = e->length[entry];
	const uint64_t at = nm_low_is_of_frame(low) ? window->last - address : address;

	out->address = address;
	__builtin_memcpy(&out->attr, &e->word[entry], sizeof(uint64_t));
	return (int64_t)(at - low) >= (int64_t)(length + (length & NM_BIAS ? 0 : window->span));
}

/* The portable version, and the twin of the others. Returns a bit for each of the n entries that is open. */
ALWAYS unsigned nm_look_up_plain(const struct nm_cache_entries *e, const uint64_t *addresses, unsigned n,
				 const struct nm_stack_window *window, struct nm_ref *out)
{
	unsigned open = 0;

	for (unsigned i = 0; i < n; i++)
		open |= (unsigned)nm_look_up_one(e, i, addresses[i], window, &out[i]) << i;
	return open;
}

/* Whether an address is on the running stack, or so near below it that a coalesced access may reach it. */
ALWAYS int nm_is_near_stack(uint64_t address, const struct nm_stack_window *window)
{
	return address - (window->low - NM_BELOW) < window->length + NM_BELOW;
}

#if defined(__AVX2__)

ALWAYS __m256i figures(const uint64_t *at) { return _mm256_loadu_si256((const __m256i *)at); }

ALWAYS __m256i each(uint64_t figure) { return _mm256_set1_epi64x((long long)figure); }

/* Where the figure has its highest bit set, one; else the other. */
ALWAYS __m256i choose(__m256i figure, __m256i one, __m256i other)
{
	return _mm256_castpd_si256(_mm256_blendv_pd(_mm256_castsi256_pd(other), _mm256_castsi256_pd(one),
						    _mm256_castsi256_pd(figure)));
}

/* The distances of addresses from the starts of entries, and the lengths of entries; both biased. */
ALWAYS __m256i behind(const struct nm_cache_entries *e, __m256i addresses,
		      const struct nm_stack_window *window)
{
	const __m256i low = figures(e->low);

	return _mm256_sub_epi64(choose(low, addresses, _mm256_sub_epi64(each(window->last), addresses)), low);
}

ALWAYS __m256i lengths(const struct nm_cache_entries *e, const struct nm_stack_window *window)
{
	const __m256i length = figures(e->length);

	return _mm256_add_epi64(length, choose(length, _mm256_setzero_si256(), each(window->span)));
}

ALWAYS unsigned lanes_of(__m256i mask) { return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(mask)); }

ALWAYS __m256i load_some(const uint64_t *addresses, unsigned n)
{
	static const uint64_t ones[2 * NM_ENTRIES] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};

	return _mm256_maskload_epi64((const long long *)addresses, figures(ones + NM_ENTRIES - n));
}

/* tight: only n addresses may be read. */
ALWAYS unsigned nm_look_up(const struct nm_cache_entries *e, const uint64_t *addresses, unsigned n, int tight,
			   const struct nm_stack_window *window, struct nm_ref *out)
{
	const __m256i a = tight ? load_some(addresses, n) : figures(addresses), word = figures(e->word);
	const __m256i even = _mm256_unpacklo_epi64(a, word), odd = _mm256_unpackhi_epi64(a, word);

	_mm256_storeu_si256((__m256i *)out, _mm256_permute2x128_si256(even, odd, 0x20));
	_mm256_storeu_si256((__m256i *)(out + 2), _mm256_permute2x128_si256(even, odd, 0x31));
	return _bzhi_u32(~lanes_of(_mm256_cmpgt_epi64(lengths(e, window), behind(e, a, window))), n);
}

#else

ALWAYS unsigned nm_look_up(const struct nm_cache_entries *e, const uint64_t *addresses, unsigned n, int tight,
			   const struct nm_stack_window *window, struct nm_ref *out)
{
	(void)tight;
	return nm_look_up_plain(e, addresses, n, window, out);
}

#endif

#if defined(__AVX2__)

/* The high halves of eight words, in the order 0, 1, 4, 5, 2, 3, 6, 7. */
ALWAYS __m256i high_halves(const uint64_t *words)
{
	return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(figures(words)),
						     _mm256_castsi256_ps(figures(words + 4)), 0xdd));
}

/* A bit for each of 32 words that is a header. */
ALWAYS uint32_t heads_of_32(const uint64_t *words)
{
	const __m256i pairs =
	    _mm256_set_epi64x(0x0f0e07060d0c0504, 0x0b0a030209080100, 0x0f0e07060d0c0504, 0x0b0a030209080100);
	const __m256i low = _mm256_packs_epi32(high_halves(words), high_halves(words + 8));
	const __m256i high = _mm256_packs_epi32(high_halves(words + 16), high_halves(words + 24));
	const __m256i apart = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8);

	return (uint32_t)_mm256_movemask_epi8(_mm256_shuffle_epi8(apart, pairs));
}

#endif

/* A bit for each of n <= 64 words that is a header. */
ALWAYS uint64_t nm_heads(const uint64_t *words, size_t n)
{
	uint64_t heads = 0;

#if defined(__AVX2__)
	if (__builtin_expect(n == 64, 1))
		return heads_of_32(words) | (uint64_t)heads_of_32(words + 32) << 32;
#endif
	for (size_t i = 0; i < n; i++)
		heads |= words[i] >> 63 << i;
	return heads;
}

#endif
