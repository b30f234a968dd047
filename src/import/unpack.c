/* SPDX-License-Identifier: MIT
 *
 * unpack.c - gzip, bzip2, zstd and xz, recognised by their first bytes. Each accepts files of several compressed
 * pieces, as cat joins them.
 */
#include "unpack.h"

#include <bzlib.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* ---- gzip ---- */

enum { GZIP_ONLY = 16 + 15 };

static void *gzip_begin(void)
{
	z_stream *z = calloc(1, sizeof *z);

	if (z && inflateInit2(z, GZIP_ONLY) == Z_OK)
		return z;
	free(z);
	return NULL;
}

static int gzip_step(void *state, struct nm_unpack_step *s)
{
	z_stream *z = state;
	int status;

	z->next_in = (Bytef *)(uintptr_t)s->in;
	z->avail_in = (uInt)(s->in_end - s->in);
	z->next_out = s->out;
	z->avail_out = (uInt)(s->out_end - s->out);
	status = inflate(z, Z_NO_FLUSH);
	s->in = z->next_in;
	s->out = z->next_out;
	if (status == Z_STREAM_END)
		return inflateReset(z) == Z_OK ? 1 : -1;
	return status == Z_OK || (status == Z_BUF_ERROR && !s->last) ? 0 : -1;
}

static void gzip_end(void *state)
{
	inflateEnd(state);
	free(state);
}

/* ---- zstd ---- */

static void *zstd_begin(void) { return ZSTD_createDStream(); }

static int zstd_step(void *state, struct nm_unpack_step *s)
{
	ZSTD_inBuffer in = {s->in, (size_t)(s->in_end - s->in), 0};
	ZSTD_outBuffer out = {s->out, (size_t)(s->out_end - s->out), 0};
	size_t result = ZSTD_decompressStream(state, &out, &in);

	s->in += in.pos;
	s->out += out.pos;
	if (ZSTD_isError(result) || (result && s->last && !in.pos && !out.pos))
		return -1;
	return result == 0;
}

static void zstd_end(void *state) { ZSTD_freeDStream(state); }

/* ---- xz ---- */

static void *xz_begin(void)
{
	lzma_stream *x = calloc(1, sizeof *x);

	if (x && lzma_stream_decoder(x, UINT64_MAX, 0) == LZMA_OK)
		return x;
	free(x);
	return NULL;
}

static int xz_step(void *state, struct nm_unpack_step *s)
{
	lzma_stream *x = state;
	lzma_ret status;

	x->next_in = s->in;
	x->avail_in = (size_t)(s->in_end - s->in);
	x->next_out = s->out;
	x->avail_out = (size_t)(s->out_end - s->out);
	status = lzma_code(x, LZMA_RUN);
	s->in = x->next_in;
	s->out = x->next_out;
	if (status == LZMA_STREAM_END)
		return lzma_stream_decoder(x, UINT64_MAX, 0) == LZMA_OK ? 1 : -1;
	return status == LZMA_OK || (status == LZMA_BUF_ERROR && !s->last) ? 0 : -1;
}

static void xz_end(void *state)
{
	lzma_end(state);
	free(state);
}

/* ---- bzip2 ---- */

static void *bzip2_begin(void)
{
	bz_stream *b = calloc(1, sizeof *b);

	if (b && BZ2_bzDecompressInit(b, 0, 0) == BZ_OK)
		return b;
	free(b);
	return NULL;
}

static int bzip2_step(void *state, struct nm_unpack_step *s)
{
	bz_stream *b = state;
	const uint8_t *in = s->in, *out = s->out;
	int status;

	b->next_in = (char *)(uintptr_t)s->in;
	b->avail_in = (unsigned)(s->in_end - s->in);
	b->next_out = (char *)s->out;
	b->avail_out = (unsigned)(s->out_end - s->out);
	status = BZ2_bzDecompress(b);
	s->in = (const uint8_t *)b->next_in;
	s->out = (uint8_t *)b->next_out;
	if (status == BZ_STREAM_END) {
		BZ2_bzDecompressEnd(b);
		return BZ2_bzDecompressInit(b, 0, 0) == BZ_OK ? 1 : -1;
	}
	return status == BZ_OK && (!s->last || s->in > in || s->out > out) ? 0 : -1;
}

static void bzip2_end(void *state)
{
	BZ2_bzDecompressEnd(state);
	free(state);
}

static const struct nm_unpacker unpackers[] = {
    {"gzip", {0x1f, 0x8b}, 2, gzip_begin, gzip_step, gzip_end},
    {"bzip2", {'B', 'Z', 'h'}, 3, bzip2_begin, bzip2_step, bzip2_end},
    {"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, zstd_begin, zstd_step, zstd_end},
    {"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6, xz_begin, xz_step, xz_end},
};

const struct nm_unpacker *unpacker_for(const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < sizeof unpackers / sizeof *unpackers; i++)
		if (count >= unpackers[i].magic_bytes &&
		    !memcmp(bytes, unpackers[i].magic, unpackers[i].magic_bytes))
			return &unpackers[i];
	return NULL;
}
