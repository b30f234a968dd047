/* SPDX-License-Identifier: MIT
 *
 * zstd.h - in a page blocks of references are stored as they are: Debian has no zstd for WebAssembly, and the
 * browser has decompressed the file already.
 */
#ifndef NM_PAGE_ZSTD_H
#define NM_PAGE_ZSTD_H

#include <string.h>

static inline size_t ZSTD_compressBound(size_t bytes) { return bytes; }

static inline unsigned ZSTD_isError(size_t result) { return result == 0; }

static inline size_t ZSTD_compress(void *to, size_t room, const void *from, size_t bytes, int level)
{
	(void)level;
	return bytes <= room ? (memcpy(to, from, bytes), bytes) : 0;
}

static inline size_t ZSTD_decompress(void *to, size_t room, const void *from, size_t bytes)
{
	return ZSTD_compress(to, room, from, bytes, 0);
}

#endif
