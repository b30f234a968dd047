/* SPDX-License-Identifier: MIT
 *
 * decoder.c - see codec.h.  Follows encoder.c step by step.
 *
 * Nothing that is read is trusted: every number is checked where it is used as an index or a length, and a
 * stream that ends early is told.
 */
#include <stdlib.h>
#include <string.h>

#include "books.h"
#include "codec.h"
#include "nearmiss/wire.h"

enum { ENOUGH_WORDS = 1 << 15, MAX_ADDRESSES = 1 << 16 };

struct reading {
	const uint8_t *at, *end;
};

struct nm_decoder {
	struct nm_books books;
	struct reading parts[NM_PARTS];
	uint64_t flow_run, run; /* still to come as predicted */
	uint64_t left;          /* words of the chunk */
	int broken;
	struct nm_vec(uint64_t) out;
};

int nm_decoder_new(struct nm_decoder **ret_decoder, struct nm_error *err)
{
	struct nm_decoder *d = calloc(1, sizeof *d);

	if (!d || nm_books_init(&d->books) || nm_vec_reserve(&d->out, ENOUGH_WORDS + MAX_ADDRESSES)) {
		nm_decoder_free(d);
		return nm_fail(err, NM_ENOMEM, "out of memory");
	}
	*ret_decoder = d;
	return 0;
}

void nm_decoder_free(struct nm_decoder *d)
{
	if (!d)
		return;
	nm_books_done(&d->books);
	nm_vec_free(&d->out);
	free(d);
}

/* 0 at the end of the part, with the fault noted. */
static uint64_t get_varint(struct nm_decoder *d, enum nm_part part)
{
	struct reading *r = &d->parts[part];
	uint64_t n = 0;

	for (unsigned shift = 0; r->at < r->end && shift < 64; shift += 7) {
		uint8_t byte = *r->at++;

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return n;
	}
	d->broken = 1;
	return 0;
}

void nm_decoder_begin(struct nm_decoder *d, const struct nm_bytes parts[NM_PARTS], uint64_t words)
{
	nm_books_reset(&d->books);
	for (unsigned i = 0; i < NM_PARTS; i++)
		d->parts[i] = (struct reading){parts[i].at, parts[i].at + parts[i].count};
	d->broken = 0;
	d->left = words;
	d->flow_run = get_varint(d, NM_PART_FLOW);
	d->run = get_varint(d, NM_PART_RUNS);
}

/* ---- addresses ---- */

static uint64_t get_distance(struct nm_decoder *d, unsigned bytes)
{
	struct reading *r = &d->parts[NM_PART_DISTANCES];
	uint64_t n = 0;

	if (bytes > (size_t)(r->end - r->at)) {
		d->broken = 1;
		return 0;
	}
	memcpy(&n, r->at, bytes);
	r->at += bytes;
	return n >> 1 ^ -(n & 1);
}

static uint64_t get_address(struct nm_decoder *d, uint32_t slot)
{
	struct nm_books *b = &d->books;
	struct nm_slot *s = &b->slots.at[slot];
	struct reading *codes = &d->parts[NM_PART_CODES];
	uint64_t address, *markov = nm_books_markov(b, slot, s->last);
	unsigned code = codes->at < codes->end ? *codes->at++ : NM_CODES, from = NM_SHIFTS - 1;

	if (code == NM_CODE_SKIPPED) {
		address = 0;
	} else {
		if (code < NM_SHIFTS) {
			from = code;
			address = s->last + b->shifts[code];
		} else if (code == NM_CODE_MARKOV) {
			address = *markov;
		} else if (code < NM_CODE_NEAR) {
			address = s->last + get_distance(d, code - NM_CODE_OWN + 1);
		} else if (code < NM_CODES) {
			address = b->told + get_distance(d, code - NM_CODE_NEAR + 1);
		} else {
			d->broken = 1;
			return 0;
		}
		b->told = address;
		nm_books_shift(b, from, address - s->last);
		*markov = address;
		nm_slot_moved(s, address);
	}
	d->run = get_varint(d, NM_PART_RUNS);
	return address & ~NM_WIRE_HEADER_BIT;
}

static void get_addresses(struct nm_decoder *d, const struct nm_path *p, uint64_t *out)
{
	struct nm_slot *s = &d->books.slots.at[p->slots];
	uint32_t n = p->count;

	if (d->run >= n) {
		d->run -= n;
		for (uint32_t i = 0; i < n; i++)
			out[i] = (s[i].last += s[i].stride) & ~NM_WIRE_HEADER_BIT;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		if (d->run) {
			d->run--;
			out[i] = (s[i].last += s[i].stride) & ~NM_WIRE_HEADER_BIT;
		} else {
			out[i] = get_address(d, p->slots + i);
		}
}

/* ---- flow ---- */

static int get_record(struct nm_decoder *d)
{
	struct reading *r = &d->parts[NM_PART_RECORDS];
	size_t room = (size_t)(r->end - r->at) / sizeof(uint64_t), n;
	uint64_t header;

	if (!room)
		return NM_EFORMAT;
	memcpy(&header, r->at, sizeof header);
	n = 1 + nm_wire_words(header);
	if (!nm_wire_is_header(header) || n > room || n > d->left)
		return NM_EFORMAT;
	if (nm_vec_reserve(&d->out, n))
		return NM_ENOMEM;
	memcpy(d->out.at + d->out.count, r->at, n * sizeof header);
	d->out.count += n;
	d->left -= n;
	r->at += n * sizeof header;
	return 0;
}

/* The path that a symbol means, or 0 if it makes no sense. */
static uint32_t told_path(struct nm_decoder *d, uint64_t symbol)
{
	struct nm_books *b = &d->books;
	uint64_t path = symbol - NM_FLOW_PATH, id, count;

	if (symbol == NM_FLOW_USUAL)
		return b->paths.at[b->path].usual;
	if (path < b->paths.count)
		return (uint32_t)path;
	id = get_varint(d, NM_PART_FLOW);
	count = get_varint(d, NM_PART_FLOW);
	if (path != b->paths.count || id > UINT32_MAX || count > MAX_ADDRESSES ||
	    nm_books_add(b, (uint32_t)id, (uint32_t)count))
		return 0;
	return (uint32_t)path;
}

static int get_block(struct nm_decoder *d, uint32_t path)
{
	const struct nm_path *p = &d->books.paths.at[path];
	uint64_t *out;

	if (!path || p->count + 1 > d->left || nm_vec_reserve(&d->out, p->count + 1))
		return NM_EFORMAT;
	out = d->out.at + d->out.count;
	*out = p->header;
	d->out.count += p->count + 1;
	d->left -= p->count + 1;
	nm_books_enter(&d->books, path);
	get_addresses(d, p, out + 1);
	return 0;
}

static int get_one(struct nm_decoder *d)
{
	uint32_t *next = nm_books_next(&d->books), path;
	uint64_t symbol;
	int status;

	if (d->flow_run) {
		d->flow_run--;
		return get_block(d, *next);
	}
	symbol = get_varint(d, NM_PART_FLOW);
	if (d->broken)
		return NM_EFORMAT;
	if (symbol == NM_FLOW_RECORD) {
		status = get_record(d);
	} else {
		*next = path = told_path(d, symbol);
		status = get_block(d, path);
	}
	d->flow_run = get_varint(d, NM_PART_FLOW);
	return status;
}

int nm_decoder_next(struct nm_decoder *d, const uint64_t **ret_words, size_t *ret_count, struct nm_error *err)
{
	size_t whole = 0;
	int status = 0;

	d->out.count = 0;
	while (!d->broken && !status && d->left && d->out.count < ENOUGH_WORDS) {
		whole = d->out.count;
		status = get_one(d);
	}
	if (!d->broken && !status)
		whole = d->out.count;
	if (status == NM_ENOMEM)
		return nm_fail(err, NM_ENOMEM, "out of memory");
	if (!whole && (d->broken || status)) {
		d->left = 0;
		return nm_fail(err, NM_EFORMAT, "the chunk is damaged");
	}
	d->broken |= status != 0;
	*ret_words = d->out.at;
	*ret_count = whole;
	return whole != 0;
}
