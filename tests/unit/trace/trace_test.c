/* SPDX-License-Identifier: MIT
 *
 * trace_test.c - a trace returns the words that were written, over chunks, streams and slices.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "codec.h"
#include "edit.h"
#include "encode.h"
#include "numbers.h"
#include "peek.h"
#include "readahead.h"
#include "sample_stream.h"

static char folder[64], path[128], other[128];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/trace_test.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/a.nmt", folder);
	snprintf(other, sizeof other, "%s/b.nmt", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	return rmdir(folder);
}

/* Blocks of 0 to 7 addresses: strided, moving together, wild, skipped; other records in between. */
static void random_stream(struct nm_wire_words *words, uint64_t seed, unsigned blocks)
{
	uint64_t addresses[8], stack = 0x1fff000000;

	rng_state = seed;
	for (unsigned i = 0; i < blocks; i++) {
		uint32_t id = (uint32_t)below(40);
		size_t count = id % 8 - (id % 8 > 2 && below(4) == 0);

		stack += below(16) ? 0 : 64;
		for (size_t k = 0; k < count; k++)
			addresses[k] = k % 4 == 0   ? 0x1000 + 8ull * i
				       : k % 4 == 1 ? stack + 8 * k
				       : k % 4 == 2 ? rng() >> 17
						    : (below(8) ? 0x7000 + 64 * (i % 5) : 0);
		assert_int_equal(nm_wire_block_encode(words, id, addresses, count), 0);
		if (below(50) == 0)
			assert_int_equal(nm_wire_free_encode(words, &(struct nm_wire_free){0, i}), 0);
	}
}

static void expect_words(const struct nm_wire_words *words, const uint64_t *at, size_t count)
{
	assert_int_equal(count, words->count);
	assert_memory_equal(at, words->at, count * sizeof *at);
}

/* ---- the codec ---- */

static void round_trip(struct nm_encoder *e, struct nm_decoder *d, const struct nm_wire_words *words)
{
	struct nm_wire_words back = {0};
	struct nm_words piece = {0};
	const struct nm_bytes *parts[NM_PARTS];
	struct nm_bytes copies[NM_PARTS];
	struct nm_error err;
	int status;

	assert_int_equal(nm_encoder_add(e, words->at, words->count, &err), 0);
	assert_int_equal(nm_encoder_words(e), words->count);
	assert_int_equal(nm_encoder_finish(e, parts), 0);
	for (unsigned i = 0; i < NM_PARTS; i++)
		copies[i] = *parts[i];
	assert_int_equal(nm_decoder_begin(d, copies, words->count, &err), 0);
	while ((status = nm_decoder_next(d, &piece, &err)) > 0) {
		assert_int_equal(nm_vec_reserve(&back, piece.count), 0);
		memcpy(back.at + back.count, piece.at, piece.count * sizeof *piece.at);
		back.count += piece.count;
	}
	assert_int_equal(status, 0);
	expect_words(words, back.at, back.count);
	nm_encoder_reset(e);
	nm_vec_free(&back);
	nm_vec_free(&piece);
}

static void test_codec(void **state)
{
	struct nm_encoder *e;
	struct nm_decoder *d;

	(void)state;
	assert_int_equal(nm_encoder_new(&e, NULL), 0);
	assert_int_equal(nm_decoder_new(&d, NULL), 0);
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct nm_wire_words words = {0};

		random_stream(&words, seed, seed * 700);
		round_trip(e, d, &words);
		nm_vec_free(&words);
	}
	nm_encoder_free(e);
	nm_decoder_free(d);
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
	struct nm_decoder *d;

	(void)state;
	assert_int_equal(nm_encoder_new(&e, NULL), 0);
	assert_int_equal(nm_decoder_new(&d, NULL), 0);
	wide_stream(&words, 5);
	round_trip(e, d, &words);
	round_trip(e, d, &words); /* the second chunk begins where the first ended */
	nm_vec_free(&words);
	nm_encoder_free(e);
	nm_decoder_free(d);
}

/* Reads what is left of damaged parts: at most as many words as the header says, in whole records. */
static void read_damaged(struct nm_decoder *d, const struct nm_bytes *parts, uint64_t words)
{
	struct nm_words piece = {0};
	uint64_t total = 0;

	if (!nm_decoder_begin(d, parts, words, NULL))
		while (nm_decoder_next(d, &piece, NULL) > 0) {
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
	const struct nm_bytes *parts[NM_PARTS];
	struct nm_bytes copies[NM_PARTS];
	struct nm_encoder *e;
	struct nm_decoder *d;

	(void)state;
	assert_int_equal(nm_encoder_new(&e, NULL), 0);
	assert_int_equal(nm_decoder_new(&d, NULL), 0);
	random_stream(&words, 8, 300);
	assert_int_equal(nm_encoder_add(e, words.at, words.count, NULL), 0);
	assert_int_equal(nm_encoder_finish(e, parts), 0);
	for (unsigned turn = 0; turn < 4000; turn++) {
		unsigned part = turn % NM_PARTS, changes = 1 + turn / NM_PARTS % 3;

		for (unsigned i = 0; i < NM_PARTS; i++) {
			copies[i] =
			    (struct nm_bytes){malloc(parts[i]->count + NM_PART_SLACK), parts[i]->count, 0};
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
	nm_encoder_free(e);
	nm_decoder_free(d);
}

/* A loop over an array needs no columns, however long it runs. */
static void test_regular_streams_vanish(void **state)
{
	struct nm_wire_words words = {0};
	const struct nm_bytes *parts[NM_PARTS];
	struct nm_encoder *e;

	(void)state;
	assert_int_equal(nm_encoder_new(&e, NULL), 0);
	for (uint64_t i = 0; i < 100000; i++) {
		const uint64_t at[] = {0x10000 + 8 * i, 0x900000 - 16 * i, 0x7000};

		assert_int_equal(nm_wire_block_encode(&words, 3, at, 3), 0);
	}
	assert_int_equal(nm_encoder_add(e, words.at, words.count, NULL), 0);
	assert_int_equal(nm_encoder_references(e), 300000);
	assert_int_equal(nm_encoder_finish(e, parts), 0);
	assert_in_range(parts[NM_PART_TABLES]->count, 1, 60);
	assert_int_equal(parts[NM_PART_FLOW]->count, 100000);
	assert_int_equal(parts[NM_PART_INDICES]->count + parts[NM_PART_OFFSETS]->count, 0);
	for (size_t i = 0; i < 100000; i++)
		assert_int_equal(parts[NM_PART_FLOW]->at[i], 0);
	nm_vec_free(&words);
	nm_encoder_free(e);
}

/* ---- files ---- */

/* All words of a stream of the trace. */
static int read_stream(struct nm_trace *t, uint32_t stream, int threaded, struct nm_wire_words *ret,
		       int *ret_ended)
{
	struct nm_readahead *ahead;
	struct nm_piece piece;
	struct nm_error err;
	int status;

	*ret_ended = 0;
	assert_int_equal(nm_readahead_new(&ahead, t, threaded, &err), 0);
	while ((status = nm_readahead_next(ahead, &piece, &err)) > 0) {
		if (piece.stream != stream)
			continue;
		if (!piece.words) {
			*ret_ended = 1;
			continue;
		}
		assert_int_equal(nm_vec_reserve(ret, piece.count), 0);
		memcpy(ret->at + ret->count, piece.words, piece.count * sizeof *piece.words);
		ret->count += piece.count;
	}
	nm_readahead_free(ahead);
	return status;
}

static void write_two_streams(const struct nm_wire_words *first, const struct nm_wire_words *second)
{
	struct nm_trace_writer *w;

	assert_int_equal(nm_trace_writer_new(&w, path, NULL), 0);
	assert_int_equal(nm_trace_writer_info(w, "key", "old", NULL), 0);
	assert_int_equal(nm_trace_writer_feed(w, 0, first->at, first->count, NULL), 0);
	assert_int_equal(nm_trace_writer_feed(w, 3, second->at, second->count, NULL), 0);
	assert_int_equal(nm_trace_writer_flush(w, NULL), 0);
	assert_int_equal(nm_trace_writer_feed(w, 0, first->at, first->count, NULL), 0);
	assert_int_equal(nm_trace_writer_end(w, 0, NULL), 0);
	assert_int_equal(nm_trace_writer_info(w, "key", "new", NULL), 0);
	assert_int_equal(nm_trace_writer_close(w, NULL), 0);
	nm_trace_writer_free(w);
}

static void test_file(void **state)
{
	struct nm_wire_words first = {0}, second = {0}, back = {0};
	struct nm_trace *t;
	int ended;

	(void)state;
	random_stream(&first, 5, 40000);
	random_stream(&second, 6, 300);
	write_two_streams(&first, &second);
	for (int threaded = 0; threaded < 2; threaded++) {
		assert_int_equal(nm_trace_open(&t, path, NULL), 0);
		assert_null(nm_trace_fault(t));
		assert_string_equal(nm_trace_info(t, "key"), "new");
		assert_null(nm_trace_info(t, "ke"));
		back.count = 0;
		assert_int_equal(read_stream(t, 0, threaded, &back, &ended), 0);
		assert_int_equal(ended, 1);
		assert_int_equal(back.count, 2 * first.count);
		assert_memory_equal(back.at, first.at, first.count * sizeof *first.at);
		assert_memory_equal(back.at + first.count, first.at, first.count * sizeof *first.at);
		back.count = 0;
		assert_int_equal(read_stream(t, 3, threaded, &back, &ended), 0);
		assert_int_equal(ended, 0);
		expect_words(&second, back.at, back.count);
		nm_trace_free(t);
	}
	nm_vec_free(&first);
	nm_vec_free(&second);
	nm_vec_free(&back);
}

static size_t size_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return (size_t)st.st_size;
}

/* The file as it comes through a pipe, which holds all of it. */
static int open_piped(struct nm_trace **ret_trace, struct nm_error *err)
{
	static uint8_t bytes[1 << 16];
	struct nm_peeked_input peeked = {0};
	int ends[2], fd = open(path, O_RDONLY), status;
	ssize_t n = read(fd, bytes, sizeof bytes);

	close(fd);
	assert_in_range(n, 1, sizeof bytes - 1);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, (size_t)n), n);
	close(ends[1]);
	peeked.fd = ends[0];
	assert_int_equal(nm_read_full(peeked.fd, peeked.bytes, sizeof peeked.bytes, &peeked.count, NULL), 0);
	status = nm_trace_take(ret_trace, &peeked, "a pipe", err);
	if (!status)
		assert_int_equal(nm_trace_is_piped(*ret_trace), 1);
	return status;
}

/* A trace cut off anywhere returns a prefix of what was written, and reports the cut. */
static void test_cut(void **state)
{
	struct nm_wire_words words = {0}, back = {0}, piped = {0};
	size_t whole, seen = 0;
	struct nm_trace *t;
	struct nm_error err;
	int ended;

	(void)state;
	random_stream(&words, 9, 60);
	write_two_streams(&words, &words);
	whole = size_of(path);
	for (size_t bytes = whole - 1; bytes > 0; bytes--) {
		assert_int_equal(truncate(path, (off_t)bytes), 0);
		if (bytes < 16) {
			assert_int_equal(nm_trace_open(&t, path, &err), NM_EFORMAT);
			assert_int_equal(open_piped(&t, &err), NM_EFORMAT);
			continue;
		}
		assert_int_equal(nm_trace_open(&t, path, &err), 0);
		assert_non_null(nm_trace_fault(t));
		back.count = 0;
		assert_int_equal(read_stream(t, 3, 0, &back, &ended), 0);
		assert_true(back.count == 0 || back.count == words.count);
		seen += back.count != 0;
		nm_trace_free(t);
		piped.count = 0;
		assert_int_equal(open_piped(&t, &err), 0);
		assert_int_equal(read_stream(t, 3, (int)(bytes & 1), &piped, &ended), 0);
		assert_non_null(nm_trace_fault(t));
		assert_int_equal(piped.count, back.count);
		nm_trace_free(t);
	}
	assert_in_range(seen, 1, whole - 1);
	nm_vec_free(&piped);
	nm_vec_free(&words);
	nm_vec_free(&back);
}

/* A byte changed anywhere is noticed or harmless: never other words than those that went in. */
static void test_damage(void **state)
{
	struct nm_wire_words words = {0}, back = {0};
	size_t whole;
	struct nm_trace *t;
	uint8_t byte, changed;
	int fd, ended, piped = 0;

	(void)state;
	random_stream(&words, 11, 60);
	write_two_streams(&words, &words);
	whole = size_of(path);
	fd = open(path, O_RDWR);
	for (size_t at = 0; at < whole; at += 3) {
		assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
		changed = byte ^ 0x41;
		assert_int_equal(pwrite(fd, &changed, 1, (off_t)at), 1);
		back.count = 0;
		piped = !piped;
		if (!(piped ? open_piped(&t, NULL) : nm_trace_open(&t, path, NULL))) {
			read_stream(t, 3, 0, &back, &ended);
			assert_true(back.count <= words.count);
			assert_memory_equal(back.at, words.at, back.count * sizeof *back.at);
			nm_trace_free(t);
		}
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	}
	close(fd);
	nm_vec_free(&words);
	nm_vec_free(&back);
}

static void test_while_it_is_written(void **state)
{
	struct nm_wire_words words = {0}, back = {0};
	struct nm_trace_writer *w;
	struct nm_trace *t;
	int ended;

	(void)state;
	random_stream(&words, 2, 100);
	assert_int_equal(nm_trace_writer_new(&w, path, NULL), 0);
	assert_int_equal(nm_trace_writer_feed(w, 0, words.at, words.count, NULL), 0);
	assert_int_equal(nm_trace_writer_flush(w, NULL), 0);
	assert_int_equal(nm_trace_open(&t, path, NULL), 0);
	assert_non_null(nm_trace_fault(t));
	assert_int_equal(nm_trace_is_cut(t), 0);
	assert_int_equal(read_stream(t, 0, 1, &back, &ended), 0);
	expect_words(&words, back.at, back.count);
	nm_trace_free(t);
	nm_trace_writer_free(w);
	nm_vec_free(&words);
	nm_vec_free(&back);
}

/* Through a pipe all of it comes, facts too, as it is walked over. */
static void test_pipe(void **state)
{
	struct nm_wire_words words = {0}, back = {0};
	struct nm_trace_chunk chunk;
	struct nm_trace *t;
	int ended;

	(void)state;
	random_stream(&words, 4, 300);
	write_two_streams(&words, &words);
	for (int threaded = 0; threaded < 2; threaded++) {
		assert_int_equal(open_piped(&t, NULL), 0);
		assert_null(nm_trace_info(t, "key"));
		back.count = 0;
		assert_int_equal(read_stream(t, 0, threaded, &back, &ended), 0);
		assert_int_equal(ended, 1);
		assert_int_equal(back.count, 2 * words.count);
		assert_memory_equal(back.at, words.at, words.count * sizeof *words.at);
		assert_null(nm_trace_fault(t));
		assert_string_equal(nm_trace_info(t, "key"), "new");
		assert_int_equal(nm_trace_chunk(t, 0, &chunk, NULL), 1);
		assert_int_equal(nm_trace_begin(t, &chunk, NULL), NM_EFORMAT); /* it has gone by */
		nm_trace_free(t);
	}
	nm_vec_free(&words);
	nm_vec_free(&back);
}

/* What ends with a fork stands before the child, and names that are given before the child stand before both:
 * a pipe's reader needs them first. */
static void test_names_before_a_fork(void **state)
{
	static const enum nm_trace_kind expected[] = {NM_TRACE_NAMES, NM_TRACE_WORDS, NM_TRACE_WORDS};
	struct nm_wire_words parent = {0}, child = {0};
	struct nm_trace_writer *w;
	struct nm_trace_chunk chunk;
	struct nm_trace *t;

	(void)state;
	random_stream(&parent, 31, 20);
	random_stream(&child, 32, 20);
	assert_int_equal(nm_trace_writer_new(&w, path, NULL), 0);
	assert_int_equal(nm_trace_writer_feed(w, 0, parent.at, parent.count, NULL), 0);
	assert_int_equal(nm_trace_writer_full(w, 0), 0);
	parent.count = 0;
	assert_int_equal(nm_wire_fork_encode(&parent, &(struct nm_wire_fork){7, 1}), 0);
	assert_int_equal(nm_trace_writer_feed(w, 0, parent.at, parent.count, NULL), 0);
	assert_int_equal(nm_trace_writer_full(w, 1), 1);
	assert_int_equal(nm_trace_writer_names(w, (const uint8_t *)"names", 5, NULL), 0);
	assert_int_equal(nm_trace_writer_feed(w, 1, child.at, child.count, NULL), 0);
	assert_int_equal(nm_trace_writer_full(w, 1), 0);
	assert_int_equal(nm_trace_writer_close(w, NULL), 0);
	nm_trace_writer_free(w);
	assert_int_equal(nm_trace_open(&t, path, NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(nm_trace_chunk(t, i, &chunk, NULL), 1);
		assert_int_equal(chunk.kind, expected[i]);
		assert_int_equal(chunk.stream, i == 2);
	}
	assert_int_equal(nm_trace_chunk(t, 3, &chunk, NULL), 0);
	nm_trace_free(t);
	nm_vec_free(&parent);
	nm_vec_free(&child);
}

static void read_file(const char *name, struct nm_wire_words *ret)
{
	FILE *file = fopen(name, "rb");

	assert_non_null(file);
	assert_int_equal(nm_vec_reserve(ret, 4096), 0);
	ret->count = fread(ret->at, sizeof *ret->at, 4096, file);
	fclose(file);
}

/* Traces of version 2 stay readable: this one holds the sample stream of wire version 2. */
static void test_stored_sample(void **state)
{
	struct nm_wire_words words = {0}, back = {0};
	struct nm_trace *t;
	int ended;

	(void)state;
	read_file(NM_TEST_DATA "/wire-v2.bin", &words);
	assert_int_equal(nm_trace_open(&t, NM_TEST_DATA "/trace-v2.nmt", NULL), 0);
	assert_null(nm_trace_fault(t));
	assert_string_equal(nm_trace_info(t, "collector"), "sample");
	assert_int_equal(read_stream(t, 0, 0, &back, &ended), 0);
	assert_int_equal(ended, 1);
	expect_words(&words, back.at, back.count);
	nm_trace_free(t);
	nm_vec_free(&words);
	nm_vec_free(&back);
}

/* Version 1 had another codec; the message asks to record again. */
static void test_older_version(void **state)
{
	struct nm_error err;
	struct nm_trace *t;

	(void)state;
	assert_int_equal(nm_trace_open(&t, NM_TEST_DATA "/trace-v1.nmt", &err), NM_EVERSION);
	assert_non_null(strstr(err.text, "version 1"));
	assert_non_null(strstr(err.text, "record it anew"));
}

static void test_newer_version(void **state)
{
	struct nm_error err;
	struct nm_trace *t;
	uint32_t version = NM_TRACE_VERSION + 1;
	struct nm_wire_words words = {0};
	int fd;

	(void)state;
	random_stream(&words, 2, 3);
	write_two_streams(&words, &words);
	fd = open(path, O_RDWR);
	assert_int_equal(pwrite(fd, &version, sizeof version, 8), sizeof version);
	close(fd);
	assert_int_equal(nm_trace_open(&t, path, &err), NM_EVERSION);
	assert_non_null(strstr(err.text, "version 3"));
	nm_vec_free(&words);
}

/* ---- edits ---- */

/* Addresses of the blocks that are measured. */
static uint64_t measured(const struct nm_wire_words *words)
{
	struct nm_wire_scan scan = nm_wire_scan_over(words->at, words->count);
	struct nm_wire_record r;
	uint64_t n = 0;
	int on = 1;

	while (nm_wire_scan_next(&scan, &r, NULL) > 0) {
		if (r.kind == NM_WIRE_MEASURE)
			on = (int)r.arg;
		else if (r.kind == NM_WIRE_BLOCK && on)
			n += r.words;
	}
	return n;
}

static void test_slice(void **state)
{
	struct nm_wire_words words = {0}, back = {0};
	struct nm_slice slice = {NM_ALL_STREAMS, 4, 9};
	struct nm_trace_writer *w;
	struct nm_trace *t;
	int ended;

	(void)state;
	assert_int_equal(sample_start(&words), 0);
	assert_int_equal(sample_define_blocks(&words), 0);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(nm_wire_block_encode(&words, SAMPLE_CALL, &i, 1), 0);
	assert_int_equal(nm_wire_measure_encode(&words, &(struct nm_wire_measure){0}), 0);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(nm_wire_block_encode(&words, SAMPLE_CALL, &i, 1), 0);
	assert_int_equal(nm_wire_exit_encode(&words, &(struct nm_wire_exit){0}), 0);
	assert_int_equal(nm_trace_writer_new(&w, path, NULL), 0);
	assert_int_equal(nm_trace_writer_feed(w, 0, words.at, words.count, NULL), 0);
	assert_int_equal(nm_trace_writer_end(w, 0, NULL), 0);
	assert_int_equal(nm_trace_writer_close(w, NULL), 0);
	nm_trace_writer_free(w);
	assert_int_equal(nm_trace_open(&t, path, NULL), 0);
	assert_int_equal(nm_trace_slice(t, &slice, other, NULL), 0);
	nm_trace_free(t);
	assert_int_equal(nm_trace_open(&t, other, NULL), 0);
	assert_int_equal(read_stream(t, 0, 0, &back, &ended), 0);
	assert_int_equal(ended, 1);
	assert_int_equal(measured(&words), 8);
	assert_int_equal(measured(&back), 4); /* 4 to 7; the program had turned measuring off before 8 */
	nm_trace_free(t);
	nm_vec_free(&words);
	nm_vec_free(&back);
}

static void test_merge(void **state)
{
	struct nm_wire_words first = {0}, second = {0}, back = {0};
	struct nm_trace *t, *both[2];
	int ended;

	(void)state;
	random_stream(&first, 21, 400);
	random_stream(&second, 22, 300);
	write_two_streams(&first, &second);
	for (int i = 0; i < 2; i++)
		assert_int_equal(nm_trace_open(&both[i], path, NULL), 0);
	assert_int_equal(nm_trace_merge(both, 2, other, NULL), 0);
	assert_int_equal(nm_trace_open(&t, other, NULL), 0);
	assert_int_equal(read_stream(t, 4 + 3, 0, &back, &ended), 0); /* streams 0 to 3, then 4 to 7 */
	expect_words(&second, back.at, back.count);
	nm_trace_free(t);
	for (int i = 0; i < 2; i++)
		nm_trace_free(both[i]);
	nm_vec_free(&first);
	nm_vec_free(&second);
	nm_vec_free(&back);
}

/* ---- reading ahead ---- */

/* Reads ahead until it is stopped, as the modelling thread does. */
struct stepper {
	struct nm_readahead *ahead;
	pthread_t thread;
	int leaving; /* atomic */
};

static void *step(void *arg)
{
	struct stepper *s = arg;

	while (!__atomic_load_n(&s->leaving, __ATOMIC_RELAXED))
		if (!nm_readahead_step(s->ahead))
			usleep(50);
	return NULL;
}

/* Takes all pieces of stream 0, while two others read ahead; `most`: no more than that many. */
static int take_beside_steppers(struct nm_trace *t, int threaded, unsigned most, struct nm_wire_words *ret,
				struct nm_error *err)
{
	struct stepper steppers[2] = {{0}};
	struct nm_readahead *ahead;
	struct nm_piece piece;
	int status = 1;

	ret->count = 0;
	assert_int_equal(nm_readahead_new(&ahead, t, threaded, err), 0);
	for (int i = 0; i < 2; i++) {
		steppers[i].ahead = ahead;
		assert_int_equal(pthread_create(&steppers[i].thread, NULL, step, &steppers[i]), 0);
	}
	while (most && (status = nm_readahead_next(ahead, &piece, err)) > 0) {
		if (piece.stream || !piece.words)
			continue;
		assert_int_equal(nm_vec_reserve(ret, piece.count), 0);
		memcpy(ret->at + ret->count, piece.words, piece.count * sizeof *piece.words);
		ret->count += piece.count;
		most--;
	}
	if (status <= 0) /* the end stays the end */
		assert_int_equal(nm_readahead_next(ahead, &piece, err), status);
	nm_readahead_stop(ahead);
	for (int i = 0; i < 2; i++)
		__atomic_store_n(&steppers[i].leaving, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(steppers[i].thread, NULL);
	assert_int_equal(nm_readahead_step(ahead), 0);
	nm_readahead_free(ahead);
	return status;
}

/* Whoever reads, the taker gets all pieces in order. */
static void test_others_read_ahead(void **state)
{
	struct nm_wire_words first = {0}, second = {0}, back = {0};
	struct nm_trace *t;
	struct nm_error err;

	(void)state;
	random_stream(&first, 31, 300000);
	random_stream(&second, 32, 300);
	write_two_streams(&first, &second);
	for (int threaded = 0; threaded < 2; threaded++) {
		assert_int_equal(nm_trace_open(&t, path, NULL), 0);
		assert_int_equal(take_beside_steppers(t, threaded, UINT32_MAX, &back, &err), 0);
		assert_int_equal(back.count, 2 * first.count);
		assert_memory_equal(back.at, first.at, first.count * sizeof *first.at);
		assert_memory_equal(back.at + first.count, first.at, first.count * sizeof *first.at);
		assert_int_equal(take_beside_steppers(t, threaded, 3, &back, &err), 1);
		assert_in_range(back.count, 1, first.count);
		assert_memory_equal(back.at, first.at, back.count * sizeof *back.at);
		nm_trace_free(t);
	}
	nm_vec_free(&first);
	nm_vec_free(&second);
	nm_vec_free(&back);
}

/* The taker gets the pieces before the damage, then the error. */
static void test_others_read_damage(void **state)
{
	struct nm_wire_words words = {0}, small = {0}, back = {0};
	struct nm_trace_chunk chunk, last = {0};
	struct nm_trace *t;
	struct nm_error err;
	uint8_t bytes[16] = {0};
	int fd;

	(void)state;
	random_stream(&words, 33, 100000);
	random_stream(&small, 34, 300);
	write_two_streams(&words, &small);
	assert_int_equal(nm_trace_open(&t, path, NULL), 0);
	for (size_t i = 0; nm_trace_chunk(t, i, &chunk, NULL) > 0; i++)
		if (chunk.kind == NM_TRACE_WORDS)
			last = chunk;
	nm_trace_free(t);
	fd = open(path, O_RDWR);
	assert_int_equal(pwrite(fd, bytes, sizeof bytes, (off_t)(last.offset + last.bytes / 2)),
			 sizeof bytes);
	close(fd);
	for (int threaded = 0; threaded < 2; threaded++) {
		assert_int_equal(nm_trace_open(&t, path, NULL), 0);
		assert_int_equal(take_beside_steppers(t, threaded, UINT32_MAX, &back, &err), NM_EFORMAT);
		assert_non_null(strstr(err.text, "damaged in the chunk at byte"));
		expect_words(&words, back.at, back.count);
		nm_trace_free(t);
	}
	nm_vec_free(&words);
	nm_vec_free(&small);
	nm_vec_free(&back);
}

/* Only the taker reads from a pipe: no other thread may block on it. */
static void test_nobody_steps_through_a_pipe(void **state)
{
	struct nm_wire_words words = {0};
	struct nm_readahead *ahead;
	struct nm_piece piece;
	struct nm_trace *t;
	struct nm_error err;

	(void)state;
	random_stream(&words, 35, 300);
	write_two_streams(&words, &words);
	assert_int_equal(open_piped(&t, NULL), 0);
	assert_int_equal(nm_readahead_new(&ahead, t, 0, &err), 0);
	assert_int_equal(nm_readahead_step(ahead), 0);
	assert_int_equal(nm_readahead_next(ahead, &piece, &err), 1);
	assert_int_equal(nm_readahead_step(ahead), 0);
	nm_readahead_free(ahead);
	nm_trace_free(t);
	nm_vec_free(&words);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(test_codec),
	    CASE(test_codec_with_many_of_all),
	    CASE(test_damaged_parts),
	    CASE(test_regular_streams_vanish),
	    CASE(test_file),
	    CASE(test_cut),
	    CASE(test_damage),
	    CASE(test_while_it_is_written),
	    CASE(test_stored_sample),
	    CASE(test_older_version),
	    CASE(test_newer_version),
	    CASE(test_slice),
	    CASE(test_merge),
	    CASE(test_pipe),
	    CASE(test_others_read_ahead),
	    CASE(test_others_read_damage),
	    CASE(test_nobody_steps_through_a_pipe),
	    CASE(test_names_before_a_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
