/* SPDX-License-Identifier: MIT
 *
 * trace_codec_test.c - the codec of chunks: words that are encoded come back, whatever they are, and damaged
 * parts do no harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "breaks.h"
#include "codec.h"
#include "encode.h"
#include "encoder_priv.h"
#include "sample_stream.h"
#include "trace_fixture.h"

static void round_trip(struct nm_encoder *e, struct nm_chunk_decoder *d, const struct nm_wire_words *words)
{
	struct nm_wire_words back = {0};
	struct nm_words piece = {0};
	const struct nm_chunk_bytes *parts[NM_PARTS];
	struct nm_chunk_bytes copies[NM_PARTS];
	struct nm_error err;
	int status;

	assert_int_equal(encoder_add(e, words->at, words->count, &err), 0);
	assert_int_equal(encoder_words(e), words->count);
	assert_int_equal(encoder_finish(e, parts), 0);
	for (unsigned i = 0; i < NM_PARTS; i++)
		copies[i] = *parts[i];
	assert_int_equal(decoder_begin(d, copies, words->count, &err), 0);
	while ((status = decoder_next(d, &piece, &err)) > 0) {
		assert_int_equal(nm_vec_reserve(&back, piece.count), 0);
		memcpy(back.at + back.count, piece.at, piece.count * sizeof *piece.at);
		back.count += piece.count;
	}
	assert_int_equal(status, 0);
	expect_words(words, back.at, back.count);
	encoder_reset(e);
	nm_vec_free(&back);
	nm_vec_free(&piece);
}

static void test_codec(void **state)
{
	struct nm_encoder *e;
	struct nm_chunk_decoder *d;

	(void)state;
	assert_int_equal(encoder_new(&e, NULL), 0);
	assert_int_equal(decoder_new(&d, NULL), 0);
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct nm_wire_words words = {0};

		random_stream(&words, seed, seed * 700);
		round_trip(e, d, &words);
		nm_vec_free(&words);
	}
	encoder_free(e);
	decoder_free(d);
}

/* More successors than there are ranks, more values than one byte tells, calls and returns, bases in other
 * blocks. */
static void wide_stream(struct nm_wire_words *words, uint64_t seed)
{
	uint64_t stack = 0x1fff000000;

	rng_state = seed;
	assert_int_equal(sample_start(words), 0);
	assert_int_equal(sample_define_blocks(words), 0);
	for (unsigned i = 0; i < 60000; i++) {
		uint64_t dial = rng() >> 33;
		uint64_t at[] = {stack, 0x5000000 + dial % 1000 * 4096, stack + 24, 0x40, dial << 3};

		assert_int_equal(
		    nm_wire_block_encode(words, 100 + (uint32_t)(dial >> 10) % 700, at, dial % 6), 0);
		if (dial % 8)
			continue;
		stack += dial % 16 ? 96 : -96ull;
		assert_int_equal(nm_wire_block_encode(words, SAMPLE_CALL, at, 1), 0);
	}
}

static void test_codec_with_many_of_all(void **state)
{
	struct nm_wire_words words = {0};
	struct nm_encoder *e;
	struct nm_chunk_decoder *d;

	(void)state;
	assert_int_equal(encoder_new(&e, NULL), 0);
	assert_int_equal(decoder_new(&d, NULL), 0);
	wide_stream(&words, 5);
	round_trip(e, d, &words);
	round_trip(e, d, &words); /* the second chunk begins where the first ended */
	nm_vec_free(&words);
	encoder_free(e);
	decoder_free(d);
}

/* Plants faults in an open chunk. */
static void test_invariants(void **state)
{
	struct nm_wire_words words = {0};
	struct nm_encoder *e;
	struct path *p;

	(void)state;
	assert_int_equal(encoder_new(&e, NULL), 0);
	assert_true(encoder_is_valid(e));
	random_stream(&words, 4, 500);
	assert_int_equal(encoder_add(e, words.at, words.count, NULL), 0);
	assert_true(encoder_is_valid(e));
	p = &e->paths.at[2];
	BREAKS(encoder_is_valid(e), e->words, e->words + 1);
	BREAKS(encoder_is_valid(e), e->addresses.count, e->addresses.count - 1);
	BREAKS(encoder_is_valid(e), e->path, e->path ^ 1);
	BREAKS(encoder_is_valid(e), p->executions, p->executions + 1);
	BREAKS(encoder_is_valid(e), p->block, e->blocks.count);
	BREAKS(encoder_is_valid(e), p->header, e->paths.at[1].header);
	BREAKS(encoder_is_valid(e), e->blocks.at[p->block].count, p->count - 1);
	BREAKS(encoder_is_valid(e), e->edges.at[1].taken, e->edges.at[1].taken - 1);
	BREAKS(encoder_is_valid(e), e->edges.at[1].to, e->paths.count);
	BREAKS(encoder_is_valid(e), e->steps.at[7], 0);
	BREAKS(encoder_is_valid(e), e->steps.at[7], e->edges.count);
	BREAKS(encoder_is_valid(e), e->steps.at[7], e->steps.at[7] == 1 ? 2 : 1); /* from another path */
	encoder_reset(e);
	assert_true(encoder_is_valid(e));
	encoder_free(e);
	nm_vec_free(&words);
}

/* Reads what is left of damaged parts: at most as many words as the header says, in whole records. */
static void read_damaged(struct nm_chunk_decoder *d, const struct nm_chunk_bytes *parts, uint64_t words)
{
	struct nm_words piece = {0};
	uint64_t total = 0;

	if (!decoder_begin(d, parts, words, NULL))
		while (decoder_next(d, &piece, NULL) > 0) {
			assert_true(nm_wire_is_header(piece.at[0]));
			total += piece.count;
		}
	assert_true(total <= words);
	nm_vec_free(&piece);
}

/* Parts that no checksum has guarded: a few bytes changed, or the end missing. For sanitizers. */
static void test_damaged_parts(void **state)
{
	struct nm_wire_words words = {0};
	const struct nm_chunk_bytes *parts[NM_PARTS];
	struct nm_chunk_bytes copies[NM_PARTS];
	struct nm_encoder *e;
	struct nm_chunk_decoder *d;

	(void)state;
	assert_int_equal(encoder_new(&e, NULL), 0);
	assert_int_equal(decoder_new(&d, NULL), 0);
	random_stream(&words, 8, 300);
	assert_int_equal(encoder_add(e, words.at, words.count, NULL), 0);
	assert_int_equal(encoder_finish(e, parts), 0);
	for (unsigned turn = 0; turn < 4000; turn++) {
		unsigned part = turn % NM_PARTS, changes = 1 + turn / NM_PARTS % 3;

		for (unsigned i = 0; i < NM_PARTS; i++) {
			copies[i] = (struct nm_chunk_bytes){malloc(parts[i]->count + NM_PART_SLACK),
							    parts[i]->count, 0};
			assert_non_null(copies[i].at);
			memcpy(copies[i].at, parts[i]->at, parts[i]->count);
		}
		for (unsigned i = 0; i < changes && copies[part].count; i++)
			copies[part].at[below(copies[part].count)] ^= (uint8_t)(1 + below(255));
		if (turn % 7 == 0)
			copies[part].count -= below(copies[part].count + 1);
		read_damaged(d, copies, words.count);
		for (unsigned i = 0; i < NM_PARTS; i++)
			free(copies[i].at);
	}
	nm_vec_free(&words);
	encoder_free(e);
	decoder_free(d);
}

/* A loop over an array needs no columns, however long it runs. */
static void test_regular_streams_vanish(void **state)
{
	struct nm_wire_words words = {0};
	const struct nm_chunk_bytes *parts[NM_PARTS];
	struct nm_encoder *e;

	(void)state;
	assert_int_equal(encoder_new(&e, NULL), 0);
	for (uint64_t i = 0; i < 100000; i++) {
		const uint64_t at[] = {0x10000 + 8 * i, 0x900000 - 16 * i, 0x7000};

		assert_int_equal(nm_wire_block_encode(&words, 3, at, 3), 0);
	}
	assert_int_equal(encoder_add(e, words.at, words.count, NULL), 0);
	assert_int_equal(encoder_references(e), 300000);
	assert_int_equal(encoder_finish(e, parts), 0);
	assert_in_range(parts[NM_PART_TABLES]->count, 1, 60);
	assert_int_equal(parts[NM_PART_FLOW]->count, 100000);
	assert_int_equal(parts[NM_PART_INDICES]->count + parts[NM_PART_OFFSETS]->count, 0);
	for (size_t i = 0; i < 100000; i++)
		assert_int_equal(parts[NM_PART_FLOW]->at[i], 0);
	nm_vec_free(&words);
	encoder_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(test_codec),         CASE(test_codec_with_many_of_all), CASE(test_invariants),
	    CASE(test_damaged_parts), CASE(test_regular_streams_vanish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
