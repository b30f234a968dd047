/* SPDX-License-Identifier: MIT
 *
 * lanes.h - the addresses of a block become references, a group of NM_LANES accesses at a time, with the
 * vectors that this copy of execute.c may use; and where the records of a run of blocks begin.
 *
 * A lane serves addresses in the running function's own frame, or else those in the range that it keeps.  All lanes
 * are compared at once.  One whose address lies elsewhere is an open one: its reference waits for its cell
 * (resolve.c).  References are written for all lanes, also those behind the block's
 * last access: there is room for them, and the next block writes over them.
 *
 * Dropped: 32-bit figures, which save 64 bytes a group and cost seven instructions more to widen and merge them.
 */
#ifndef NM_LANES_H
#define NM_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "groups.h"
#include "hierarchy.h"
#include "plan.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define ALWAYS static inline __attribute__((always_inline))

/* The running stack: [low, low + length), of which the running function owns [low, low + own). */
struct nm_reach {
	uint64_t low, length, own;
};

enum { NM_BELOW = NM_GROUP_SPAN /* bytes below a stack from which a group may reach into it */ };

/* Lanes as bits: not served; of these, with an address on the running stack, or so near below it. */
struct nm_open {
	unsigned lanes, stacked;
};

_Static_assert(sizeof(struct nm_ref) == 16 && offsetof(struct nm_ref, cell) == 8 &&
		   offsetof(struct nm_ref, size) == 12 && offsetof(struct nm_ref, kind) == 14 &&
		   offsetof(struct nm_ref, weight) == 15 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "a reference is its address and one more word");

ALWAYS uint64_t nm_least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* One lane.  Returns whether it is open. */
ALWAYS int nm_serve_one(const struct nm_lanes *l, unsigned lane, uint64_t address, struct nm_reach reach,
			struct nm_ref *out)
{
	const int framed = l->low[lane] == NM_LOW_OF_FRAME;
	const uint64_t low = framed ? reach.low : l->low[lane];
	const uint64_t length = framed ? reach.own - nm_least(reach.own, l->length[lane]) : l->length[lane];

	out->address = address;
	__builtin_memcpy(&out->cell, &l->word[lane], sizeof(uint64_t));
	return address - low >= length;
}

/* The plain copy, and the twin of the others. */
ALWAYS struct nm_open nm_serve_plain(const struct nm_lanes *l, const uint64_t *addresses, unsigned n,
				     struct nm_reach reach, struct nm_ref *out)
{
	struct nm_open open = {0, 0};

	for (unsigned i = 0; i < n; i++)
		if (nm_serve_one(l, i, addresses[i], reach, &out[i])) {
			open.lanes |= 1u << i;
			open.stacked |=
			    (unsigned)(addresses[i] - (reach.low - NM_BELOW) < reach.length + NM_BELOW) << i;
		}
	return open;
}

#if !defined(__AVX512VL__)

/* Lists open lanes: `first` for the first lane, and for each that follows one more in both halves.  There is room for
 * all.  Returns how many there are. */
ALWAYS unsigned nm_list_open(uint64_t *list, unsigned lanes, uint64_t first)
{
	const uint64_t step = 1ull << 32 | 1;
	unsigned n = 0;

	for (; lanes; lanes &= lanes - 1)
		list[n++] = first + step * (unsigned)__builtin_ctz(lanes);
	return n;
}

#endif

#if defined(__AVX2__)

ALWAYS __m256i figures(const uint64_t *at) { return _mm256_loadu_si256((const __m256i *)at); }

ALWAYS __m256i each(uint64_t figure) { return _mm256_set1_epi64x((long long)figure); }

#endif

#if defined(__AVX512VL__)

ALWAYS struct nm_open nm_serve(const struct nm_lanes *l, const uint64_t *addresses, unsigned n,
			       struct nm_reach reach, struct nm_ref *out)
{
	const __mmask8 active = (__mmask8)_bzhi_u32(0xff, n);
	const __m256i a = _mm256_maskz_loadu_epi64(active, addresses);
	const __mmask8 framed = _mm256_cmpeq_epi64_mask(figures(l->low), each(NM_LOW_OF_FRAME));
	const __m256i low = _mm256_mask_mov_epi64(figures(l->low), framed, each(reach.low));
	const __m256i kept = figures(l->length), own = each(reach.own);
	const __m256i length = _mm256_mask_sub_epi64(kept, framed, own, _mm256_min_epu64(kept, own));
	const unsigned open = _mm256_mask_cmpge_epu64_mask(active, _mm256_sub_epi64(a, low), length);
	const __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(a), figures(l->word), 1);

	_mm512_storeu_si512(out, _mm512_permutexvar_epi64(_mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0), both));
	if (__builtin_expect(!open, 1))
		return (struct nm_open){0, 0};
	return (struct nm_open){open, _mm256_mask_cmplt_epu64_mask(
					  (__mmask8)open, _mm256_sub_epi64(a, each(reach.low - NM_BELOW)),
					  each(reach.length + NM_BELOW))};
}

ALWAYS unsigned nm_list_open(uint64_t *list, unsigned lanes, uint64_t first)
{
	const uint64_t step = 1ull << 32 | 1;
	const __m256i all = _mm256_add_epi64(each(first), _mm256_setr_epi64x(0, step, 2 * step, 3 * step));

	_mm256_storeu_si256((__m256i *)list, _mm256_maskz_compress_epi64((__mmask8)lanes, all));
	return (unsigned)__builtin_popcount(lanes);
}

#elif defined(__AVX2__)

/* Unsigned a < b in each lane. */
ALWAYS __m256i below(__m256i a, __m256i b)
{
	return _mm256_cmpgt_epi64(_mm256_xor_si256(b, each(1ull << 63)),
				  _mm256_xor_si256(a, each(1ull << 63)));
}

ALWAYS unsigned lanes_of(__m256i mask) { return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(mask)); }

ALWAYS struct nm_open nm_serve(const struct nm_lanes *l, const uint64_t *addresses, unsigned n,
			       struct nm_reach reach, struct nm_ref *out)
{
	static const uint64_t ones[2 * NM_LANES] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	const __m256i active = figures(ones + NM_LANES - n);
	const __m256i a = _mm256_maskload_epi64((const long long *)addresses, active);
	const __m256i framed = _mm256_cmpeq_epi64(figures(l->low), each(NM_LOW_OF_FRAME));
	const __m256i low = _mm256_blendv_epi8(figures(l->low), each(reach.low), framed);
	const __m256i kept = figures(l->length), own = each(reach.own);
	const __m256i least = _mm256_blendv_epi8(own, kept, below(kept, own));
	const __m256i length = _mm256_blendv_epi8(kept, _mm256_sub_epi64(own, least), framed);
	const unsigned open = lanes_of(_mm256_andnot_si256(below(_mm256_sub_epi64(a, low), length), active));
	const __m256i word = figures(l->word);
	const __m256i even = _mm256_unpacklo_epi64(a, word), odd = _mm256_unpackhi_epi64(a, word);

	_mm256_storeu_si256((__m256i *)out, _mm256_permute2x128_si256(even, odd, 0x20));
	_mm256_storeu_si256((__m256i *)(out + 2), _mm256_permute2x128_si256(even, odd, 0x31));
	if (!open)
		return (struct nm_open){0, 0};
	return (struct nm_open){open, open & lanes_of(below(_mm256_sub_epi64(a, each(reach.low - NM_BELOW)),
							    each(reach.length + NM_BELOW)))};
}

#else

ALWAYS struct nm_open nm_serve(const struct nm_lanes *l, const uint64_t *addresses, unsigned n,
			       struct nm_reach reach, struct nm_ref *out)
{
	return nm_serve_plain(l, addresses, n, reach, out);
}

#endif

/* Which of n <= 64 words are headers, as bits. */
ALWAYS uint64_t nm_heads(const uint64_t *words, size_t n)
{
	uint64_t heads = 0;
	size_t i = 0;

#if defined(__AVX2__)
	for (; i + 4 <= n; i += 4)
		heads |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(figures(words + i))) << i;
#endif
	for (; i < n; i++)
		heads |= words[i] >> 63 << i;
	return heads;
}

#endif
