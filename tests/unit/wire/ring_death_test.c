/* SPDX-License-Identifier: MIT
 *
 * ring_death_test.c - a process that is killed: what it had written and run arrives, at whatever moment it
 * died, and then the end of its ring.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ring_fixture.h"

static void test_what_a_killed_process_had_written_is_given(void **state)
{
	/* Less than a chunk; some chunks and a rest. */
	static const uint64_t sizes[] = {1, 77, CHUNK_WORDS, CHUNK_WORDS + 3, 5 * CHUNKS * CHUNK_WORDS + 100};
	enum { RINGS = sizeof sizes / sizeof *sizes };
	struct run *run = *state;

	for (int i = 0; i < RINGS; i++) {
		pid_t pid = start_sender(run->fd, sizes[i], 1);
		struct nm_chunk chunk;
		uint64_t words = 0;

		do { /* the child stays a zombie meanwhile: that must not look alive */
			assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &chunk, NULL), 1);
			assert_int_equal(chunk.ring, i);
			assert_int_equal(chunk.pid, pid);
			if (chunk.kind == NM_CHUNK_DATA)
				expect_words(&chunk, chunk.ring, &words);
			nm_consumer_release(run->consumer, &chunk);
		} while (chunk.kind == NM_CHUNK_DATA);
		assert_int_equal(chunk.end, NM_END_BROKEN);
		assert_int_equal(words, sizes[i]);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
}

/* Nothing but the end of the ring of a producer that was killed comes any more. */
static void expect_death(struct nm_consumer *consumer, pid_t pid)
{
	struct nm_chunk chunk;

	assert_int_equal(nm_consumer_next(consumer, PATIENCE_MS, &chunk, NULL), 1);
	assert_int_equal(chunk.kind, NM_CHUNK_END);
	assert_int_equal(chunk.end, NM_END_BROKEN);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void expect_ran(const struct nm_chunk *chunk, uint64_t ran)
{
	assert_int_equal(chunk->kind, NM_CHUNK_DATA);
	assert_int_equal(chunk->count, 2);
	assert_int_equal(chunk->words[0], nm_wire_header(NM_WIRE_RAN, 0, 1));
	assert_int_equal(chunk->words[1], ran);
}

static void test_what_a_killed_process_had_run_is_told_last(void **state)
{
	static const uint64_t sizes[] = {0, 77, CHUNK_WORDS + 3, 5 * CHUNKS * CHUNK_WORDS + 100};
	struct run *run = *state;

	for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint64_t ran = 20000000000ull + i, words = 0;
		pid_t pid = start_runner(run->fd, sizes[i], ran, 1);
		struct nm_chunk chunk;

		while (words < sizes[i]) {
			assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &chunk, NULL), 1);
			assert_int_equal(chunk.kind, NM_CHUNK_DATA);
			expect_words(&chunk, i, &words);
			nm_consumer_release(run->consumer, &chunk);
		}
		assert_int_equal(words, sizes[i]);
		assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &chunk, NULL), 1);
		assert_int_equal(chunk.ring, i);
		assert_int_equal(chunk.pid, pid);
		expect_ran(&chunk, ran);
		nm_consumer_release(run->consumer, &chunk);
		expect_death(run->consumer, pid);
	}
}

/* It has sent everything. */
static void test_of_a_ring_that_was_closed_nothing_is_added(void **state)
{
	struct run *run = *state;
	struct received got;
	pid_t pid = start_runner(run->fd, 700, 5, 0);

	receive(run->consumer, 1, &got);
	assert_int_equal(got.words, 700);
	assert_int_equal(got.end, NM_END_CLOSED);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* All but one published, and a rest in that one. */
static pid_t start_filler(int fd, uint64_t ran)
{
	pid_t pid = fork();
	uint64_t piece[CHUNK_WORDS], sent = 0;
	struct ring_producer p;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (ring_producer_open(&p, fd))
		_exit(1);
	for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
		size_t n = chunk + 1 < CHUNKS ? CHUNK_WORDS : 10;

		for (size_t k = 0; k < n; k++)
			piece[k] = word_of(p.number, sent++);
		if (ring_producer_write(&p, piece, n))
			_exit(1);
	}
	p.ring->ran = ran;
	kill(getpid(), SIGKILL);
	_exit(0);
}

static void test_what_was_run_is_told_when_a_chunk_is_free(void **state)
{
	struct run *run = *state;
	pid_t pid = start_filler(run->fd, 1234);
	struct nm_chunk held[CHUNKS], chunk;
	uint64_t words = 0;

	for (int i = 0; i < CHUNKS; i++) {
		assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &held[i], NULL), 1);
		assert_int_equal(held[i].count, i + 1 < CHUNKS ? CHUNK_WORDS : 10);
	}
	assert_int_equal(nm_consumer_next(run->consumer, 50, &chunk, NULL), 0);
	expect_words(&held[0], 0, &words);
	nm_consumer_release(run->consumer, &held[0]);
	assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &chunk, NULL), 1);
	expect_ran(&chunk, 1234);
	assert_int_equal(nm_consumer_next(run->consumer, 50, &held[0], NULL),
			 0); /* the end comes behind all */
	for (int i = 1; i < CHUNKS; i++) {
		expect_words(&held[i], 0, &words);
		nm_consumer_release(run->consumer, &held[i]);
	}
	nm_consumer_release(run->consumer, &chunk);
	expect_death(run->consumer, pid);
}

enum last_moment { IN_A_CHUNK, PUBLISHED, AT_THE_NEXT };

struct death {
	unsigned full, rest; /* chunks and words that it writes */
	enum last_moment when;
};

static int write_chunks(struct ring_producer *p, const struct death *d)
{
	uint64_t piece[CHUNK_WORDS], sent = 0;

	for (unsigned chunk = 0; chunk <= d->full; chunk++) {
		size_t n = chunk < d->full ? CHUNK_WORDS : d->rest;

		for (size_t k = 0; k < n; k++)
			piece[k] = word_of(p->number, sent++);
		if (n && ring_producer_write(p, piece, n))
			return -1;
	}
	return 0;
}

/* Killed in the middle of ring_producer_publish, or of writing. */
static pid_t start_to_die(int fd, const struct death *d)
{
	pid_t pid = fork();
	struct ring_producer p;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (ring_producer_open(&p, fd) || write_chunks(&p, d))
		_exit(1);
	if (d->when != IN_A_CHUNK) {
		uint64_t cursor = p.ring->cursor;

		ring_producer_publish(&p);
		if (d->when == PUBLISHED)
			p.ring->cursor = cursor;
	}
	kill(getpid(), SIGKILL);
	_exit(0);
}

static void expect_what_was_written(struct run *run, uint32_t ring, const struct death *d)
{
	pid_t pid = start_to_die(run->fd, d);
	struct nm_chunk chunk;
	uint64_t words = 0;

	for (;;) {
		assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &chunk, NULL), 1);
		assert_int_equal(chunk.ring, ring);
		assert_int_equal(chunk.pid, pid);
		if (chunk.kind == NM_CHUNK_END)
			break;
		expect_words(&chunk, chunk.ring, &words);
		nm_consumer_release(run->consumer, &chunk);
	}
	assert_int_equal(chunk.end, NM_END_BROKEN);
	assert_int_equal(words, d->full * CHUNK_WORDS + d->rest);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* In the ring's last chunk and in its first again, at each moment. */
static void test_a_process_may_die_at_each_moment_of_publishing(void **state)
{
	static const unsigned rests[] = {0, 77, CHUNK_WORDS};
	struct run *run = *state;
	uint32_t ring = 0;

	for (enum last_moment when = IN_A_CHUNK; when <= AT_THE_NEXT; when++)
		for (unsigned i = 0; i < 6; i++) {
			struct death d = {CHUNKS - 1 + i / 3, rests[i % 3], when};

			expect_what_was_written(run, ring++, &d);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    RING_TEST(test_what_a_killed_process_had_written_is_given),
	    RING_TEST(test_what_a_killed_process_had_run_is_told_last),
	    RING_TEST(test_of_a_ring_that_was_closed_nothing_is_added),
	    RING_TEST(test_what_was_run_is_told_when_a_chunk_is_free),
	    RING_TEST(test_a_process_may_die_at_each_moment_of_publishing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
