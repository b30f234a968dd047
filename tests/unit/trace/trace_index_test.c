/* SPDX-License-Identifier: MIT
 *
 * trace_index_test.c - the end of a trace: a false index or trailer is not believed.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "files.h"
#include "format.h"
#include "readahead.h"
#include "sample_stream.h"

enum { STREAMS = 3, ROOM = 1 << 16 };

static char path[] = "/tmp/trace_index_test.XXXXXX";
static struct nm_wire_words words; /* of each stream */
static uint8_t file[ROOM];
static size_t file_bytes;

static int make_file(void **state)
{
	(void)state;
	close(mkstemp(path));
	return sample_stream(&words);
}

static int remove_file(void **state)
{
	(void)state;
	nm_vec_free(&words);
	return unlink(path);
}

static void read_back(void)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, file, sizeof file);

	close(fd);
	assert_in_range(n, 1, sizeof file - 1);
	file_bytes = (size_t)n;
}

static void write_trace(void)
{
	struct nm_trace_writer *w;

	assert_int_equal(nm_trace_writer_new(&w, path, NULL), 0);
	for (uint32_t i = 0; i < STREAMS; i++) {
		assert_int_equal(nm_trace_writer_feed(w, i, words.at, words.count, NULL), 0);
		assert_int_equal(nm_trace_writer_end(w, i, NULL), 0);
	}
	assert_int_equal(nm_trace_writer_close(w, NULL), 0);
	nm_trace_writer_free(w);
	read_back();
}

static void write_file(void)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	assert_int_equal(write(fd, file, file_bytes), (ssize_t)file_bytes);
	close(fd);
}

/* Changes the index and writes it back: packed, with its header's check right. */
static void change_index(void (*change)(struct index_entry *entries, size_t count))
{
	struct index_entry entries[16];
	struct chunk_header header;
	struct file_trailer trailer;
	uint8_t *at, *payload;
	size_t bytes, packed;

	memcpy(&trailer, file + file_bytes - sizeof trailer, sizeof trailer);
	at = file + trailer.index;
	payload = at + sizeof header;
	memcpy(&header, at, sizeof header);
	bytes = ZSTD_decompress(entries, sizeof entries, payload, header.parts[0].packed);
	assert_int_equal(bytes, 2 * STREAMS * sizeof *entries);
	change(entries, 2 * STREAMS);
	packed =
	    ZSTD_compress(payload, ROOM - trailer.index - sizeof header - sizeof trailer, entries, bytes, 1);
	assert_int_equal(ZSTD_isError(packed), 0);
	header.parts[0].packed = (uint32_t)packed;
	header.check = chunk_check(&header);
	memcpy(at, &header, sizeof header);
	memcpy(payload + packed, &trailer, sizeof trailer);
	file_bytes = trailer.index + sizeof header + packed + sizeof trailer;
	write_file();
}

static int open_trace(struct nm_trace **ret_trace, int piped)
{
	struct nm_peeked_input peeked = {0};
	int ends[2];

	if (!piped)
		return nm_trace_open(ret_trace, path, NULL);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], file, file_bytes), (ssize_t)file_bytes);
	close(ends[1]);
	peeked.fd = ends[0];
	assert_int_equal(nm_read_full(peeked.fd, peeked.bytes, sizeof peeked.bytes, &peeked.count, NULL), 0);
	return nm_trace_take(ret_trace, &peeked, "a pipe", NULL);
}

/* All words of all streams come, in the order of the file; whether the trace is whole is told. */
static void expect_all(int piped, int whole)
{
	struct nm_readahead *ahead;
	struct nm_trace *t;
	struct nm_readahead_piece piece;
	uint32_t streams = 0;

	assert_int_equal(open_trace(&t, piped), 0);
	assert_int_equal(nm_readahead_new(&ahead, t, 0, NULL), 0);
	while (nm_readahead_next(ahead, &piece, NULL) > 0) {
		if (!piece.words)
			continue;
		assert_int_equal(piece.stream, streams++);
		assert_int_equal(piece.count, words.count);
		assert_memory_equal(piece.words, words.at, words.count * sizeof *words.at);
	}
	assert_int_equal(streams, STREAMS);
	assert_int_equal(nm_trace_fault(t) == NULL, whole);
	nm_readahead_free(ahead);
	nm_trace_free(t);
}

static void change_nothing(struct index_entry *entries, size_t count) { (void)entries, (void)count; }

static void swap_chunks(struct index_entry *entries, size_t count)
{
	struct index_entry first = entries[0];

	(void)count;
	entries[0] = entries[2];
	entries[2] = first;
}

static void move_a_chunk(struct index_entry *entries, size_t count)
{
	(void)count;
	entries[1].offset++;
}

/* Both chunks together are as long as before. */
static void move_a_border(struct index_entry *entries, size_t count)
{
	(void)count;
	entries[0].bytes--;
	entries[1].bytes++;
}

static void point_behind_the_index(struct index_entry *entries, size_t count)
{
	entries[count - 1].bytes += 8;
}

/* Offsets that wrap around, and come out right behind the second chunk. */
static void wrap_around(struct index_entry *entries, size_t count)
{
	const uint64_t far = 1ull << 62;

	(void)count;
	entries[0].bytes += far;
	entries[1].offset += far;
	entries[1].bytes -= far;
}

static void leave_a_chunk_out(struct index_entry *entries, size_t count) { entries[count - 1].bytes--; }

static void test_an_index_that_lies_is_not_believed(void **state)
{
	void (*const changes[])(struct index_entry *, size_t) = {
	    swap_chunks, move_a_chunk, move_a_border, point_behind_the_index, wrap_around, leave_a_chunk_out};

	(void)state;
	write_trace();
	change_index(change_nothing);
	expect_all(0, 1);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		write_trace();
		change_index(changes[i]);
		expect_all(0, 0);
	}
}

static void test_a_wrong_trailer_is_noticed(void **state)
{
	(void)state;
	write_trace();
	expect_all(1, 1);
	for (size_t i = 1; i <= sizeof(struct file_trailer); i++) {
		file[file_bytes - i] ^= 1;
		write_file();
		expect_all(1, 0);
		expect_all(0, 0);
		file[file_bytes - i] ^= 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_an_index_that_lies_is_not_believed),
	    cmocka_unit_test(test_a_wrong_trailer_is_noticed),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
