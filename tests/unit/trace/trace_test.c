/* SPDX-License-Identifier: MIT
 *
 * trace_test.c - a trace file returns the words that were written, over chunks, streams, slices and pipes; a
 * damaged one returns a part of them and says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "breaks.h"
#include "edit.h"
#include "encode.h"
#include "sample_stream.h"
#include "trace_fixture.h"
#include "writer_priv.h"

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

/* Plants faults in a trace that is being written. */
static void test_invariants(void **state)
{
	struct nm_wire_words words = {0};
	struct nm_trace_writer *w;

	(void)state;
	random_stream(&words, 7, 300);
	assert_int_equal(nm_trace_writer_new(&w, path, NULL), 0);
	assert_int_equal(nm_trace_writer_info(w, "key", "value", NULL), 0);
	for (uint32_t stream = 0; stream < 2; stream++)
		assert_int_equal(nm_trace_writer_feed(w, stream, words.at, words.count, NULL), 0);
	assert_int_equal(nm_trace_writer_flush(w, NULL), 0);
	assert_true(trace_writer_is_valid(w));
	BREAKS(trace_writer_is_valid(w), w->at, w->at + 1);
	BREAKS(trace_writer_is_valid(w), w->index.at[1].offset, w->index.at[0].offset);
	BREAKS(trace_writer_is_valid(w), w->index.at[1].bytes, w->index.at[1].bytes - 1);
	BREAKS(trace_writer_is_valid(w), w->index.count, w->index.count - 1);
	BREAKS(trace_writer_is_valid(w), w->streams.at[1].number, 0);
	BREAKS(trace_writer_is_valid(w), w->streams.at[0].full, 1);
	w->streams.at[0].forked = 1;
	BREAKS(trace_writer_is_valid(w), w->streams.at[1].forked, 1);
	nm_trace_writer_free(w);
	nm_vec_free(&words);
}

static size_t size_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return (size_t)st.st_size;
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

/* It holds the stored stream. */
static void test_stored_sample(void **state)
{
	struct nm_wire_words words = {0}, back = {0};
	struct nm_trace *t;
	int ended;

	(void)state;
	read_file(NM_TEST_DATA "/wire-v1.bin", &words);
	assert_int_equal(nm_trace_open(&t, NM_TEST_DATA "/trace-v1.nmt", NULL), 0);
	assert_null(nm_trace_fault(t));
	assert_string_equal(nm_trace_info(t, "collector"), "sample");
	assert_int_equal(read_stream(t, 0, 0, &back, &ended), 0);
	assert_int_equal(ended, 1);
	expect_words(&words, back.at, back.count);
	nm_trace_free(t);
	nm_vec_free(&words);
	nm_vec_free(&back);
}

static void test_another_version(void **state)
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
	assert_non_null(strstr(err.text, "version 2, this program reads 1"));
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
	struct nm_trace_part slice = {NM_ALL_STREAMS, 4, 9};
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(test_file),          CASE(test_cut),
	    CASE(test_damage),        CASE(test_while_it_is_written),
	    CASE(test_pipe),          CASE(test_names_before_a_fork),
	    CASE(test_stored_sample), CASE(test_another_version),
	    CASE(test_slice),         CASE(test_merge),
	    CASE(test_invariants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
