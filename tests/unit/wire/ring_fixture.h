/* SPDX-License-Identifier: MIT
 *
 * ring_fixture.h - a consumer for each test of rings, and a sequence of words that both sides compute, cut
 * into pieces of changing size, so that a lost, doubled or torn word shows.
 */
#ifndef RING_FIXTURE_H
#define RING_FIXTURE_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "consumer.h"
#include "map.h"
#include "ring_producer.h"

enum { CHUNK_WORDS = 512, CHUNKS = 4, MAX_PIECE = 100, PATIENCE_MS = 20000 };

struct run {
	int fd; /* of the consumer's file */
	struct nm_consumer *consumer;
};

static inline int set_up(void **state)
{
	struct run *run = calloc(1, sizeof *run);

	assert_non_null(run);
	assert_int_equal(nm_consumer_new(&run->consumer, CHUNK_WORDS, CHUNKS, NULL), 0);
	run->fd = nm_consumer_fd(run->consumer);
	*state = run;
	return 0;
}

static inline int tear_down(void **state)
{
	struct run *run = *state;

	nm_consumer_free(run->consumer);
	free(run);
	return 0;
}

static inline uint64_t word_of(uint64_t stream, uint64_t i) { return nm_mix64(stream << 40 | i); }

static inline int send(struct ring_producer *p, uint64_t stream, uint64_t words)
{
	uint64_t piece[MAX_PIECE];

	for (uint64_t i = 0; i < words;) {
		uint64_t n = 1 + word_of(stream, i) % MAX_PIECE;

		if (n > words - i)
			n = words - i;
		for (uint64_t k = 0; k < n; k++)
			piece[k] = word_of(stream, i + k);
		if (ring_producer_write(p, piece, n))
			return 1;
		i += n;
	}
	return 0;
}

struct received {
	uint64_t words;
	int ends;
	enum nm_chunk_end end;
	uint32_t pid;
};

static inline void expect_words(const struct nm_chunk *chunk, uint64_t stream, uint64_t *at)
{
	for (size_t i = 0; i < chunk->count; i++, ++*at)
		if (chunk->words[i] != word_of(stream, *at))
			fail_msg("ring %u: word %llu is wrong", chunk->ring, (unsigned long long)*at);
}

/* Takes everything until `rings` rings have ended. */
static inline void receive(struct nm_consumer *consumer, int rings, struct received *got)
{
	struct nm_chunk chunk;

	memset(got, 0, (size_t)rings * sizeof *got);
	for (int ended = 0; ended < rings;) {
		assert_int_equal(nm_consumer_next(consumer, PATIENCE_MS, &chunk, NULL), 1);
		assert_true(chunk.ring < (uint32_t)rings);
		got[chunk.ring].pid = chunk.pid;
		assert_int_equal(got[chunk.ring].ends, 0);
		if (chunk.kind == NM_CHUNK_END) {
			got[chunk.ring].ends++;
			got[chunk.ring].end = chunk.end;
			ended++;
		} else
			expect_words(&chunk, chunk.ring, &got[chunk.ring].words);
		nm_consumer_release(consumer, &chunk);
	}
	assert_int_equal(nm_consumer_live(consumer), 0);
	assert_int_equal(nm_consumer_next(consumer, 0, &chunk, NULL), 0);
}

/* A process that sends words, has run `ran` instructions more than it has sent, and dies or closes. Each is a
 * process of its own: two rings of one process would be one that ran exec. */
static inline pid_t start_runner(int fd, uint64_t words, uint64_t ran, int then_die)
{
	pid_t pid = fork();
	struct ring_producer p;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (ring_producer_open(&p, fd))
		_exit(1);
	send(&p, p.number, words);
	p.ring->ran = ran;
	if (then_die)
		kill(getpid(), SIGKILL);
	ring_producer_close(&p);
	_exit(0);
}

static inline pid_t start_sender(int fd, uint64_t words, int then_die)
{
	return start_runner(fd, words, 0, then_die);
}

#define RING_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
