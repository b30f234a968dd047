/* SPDX-License-Identifier: MIT
 *
 * nontemporal.h - a copy that bypasses the caches, for data that another processor reads next.
 *
 * A writer that fills a shared buffer in place stalls on every line, because the reader's cache owns it. So a
 * producer fills a private buffer, which stays in its cache, and copies it out at once when it is full.
 */
#ifndef NM_NONTEMPORAL_H
#define NM_NONTEMPORAL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { NM_COPY_LINE = 64 /* bytes: `to` is aligned to it, `from` to 16, and the copy is rounded up to it */ };

/* A thread that sees a later store of the caller sees the whole copy. */
static inline void nm_copy_nontemporal(void *to, const void *from, size_t bytes)
{
#if defined(__SSE2__)
	__m128i *t = (__m128i *)to;
	const __m128i *f = (const __m128i *)from, *end = f + (bytes + NM_COPY_LINE - 1) / NM_COPY_LINE * 4;

	assert((uintptr_t)to % NM_COPY_LINE == 0 && (uintptr_t)from % sizeof *f == 0);
	for (; f < end; f += 4, t += 4) {
		__m128i a = _mm_load_si128(f), b = _mm_load_si128(f + 1);
		__m128i c = _mm_load_si128(f + 2), d = _mm_load_si128(f + 3);

		_mm_stream_si128(t, a);
		_mm_stream_si128(t + 1, b);
		_mm_stream_si128(t + 2, c);
		_mm_stream_si128(t + 3, d);
	}
	_mm_sfence();
#else
	__builtin_memcpy(to, from, bytes);
#endif
}

#endif
