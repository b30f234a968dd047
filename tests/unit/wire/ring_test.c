/* SPDX-License-Identifier: MIT
 *
 * ring_test.c - the live transport between threads and between processes: wrap-around, full rings,
 * several rings at once, killed and replaced producers and what they had run, detachment, damaged rings.
 *
 * What is sent is a sequence of words that both sides compute, cut into pieces of changing size, so
 * that a lost, doubled or torn word shows.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

static int set_up(void **state)
{
	struct run *run = calloc(1, sizeof *run);

	assert_non_null(run);
	assert_int_equal(nm_consumer_new(&run->consumer, CHUNK_WORDS, CHUNKS, NULL), 0);
	run->fd = nm_consumer_fd(run->consumer);
	*state = run;
	return 0;
}

static int tear_down(void **state)
{
	struct run *run = *state;

	nm_consumer_free(run->consumer);
	free(run);
	return 0;
}

/* ---- The sequence ------------------------------------------------------------------------ */

static uint64_t word_of(uint64_t stream, uint64_t i) { return nm_mix64(stream << 40 | i); }

static int send(struct ring_producer *p, uint64_t stream, uint64_t words)
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

static void expect_words(const struct nm_chunk *chunk, uint64_t stream, uint64_t *at)
{
	for (size_t i = 0; i < chunk->count; i++, ++*at)
		if (chunk->words[i] != word_of(stream, *at))
			fail_msg("ring %u: word %llu is wrong", chunk->ring, (unsigned long long)*at);
}

/* Takes everything until `rings` rings have ended. */
static void receive(struct nm_consumer *consumer, int rings, struct received *got)
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

/* ---- Threads ----------------------------------------------------------------------------- */

struct sender {
	int fd;
	uint64_t words;
	uint32_t waits;
	int thrown_away;
};

static void *sender_thread(void *arg)
{
	struct sender *s = arg;
	struct ring_producer p;

	if (ring_producer_open(&p, s->fd))
		abort();
	s->thrown_away = send(&p, p.number, s->words);
	ring_producer_close(&p);
	s->waits = p.waits;
	return NULL;
}

static void test_every_word_arrives_in_order_around_the_ring(void **state)
{
	struct run *run = *state;
	struct sender s = {.fd = run->fd, .words = 200000}; /* a hundred times around */
	struct received got;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, sender_thread, &s), 0);
	receive(run->consumer, 1, &got);
	pthread_join(thread, NULL);
	assert_int_equal(got.words, s.words);
	assert_int_equal(got.end, NM_END_CLOSED);
	assert_int_equal(got.pid, getpid());
	assert_int_equal(s.thrown_away, 0);
}

static void test_a_full_ring_waits_for_its_consumer(void **state)
{
	struct run *run = *state;
	struct sender s = {.fd = run->fd, .words = 3 * CHUNKS * CHUNK_WORDS};
	struct nm_chunk held[CHUNKS], none;
	uint64_t words = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, sender_thread, &s), 0);
	for (int i = 0; i < CHUNKS; i++) {
		assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &held[i], NULL), 1);
		assert_int_equal(held[i].kind, NM_CHUNK_DATA);
	}
	/* All chunks are held: no further one can come, and what is held does not change. */
	assert_int_equal(nm_consumer_next(run->consumer, 50, &none, NULL), 0);
	for (int i = 0; i < CHUNKS; i++) {
		expect_words(&held[i], 0, &words);
		nm_consumer_release(run->consumer, &held[i]);
	}
	for (;;) {
		assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &none, NULL), 1);
		if (none.kind == NM_CHUNK_END)
			break;
		expect_words(&none, 0, &words);
		nm_consumer_release(run->consumer, &none);
	}
	pthread_join(thread, NULL);
	assert_int_equal(words, s.words);
	assert_true(s.waits > 0);
}

/* Each in a process of its own: two rings of one process would be one that ran exec. */
static pid_t start_sender(int fd, uint64_t words, int then_die)
{
	pid_t pid = fork();
	struct ring_producer p;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (ring_producer_open(&p, fd))
		_exit(1);
	send(&p, p.number, words);
	if (then_die)
		kill(getpid(), SIGKILL);
	ring_producer_close(&p);
	_exit(0);
}

static void test_rings_are_served_in_turn(void **state)
{
	enum { RINGS = 3, ROUNDS = 3 };
	struct run *run = *state;
	struct nm_chunk chunk;
	uint64_t words[RINGS] = {0};

	/* All have filled their rings before the consumer looks for the first time. */
	for (int i = 0; i < RINGS; i++) {
		pid_t pid = start_sender(run->fd, (ROUNDS - 1) * CHUNK_WORDS, 0);

		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	for (int i = 0; i < ROUNDS * RINGS; i++) {
		assert_int_equal(nm_consumer_next(run->consumer, 0, &chunk, NULL), 1);
		assert_int_equal(chunk.kind, NM_CHUNK_DATA);
		assert_int_equal(chunk.ring, i % RINGS);
		expect_words(&chunk, chunk.ring, &words[chunk.ring]);
		nm_consumer_release(run->consumer, &chunk);
	}
	for (int i = 0; i < RINGS; i++) {
		assert_int_equal(words[i], (ROUNDS - 1) * CHUNK_WORDS);
		assert_int_equal(nm_consumer_next(run->consumer, 0, &chunk, NULL), 1);
		assert_int_equal(chunk.kind, NM_CHUNK_END);
		assert_int_equal(chunk.end, NM_END_CLOSED);
	}
}

static void test_several_processes_write_at_once(void **state)
{
	enum { RINGS = 3 };
	struct run *run = *state;
	struct received got[RINGS];
	pid_t pids[RINGS];

	for (int i = 0; i < RINGS; i++)
		pids[i] = start_sender(run->fd, 50000, 0);
	receive(run->consumer, RINGS, got);
	for (int i = 0; i < RINGS; i++) {
		assert_int_equal(got[i].words, 50000);
		assert_int_equal(got[i].end, NM_END_CLOSED);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
}

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

/* A process that has run `ran` instructions more than it has sent, and dies or closes. */
static pid_t start_runner(int fd, uint64_t words, uint64_t ran, int then_die)
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

static void test_a_second_ring_of_a_process_ends_the_first(void **state)
{
	struct run *run = *state;
	struct ring_producer before, after;
	struct received got[2];

	assert_int_equal(ring_producer_open(&before, run->fd), 0);
	assert_int_equal(send(&before, 0, 700), 0);
	ring_producer_unmap(&before);
	assert_int_equal(ring_producer_open(&after, run->fd), 0);
	assert_int_equal(send(&after, 1, 30), 0);
	ring_producer_close(&after);
	receive(run->consumer, 2, got);
	assert_int_equal(got[0].words, 700);
	assert_int_equal(got[0].end, NM_END_REPLACED);
	assert_int_equal(got[1].words, 30);
	assert_int_equal(got[1].end, NM_END_CLOSED);
}

static void test_a_detached_producer_never_waits(void **state)
{
	struct run *run = *state;
	struct sender s = {.fd = run->fd, .words = 100 * CHUNKS * CHUNK_WORDS};
	struct nm_chunk chunk;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, sender_thread, &s), 0);
	assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &chunk, NULL), 1);
	nm_consumer_detach_all(run->consumer);
	pthread_join(thread, NULL); /* though nothing is released */
	assert_int_equal(s.thrown_away, 1);
}

static void test_a_ring_that_comes_after_detachment_is_detached_too(void **state)
{
	struct run *run = *state;
	struct ring_producer p;
	struct nm_chunk chunk;

	nm_consumer_detach_all(run->consumer);
	assert_int_equal(ring_producer_open(&p, run->fd), 0);
	assert_int_equal(nm_consumer_next(run->consumer, 0, &chunk, NULL), 0);
	assert_int_equal(send(&p, 0, 10), 1);
	ring_producer_close(&p);
}

static void test_a_ring_may_appear_later_than_its_number(void **state)
{
	struct run *run = *state;
	struct ring_producer p;
	struct nm_chunk chunk;

	assert_int_equal(ring_producer_take(&p, run->fd), 0);
	assert_int_equal(nm_consumer_next(run->consumer, 0, &chunk, NULL), 0);
	assert_int_equal(nm_consumer_live(run->consumer), 1);
	ring_producer_announce(&p);
	ring_producer_close(&p);
	assert_int_equal(nm_consumer_next(run->consumer, 0, &chunk, NULL), 1);
	assert_int_equal(chunk.end, NM_END_CLOSED);
	assert_int_equal(nm_consumer_live(run->consumer), 0);
}

/* ---- Slots ------------------------------------------------------------------------------- */

static int owned_slots(const struct ring_producer *p)
{
	int owned = 0;

	for (uint32_t i = 0; i < p->control->slots; i++)
		owned += p->control->slot[i].owner != 0;
	return owned;
}

static void test_slots_are_used_again(void **state)
{
	struct run *run = *state;
	struct ring_producer p;

	assert_int_equal(ring_producer_open(&p, run->fd), 0); /* keeps the control mapped */
	for (uint32_t i = 1; i < 40; i++) {
		pid_t pid = start_sender(run->fd, 3, i % 2);
		struct nm_chunk chunk;

		do {
			assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &chunk, NULL), 1);
			assert_int_equal(chunk.ring, i);
			nm_consumer_release(run->consumer, &chunk);
		} while (chunk.kind != NM_CHUNK_END);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_int_equal(owned_slots(&p), 1);
	}
	ring_producer_unmap(&p);
}

static void test_a_slot_whose_process_may_still_write_is_not_freed(void **state)
{
	struct run *run = *state;
	struct ring_producer p;
	struct nm_chunk chunk;

	assert_int_equal(ring_producer_open(&p, run->fd), 0);
	p.ring->head = CHUNKS + 1; /* damaged */
	assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &chunk, NULL), 1);
	assert_int_equal(chunk.end, NM_END_DAMAGED);
	assert_int_equal(owned_slots(&p), 1);
	ring_producer_unmap(&p);
	assert_int_equal(ring_producer_take(&p, run->fd), 0);
	p.ring->pid = INT32_MAX; /* of another pid namespace, say */
	ring_producer_announce(&p);
	assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &chunk, NULL), 1);
	assert_int_equal(chunk.end, NM_END_BROKEN);
	assert_int_equal(owned_slots(&p), 2);
	ring_producer_unmap(&p);
}

/* Under a small limit on file sizes, which would kill who exceeds it. */
static void test_a_limit_on_file_sizes_makes_rings_smaller(void **state)
{
	pid_t pid = fork();
	int wait_status;

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		struct rlimit limit = {1 << 20, 1 << 20};
		struct nm_consumer *c;
		struct ring_producer p;

		if (setrlimit(RLIMIT_FSIZE, &limit) || nm_consumer_new(&c, 32768, 16, NULL) ||
		    ring_producer_open(&p, nm_consumer_fd(c)))
			_exit(1);
		if (p.control->slots < 4 || p.control->chunk_words < 8192)
			_exit(2);
		ring_producer_close(&p);
		nm_consumer_free(c);
		limit = (struct rlimit){4096, 4096};
		_exit(setrlimit(RLIMIT_FSIZE, &limit) || nm_consumer_new(&c, 32768, 16, NULL) != NM_EIO);
	}
	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	assert_int_equal(wait_status, 0);
}

/* ---- Death while publishing -------------------------------------------------------------- */

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

/* ---- Damage ------------------------------------------------------------------------------ */

static void expect_damage(struct run *run, const char *said)
{
	struct nm_chunk chunk;

	do {
		assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &chunk, NULL), 1);
		nm_consumer_release(run->consumer, &chunk);
	} while (chunk.kind == NM_CHUNK_DATA);
	assert_int_equal(chunk.end, NM_END_DAMAGED);
	assert_non_null(chunk.fault);
	if (!strstr(chunk.fault, said))
		fail_msg("expected %s, got: %s", said, chunk.fault);
	assert_int_equal(nm_consumer_live(run->consumer), 0);
}

static void test_damaged_rings_end_with_the_reason(void **state)
{
	struct run *run = *state;
	struct ring_producer p;

	for (int i = 0; i < 7; i++) {
		assert_int_equal(ring_producer_open(&p, run->fd), 0);
		switch (i) {
		case 0: p.ring->magic = 1; break;
		case 1: p.ring->version = 99; break;
		case 2: p.ring->chunk_words *= 2; break;
		case 3: p.ring->chunks = 0; break;
		case 4: p.ring->pid = 0; break;
		case 5: p.ring->head = CHUNKS + 1; break;
		case 6:
			p.ring->used[0] = CHUNK_WORDS + 1;
			p.ring->head = 1;
			break;
		}
		expect_damage(run, ((const char *[]){"not a ring", "version is 99", "geometry", "geometry",
						     "impossible", "more chunks", "513 words"})[i]);
		ring_producer_unmap(&p);
	}
}

static void test_a_wild_cursor_of_a_dead_process_is_not_followed(void **state)
{
	static const int64_t wild[] = {-8, 4, CHUNK_WORDS * 8 + 8, 1ll << 40, INT64_MIN};
	struct run *run = *state;

	for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
		pid_t pid = fork();
		struct nm_chunk chunk;

		assert_true(pid >= 0);
		if (!pid) {
			struct ring_producer p;

			if (ring_producer_open(&p, run->fd))
				_exit(1);
			p.ring->cursor += (uint64_t)wild[i];
			kill(getpid(), SIGKILL);
		}
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_int_equal(nm_consumer_next(run->consumer, PATIENCE_MS, &chunk, NULL), 1);
		assert_int_equal(chunk.kind, NM_CHUNK_END);
		assert_int_equal(chunk.end, NM_END_BROKEN);
	}
}

static void test_a_control_file_that_lies_is_an_error(void **state)
{
	struct run *run = *state;
	struct ring_producer p;
	struct nm_chunk chunk;

	assert_int_equal(ring_producer_open(&p, run->fd), 0);
	p.control->rings = 1u << 30;
	assert_int_equal(nm_consumer_next(run->consumer, 0, &chunk, NULL), NM_EFORMAT);
	p.control->rings = 1;
	ring_producer_close(&p);
	assert_int_equal(nm_consumer_next(run->consumer, 0, &chunk, NULL), 1);
	assert_int_equal(chunk.end, NM_END_CLOSED);
}

static void test_impossible_requests_are_refused(void **state)
{
	struct nm_consumer *c = NULL;

	(void)state;
	assert_int_equal(nm_consumer_new(&c, 8, CHUNKS, NULL), NM_EINVAL);
	assert_int_equal(nm_consumer_new(&c, CHUNK_WORDS, 1, NULL), NM_EINVAL);
	assert_int_equal(nm_consumer_new(&c, CHUNK_WORDS, 3, NULL), NM_EINVAL);
	assert_int_equal(nm_consumer_new(&c, CHUNK_WORDS, 128, NULL), NM_EINVAL);
	assert_null(c);
}

#define RING_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    RING_TEST(test_every_word_arrives_in_order_around_the_ring),
	    RING_TEST(test_a_full_ring_waits_for_its_consumer),
	    RING_TEST(test_rings_are_served_in_turn),
	    RING_TEST(test_several_processes_write_at_once),
	    RING_TEST(test_what_a_killed_process_had_written_is_given),
	    RING_TEST(test_what_a_killed_process_had_run_is_told_last),
	    RING_TEST(test_of_a_ring_that_was_closed_nothing_is_added),
	    RING_TEST(test_what_was_run_is_told_when_a_chunk_is_free),
	    RING_TEST(test_a_second_ring_of_a_process_ends_the_first),
	    RING_TEST(test_a_detached_producer_never_waits),
	    RING_TEST(test_a_ring_that_comes_after_detachment_is_detached_too),
	    RING_TEST(test_a_ring_may_appear_later_than_its_number),
	    RING_TEST(test_slots_are_used_again),
	    RING_TEST(test_a_slot_whose_process_may_still_write_is_not_freed),
	    RING_TEST(test_a_limit_on_file_sizes_makes_rings_smaller),
	    RING_TEST(test_a_process_may_die_at_each_moment_of_publishing),
	    RING_TEST(test_damaged_rings_end_with_the_reason),
	    RING_TEST(test_a_wild_cursor_of_a_dead_process_is_not_followed),
	    RING_TEST(test_a_control_file_that_lies_is_an_error),
	    RING_TEST(test_impossible_requests_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
