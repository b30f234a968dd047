/* SPDX-License-Identifier: MIT
 *
 * encoder.c - see codec.h.
 *
 * A block whose addresses are all predicted costs the predictions and two counters.  Room in the streams is
 * made for a whole block at a time, so that writing needs no checks.
 */
#include <stdlib.h>
#include <string.h>

#include "books.h"
#include "codec.h"
#include "decode.h"

enum { VARINT_MAX = 10, ADDRESS_MAX = 9 };

struct nm_encoder {
	struct nm_books books;
	struct nm_map path_of; /* id and count -> path */
	struct nm_bytes parts[NM_PARTS];
	uint64_t flow_run, run; /* predicted in a row: paths, addresses */
	uint64_t words, references;
};

int nm_encoder_new(struct nm_encoder **ret_encoder, struct nm_error *err)
{
	struct nm_encoder *e = calloc(1, sizeof *e);

	if (!e || nm_books_init(&e->books)) {
		nm_encoder_free(e);
		return nm_fail(err, NM_ENOMEM, "out of memory");
	}
	*ret_encoder = e;
	return 0;
}

void nm_encoder_free(struct nm_encoder *e)
{
	if (!e)
		return;
	nm_books_done(&e->books);
	nm_map_done(&e->path_of);
	for (unsigned i = 0; i < NM_PARTS; i++)
		nm_vec_free(&e->parts[i]);
	free(e);
}

void nm_encoder_reset(struct nm_encoder *e)
{
	nm_books_reset(&e->books);
	nm_map_done(&e->path_of);
	memset(&e->path_of, 0, sizeof e->path_of);
	for (unsigned i = 0; i < NM_PARTS; i++)
		e->parts[i].count = 0;
	e->flow_run = e->run = e->words = e->references = 0;
}

uint64_t nm_encoder_words(const struct nm_encoder *e) { return e->words; }
uint64_t nm_encoder_references(const struct nm_encoder *e) { return e->references; }

/* ---- bytes; the room is there ---- */

static void put_varint(struct nm_bytes *to, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		to->at[to->count++] = (uint8_t)(n | 0x80);
	to->at[to->count++] = (uint8_t)n;
}

static int make_room(struct nm_encoder *e, size_t addresses)
{
	if (nm_vec_reserve(&e->parts[NM_PART_FLOW], 4 * VARINT_MAX) ||
	    nm_vec_reserve(&e->parts[NM_PART_RUNS], (addresses + 1) * VARINT_MAX) ||
	    nm_vec_reserve(&e->parts[NM_PART_CODES], addresses) ||
	    nm_vec_reserve(&e->parts[NM_PART_DISTANCES], (addresses + 1) * ADDRESS_MAX))
		return NM_ENOMEM;
	return 0;
}

/* ---- flow ---- */

static void put_flow(struct nm_encoder *e, uint64_t symbol)
{
	put_varint(&e->parts[NM_PART_FLOW], e->flow_run);
	put_varint(&e->parts[NM_PART_FLOW], symbol);
	e->flow_run = 0;
}

/* The path of (id, count), made if it is new. */
static int find_path(struct nm_encoder *e, uint32_t id, uint32_t count, uint32_t *ret_path)
{
	struct nm_books *b = &e->books;
	uint64_t key = (uint64_t)id << 32 | count, path = nm_map_get(&e->path_of, key, 0);

	if (!path) {
		path = b->paths.count;
		put_flow(e, NM_FLOW_PATH + path);
		put_varint(&e->parts[NM_PART_FLOW], id);
		put_varint(&e->parts[NM_PART_FLOW], count);
		if (nm_books_add(b, id, count) || nm_map_put(&e->path_of, key, path))
			return NM_ENOMEM;
	} else if (b->paths.at[b->path].usual == path) {
		put_flow(e, NM_FLOW_USUAL);
	} else {
		put_flow(e, NM_FLOW_PATH + path);
	}
	*ret_path = (uint32_t)path;
	return 0;
}

/* ---- addresses ---- */

/* Distance `d` with its sign in the lowest bit. */
static uint64_t zigzag(uint64_t d) { return d << 1 ^ (uint64_t)((int64_t)d >> 63); }

static unsigned bytes_of(uint64_t n) { return n ? (unsigned)(71 - __builtin_clzll(n)) / 8 : 1; }

static void put_distance(struct nm_encoder *e, uint64_t own, uint64_t near)
{
	struct nm_bytes *to = &e->parts[NM_PART_DISTANCES], *codes = &e->parts[NM_PART_CODES];
	unsigned own_bytes = bytes_of(own), near_bytes = bytes_of(near);
	uint64_t n = near_bytes < own_bytes ? near : own;
	unsigned bytes = near_bytes < own_bytes ? near_bytes : own_bytes;

	codes->at[codes->count++] =
	    (uint8_t)((near_bytes < own_bytes ? NM_CODE_NEAR : NM_CODE_OWN) + bytes - 1);
	memcpy(to->at + to->count, &n, sizeof n); /* little-endian; room for more is there */
	to->count += bytes;
}

static void put_address(struct nm_encoder *e, uint32_t slot, uint64_t address)
{
	struct nm_books *b = &e->books;
	struct nm_slot *s = &b->slots.at[slot];
	struct nm_bytes *codes = &e->parts[NM_PART_CODES];
	uint64_t shift = address - s->last, *markov = nm_books_markov(b, slot, s->last);
	unsigned i = 0;

	put_varint(&e->parts[NM_PART_RUNS], e->run);
	e->run = 0;
	if (!address) {
		codes->at[codes->count++] = NM_CODE_SKIPPED;
		return;
	}
	while (i < NM_SHIFTS && b->shifts[i] != shift)
		i++;
	if (i < NM_SHIFTS) {
		codes->at[codes->count++] = (uint8_t)(NM_CODE_SHIFT + i);
	} else {
		i = NM_SHIFTS - 1;
		if (*markov == address)
			codes->at[codes->count++] = NM_CODE_MARKOV;
		else
			put_distance(e, zigzag(shift), zigzag(address - b->told));
	}
	b->told = address;
	nm_books_shift(b, i, shift);
	*markov = address;
	nm_slot_moved(s, address);
}

static int put_block(struct nm_encoder *e, uint64_t header, const uint64_t *addresses, uint32_t count)
{
	struct nm_books *b = &e->books;
	uint32_t *next = nm_books_next(b), path = *next, slot;

	if (make_room(e, count))
		return NM_ENOMEM;
	if (b->paths.at[path].header == header && b->paths.at[path].count == count) {
		e->flow_run++;
	} else {
		if (find_path(e, nm_wire_arg(header), count, &path))
			return NM_ENOMEM;
		*next = path;
	}
	nm_books_enter(b, path);
	slot = b->paths.at[path].slots;
	for (uint32_t i = 0; i < count; i++, slot++) {
		struct nm_slot *s = &b->slots.at[slot];

		if (s->last + s->stride == addresses[i] && addresses[i]) {
			s->last = addresses[i];
			e->run++;
		} else {
			put_address(e, slot, addresses[i]);
		}
	}
	e->references += count;
	return 0;
}

/* ---- records ---- */

static int put_record(struct nm_encoder *e, const uint64_t *words, size_t count)
{
	struct nm_bytes *to = &e->parts[NM_PART_RECORDS];

	if (make_room(e, 0) || nm_vec_reserve(to, count * sizeof *words))
		return NM_ENOMEM;
	put_flow(e, NM_FLOW_RECORD);
	memcpy(to->at + to->count, words, count * sizeof *words);
	to->count += count * sizeof *words;
	return 0;
}

static int add_other(struct nm_encoder *e, const uint64_t *words, size_t left, size_t *ret_taken,
		     struct nm_error *err)
{
	size_t n = 1 + nm_wire_words(*words);

	if (n > left)
		return nm_fail(err, NM_EFORMAT, "a record is cut short");
	*ret_taken = n;
	return put_record(e, words, n) ? nm_fail(err, NM_ENOMEM, "out of memory") : 0;
}

int nm_encoder_add(struct nm_encoder *e, const uint64_t *words, size_t count, struct nm_error *err)
{
	const uint64_t *w = words, *end = words + count;

	while (w < end) {
		size_t n = 1;
		int status;

		if (!nm_wire_is_header(*w))
			return nm_fail(err, NM_EFORMAT, "a record begins with no header");
		if (*w >> 56 == NM_WIRE_HEADER_BIT >> 56) { /* NM_WIRE_BLOCK */
			while (w + n < end && !nm_wire_is_header(w[n]))
				n++;
			status = put_block(e, *w & ~(uint64_t)NM_WIRE_MAX_PAYLOAD, w + 1, (uint32_t)(n - 1))
				     ? nm_fail(err, NM_ENOMEM, "out of memory")
				     : 0;
		} else {
			status = add_other(e, w, (size_t)(end - w), &n, err);
		}
		if (status)
			return status;
		w += n;
	}
	e->words += count;
	return 0;
}

int nm_encoder_finish(struct nm_encoder *e, const struct nm_bytes *ret_parts[NM_PARTS])
{
	if (make_room(e, 0))
		return NM_ENOMEM;
	put_varint(&e->parts[NM_PART_FLOW], e->flow_run);
	put_varint(&e->parts[NM_PART_RUNS], e->run);
	for (unsigned i = 0; i < NM_PARTS; i++)
		ret_parts[i] = &e->parts[i];
	return 0;
}
