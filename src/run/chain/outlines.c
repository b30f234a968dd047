/* SPDX-License-Identifier: MIT
 *
 * outlines.c - outlines on their way between ranks: pieces behind one another, in blocks that zstd packs.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "chain_priv.h"

enum { HEAD = 4 /* words: stream, is_whole, count, key_count */, FULL = 1 << 18 /* words */, LEVEL = 1 };

void outlines_free(struct outlines *o)
{
	for (size_t i = 0; i < o->blocks.count; i++)
		free(o->blocks.at[i].bytes);
	nm_vec_free(&o->blocks);
	nm_vec_free(&o->open);
}

static size_t key_words(size_t keys) { return (keys + 1) / 2; }

int outlines_add(struct outlines *o, const struct piece *p, int *ret_full)
{
	const size_t keys = key_words(p->key_count);
	uint64_t *to;

	if (nm_vec_reserve(&o->open, HEAD + p->count + keys))
		return NM_ENOMEM;
	to = o->open.at + o->open.count;
	to[0] = p->stream;
	to[1] = (uint64_t)p->is_whole;
	to[2] = p->count;
	to[3] = p->key_count;
	if (p->count)
		memcpy(to + HEAD, p->words, p->count * sizeof *to);
	if (keys) {
		to[HEAD + p->count + keys - 1] = 0;
		memcpy(to + HEAD + p->count, p->keys, p->key_count * sizeof *p->keys);
	}
	o->open.count += HEAD + p->count + keys;
	*ret_full = o->open.count >= FULL;
	return 0;
}

int outlines_take(struct outlines *o, void *bytes, size_t count)
{
	if (nm_vec_push(&o->blocks, (struct packed_block){bytes, count})) {
		free(bytes);
		return NM_ENOMEM;
	}
	o->bytes += count;
	return 0;
}

int outlines_close(struct outlines *o)
{
	const size_t raw = o->open.count * sizeof *o->open.at, room = ZSTD_compressBound(raw);
	void *bytes;
	size_t count;

	if (!raw)
		return 0;
	bytes = malloc(room);
	count = bytes ? ZSTD_compress(bytes, room, o->open.at, raw, LEVEL) : 0;
	if (!bytes || ZSTD_isError(count)) {
		free(bytes);
		return NM_ENOMEM;
	}
	o->open.count = 0;
	return outlines_take(o, bytes, count);
}

int outline_reader_begin(struct outline_reader *r, const struct packed_block *block)
{
	const unsigned long long raw = ZSTD_getFrameContentSize(block->bytes, block->count);

	*r = (struct outline_reader){0};
	if (raw == ZSTD_CONTENTSIZE_ERROR || raw == ZSTD_CONTENTSIZE_UNKNOWN || raw % sizeof *r->words)
		return NM_EFORMAT;
	r->words = malloc(raw + 1);
	if (!r->words)
		return NM_ENOMEM;
	r->count = raw / sizeof *r->words;
	return ZSTD_decompress(r->words, raw, block->bytes, block->count) == raw ? 0 : NM_EFORMAT;
}

int outline_reader_next(struct outline_reader *r, struct piece *ret)
{
	const uint64_t *from = r->words + r->at;

	if (r->at == r->count)
		return 0;
	*ret = (struct piece){.stream = (uint32_t)from[0],
			      .is_whole = (int)from[1],
			      .words = from + HEAD,
			      .count = (size_t)from[2],
			      .keys = (const uint32_t *)(from + HEAD + from[2]),
			      .key_count = (size_t)from[3]};
	r->at += HEAD + ret->count + key_words(ret->key_count);
	return 1;
}

void outline_reader_done(struct outline_reader *r)
{
	free(r->words);
	r->words = NULL;
}
