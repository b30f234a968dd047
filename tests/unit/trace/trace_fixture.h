/* SPDX-License-Identifier: MIT
 *
 * trace_fixture.h - what tests of traces share: a folder for each test, random streams, and traces of two
 * streams.
 */
#ifndef TRACE_FIXTURE_H
#define TRACE_FIXTURE_H

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

#include "codec.h"
#include "encode.h"
#include "files.h"
#include "numbers.h"
#include "readahead.h"

static char folder[64], path[128], other[128];

static inline int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/trace_test.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/a.nmt", folder);
	snprintf(other, sizeof other, "%s/b.nmt", folder);
	return 0;
}

static inline int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	return rmdir(folder);
}

/* Blocks of 0 to 7 addresses: strided, moving together, wild, skipped; other records in between. */
static inline void random_stream(struct nm_wire_words *words, uint64_t seed, unsigned blocks)
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

static inline void expect_words(const struct nm_wire_words *words, const uint64_t *at, size_t count)
{
	assert_int_equal(count, words->count);
	assert_memory_equal(at, words->at, count * sizeof *at);
}

/* All words of a stream of the trace. */
static inline int read_stream(struct nm_trace *t, uint32_t stream, int threaded, struct nm_wire_words *ret,
			      int *ret_ended)
{
	struct nm_readahead *ahead;
	struct nm_readahead_piece piece;
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

static inline void write_two_streams(const struct nm_wire_words *first, const struct nm_wire_words *second)
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

/* The file as it comes through a pipe, which holds all of it. */
static inline int open_piped(struct nm_trace **ret_trace, struct nm_error *err)
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

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

#endif
