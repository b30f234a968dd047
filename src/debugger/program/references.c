/* SPDX-License-Identifier: MIT
 *
 * A reference is a byte of flags, then numbers (varint.h) for what the table does not predict: the key, size
 * and kind, and the distance from the key's last address.
 */
#include "references.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "errors.h"
#include "shared_memory.h"
#include "varint.h"

enum {
	GUESSES = 512, /* entries of the table, by the low bits of a key */
	OTHER_KEY = 1,
	OTHER_SHAPE = 2,
	IS_SYNCHRONISED = 4,
	MOVE_SHIFT = 3,
	MOVE_FOLLOWS = 31, /* a smaller move is in the flags themselves */
	LONGEST = 1 + 3 * NM_VARINT_BYTES,
	ZSTD_LEVEL = 1,
	REGION_BYTES = 4 << 20,
	WINDOWS = NM_REFERENCE_BLOCK / NM_REFERENCE_WINDOW,
};

struct entry {
	uint64_t address;
	uint32_t next; /* key */
	uint16_t size;
	uint8_t is_write, uncounted;
};

struct nm_reference_guess {
	struct entry of[GUESSES];
	uint32_t last; /* key */
};

static struct entry *entry_of(struct nm_reference_guess *g, uint32_t attr) { return &g->of[attr % GUESSES]; }

static uint64_t fold_sign(int64_t move) { return (uint64_t)move << 1 ^ (uint64_t)(move >> 63); }

static uint64_t unfold_sign(uint64_t folded) { return folded >> 1 ^ -(folded & 1); }

static size_t encode_reference(struct nm_reference_guess *g, const struct nm_reference *r, uint8_t *to)
{
	struct entry *previous = entry_of(g, g->last), *e = entry_of(g, r->attr);
	const uint64_t move = fold_sign((int64_t)(r->address - e->address));
	size_t n = 1;

	to[0] = (uint8_t)((move < MOVE_FOLLOWS ? move : MOVE_FOLLOWS) << MOVE_SHIFT);
	if (r->synchronised)
		to[0] |= IS_SYNCHRONISED;
	if (previous->next != r->attr) {
		to[0] |= OTHER_KEY;
		n += nm_varint_put(to + n, r->attr);
	}
	if (e->size != r->size || e->is_write != r->is_write || e->uncounted != r->uncounted) {
		to[0] |= OTHER_SHAPE;
		n +=
		    nm_varint_put(to + n, (uint64_t)r->size << 2 | (uint64_t)r->uncounted << 1 | r->is_write);
	}
	if (move >= MOVE_FOLLOWS)
		n += nm_varint_put(to + n, move);
	previous->next = r->attr;
	g->last = r->attr;
	e->address = r->address;
	e->size = r->size;
	e->is_write = r->is_write;
	e->uncounted = r->uncounted;
	return n;
}

/* Numbers were written by encode_reference(): they are complete. */
static uint64_t read_number(const uint8_t **at)
{
	uint64_t n = 0;
	const int complete = nm_varint_get(at, *at + NM_VARINT_BYTES, &n);

	assert(complete);
	(void)complete;
	return n;
}

static const uint8_t *decode_reference(struct nm_reference_guess *g, const uint8_t *at,
				       struct nm_reference *ret)
{
	const uint8_t flags = *at++;
	struct entry *previous = entry_of(g, g->last), *e;
	uint64_t move = flags >> MOVE_SHIFT;

	if (flags & OTHER_KEY)
		previous->next = (uint32_t)read_number(&at);
	g->last = previous->next;
	e = entry_of(g, g->last);
	if (flags & OTHER_SHAPE) {
		const uint64_t shape = read_number(&at);

		e->size = (uint16_t)(shape >> 2);
		e->uncounted = shape >> 1 & 1;
		e->is_write = shape & 1;
	}
	if (move == MOVE_FOLLOWS)
		move = read_number(&at);
	e->address += unfold_sign(move);
	*ret = (struct nm_reference){.address = e->address,
				     .attr = g->last,
				     .size = e->size,
				     .is_write = e->is_write,
				     .synchronised = (flags & IS_SYNCHRONISED) != 0,
				     .uncounted = e->uncounted & 1};
	return at;
}

/* Shared memory for a packed block, or NULL. */
static uint8_t *room_for(struct nm_references *r, size_t bytes)
{
	struct nm_reference_region region = {.bytes = REGION_BYTES};

	assert(bytes <= REGION_BYTES);
	if (!r->regions.count || REGION_BYTES - r->used < bytes) {
		region.at = nm_shared_memory(region.bytes);
		if (!region.at)
			return NULL;
		if (nm_vec_push(&r->regions, region)) {
			nm_shared_memory_free(region.at, region.bytes);
			return NULL;
		}
		r->used = 0;
	}
	r->used += bytes;
	return r->regions.at[r->regions.count - 1].at + r->used - bytes;
}

/* Packs a block. 0 or NM_ENOMEM. */
static int add_block(struct nm_references *r, const uint8_t *bytes, size_t count)
{
	const size_t most = ZSTD_compressBound(count);
	struct nm_reference_block block = {.bytes = (uint32_t)count};
	uint8_t *room;

	if (nm_vec_reach(&r->packed, most))
		return NM_ENOMEM;
	block.packed_bytes = (uint32_t)ZSTD_compress(r->packed.at, most, bytes, count, ZSTD_LEVEL);
	assert(!ZSTD_isError(block.packed_bytes));
	room = room_for(r, block.packed_bytes);
	block.packed = room;
	if (!room || nm_vec_push(&r->blocks, block))
		return NM_ENOMEM;
	memcpy(room, r->packed.at, block.packed_bytes);
	r->bytes += block.packed_bytes;
	return 0;
}

int nm_references_close(struct nm_references *r)
{
	if (!r->open.count)
		return 0;
	/* the last number may be read for as far as the longest one goes */
	if (nm_vec_reserve(&r->open, NM_VARINT_BYTES))
		return NM_ENOMEM;
	memset(r->open.at + r->open.count, 0, NM_VARINT_BYTES);
	if (add_block(r, r->open.at, r->open.count + NM_VARINT_BYTES))
		return NM_ENOMEM;
	r->open.count = 0;
	return 0;
}

int nm_references_add_block(struct nm_references *r, const uint8_t *bytes, size_t count, uint64_t references)
{
	assert(r->count % NM_REFERENCE_BLOCK == 0 && !r->open.count && references <= NM_REFERENCE_BLOCK);
	if (add_block(r, bytes, count))
		return NM_ENOMEM;
	r->count += references;
	return 0;
}

int nm_references_append(struct nm_references *f, const struct nm_reference *r)
{
	if (!f->guess && !(f->guess = malloc(sizeof *f->guess)))
		return NM_ENOMEM;
	if (f->count % NM_REFERENCE_BLOCK == 0) {
		if (nm_references_close(f))
			return NM_ENOMEM;
		memset(f->guess, 0, sizeof *f->guess);
	}
	if (nm_vec_reserve(&f->open, LONGEST))
		return NM_ENOMEM;
	f->open.count += encode_reference(f->guess, r, f->open.at + f->open.count);
	f->count++;
	return 0;
}

void nm_references_done(struct nm_references *r)
{
	for (size_t i = 0; i < r->regions.count; i++)
		nm_shared_memory_free(r->regions.at[i].at, r->regions.at[i].bytes);
	nm_vec_free(&r->regions);
	nm_vec_free(&r->blocks);
	nm_vec_free(&r->open);
	nm_vec_free(&r->packed);
	free(r->guess);
}

int nm_reference_reader_new(struct nm_reference_reader **ret_reader, const struct nm_references *references)
{
	struct nm_reference_reader *r = calloc(1, sizeof *r);

	uint32_t most = 0;

	for (size_t i = 0; i < references->blocks.count; i++)
		most = references->blocks.at[i].bytes > most ? references->blocks.at[i].bytes : most;
	if (r)
		r->guess = malloc(sizeof *r->guess);
	if (!r || !r->guess || nm_vec_reach(&r->unpacked, most)) {
		nm_reference_reader_free(r);
		return NM_ENOMEM;
	}
	r->references = references;
	*ret_reader = r;
	return 0;
}

void nm_reference_reader_free(struct nm_reference_reader *r)
{
	if (!r)
		return;
	free(r->guess);
	nm_vec_free(&r->unpacked);
	free(r);
}

const uint8_t *nm_reference_reader_block(struct nm_reference_reader *r, uint64_t block, size_t *ret_count)
{
	const struct nm_reference_block *b = &r->references->blocks.at[block];

	*ret_count = ZSTD_decompress(r->unpacked.at, r->unpacked.count, b->packed, b->packed_bytes);
	assert(*ret_count == b->bytes);
	memset(r->guess, 0, sizeof *r->guess);
	r->next = r->unpacked.at;
	r->window = block * WINDOWS;
	return r->unpacked.at;
}

void nm_reference_reader_decode(struct nm_reference_reader *r, uint64_t window)
{
	size_t bytes;

	assert(window * NM_REFERENCE_WINDOW < r->references->count);
	if (r->window > window || r->window <= window / WINDOWS * WINDOWS)
		nm_reference_reader_block(r, window / WINDOWS, &bytes);
	for (; r->window <= window; r->window++) {
		const uint64_t left = r->references->count - r->window * NM_REFERENCE_WINDOW;

		for (uint64_t i = 0; i < NM_REFERENCE_WINDOW && i < left; i++)
			r->next = decode_reference(r->guess, r->next, &r->at[i]);
	}
}
