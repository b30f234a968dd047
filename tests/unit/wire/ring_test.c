/* SPDX-License-Identifier: MIT
 *
 * ring_test.c - the live transport between threads and between processes: wrap-around, full rings, several
 * rings at once, replaced producers, detachment, slots, damaged rings.
 */
#include <fcntl.h>
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

#include "ring_fixture.h"

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

/* Two processes fill their rings one after the other; rings in turn would mix them. */
static void test_chunks_come_as_they_were_published_if_asked_for(void **state)
{
	enum { RINGS = 2, CHUNKS_EACH = 3 };
	struct run *run = *state;
	struct nm_chunk chunk;
	uint64_t words[RINGS] = {0};

	nm_consumer_keep_order(run->consumer);
	for (int i = 0; i < RINGS; i++) {
		pid_t pid = start_sender(run->fd, (CHUNKS_EACH - 1) * CHUNK_WORDS, 0);

		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	for (int i = 0; i < RINGS * CHUNKS_EACH; i++) {
		assert_int_equal(nm_consumer_next(run->consumer, 0, &chunk, NULL), 1);
		if (chunk.kind == NM_CHUNK_END) { /* of a ring that was read to its end */
			assert_int_equal(words[chunk.ring], (CHUNKS_EACH - 1) * CHUNK_WORDS);
			i--;
			continue;
		}
		assert_int_equal(chunk.ring, i / CHUNKS_EACH);
		expect_words(&chunk, chunk.ring, &words[chunk.ring]);
		nm_consumer_release(run->consumer, &chunk);
	}
	assert_int_equal(words[RINGS - 1], (CHUNKS_EACH - 1) * CHUNK_WORDS);
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

/* The lock by which producers know that their events are taken. */
static int is_locked(const struct nm_consumer *consumer)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

		_exit(fcntl(nm_consumer_fd(consumer), F_GETLK, &lock) ? 2 : lock.l_type != F_UNLCK);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status);
}

/* Where rings cannot be mapped any more, their producers must not wait. */
static void test_detachment_gives_up_the_lock(void **state)
{
	struct run *run = *state;

	assert_true(is_locked(run->consumer));
	nm_consumer_detach_all(run->consumer);
	assert_false(is_locked(run->consumer));
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
	assert_int_equal(nm_consumer_next(run->consumer, 0, &chunk, NULL), 0);
	assert_int_equal(nm_consumer_draining(run->consumer), 0);
	ring_producer_close(&p);
	assert_int_equal(nm_consumer_draining(run->consumer), 1);
	assert_int_equal(nm_consumer_next(run->consumer, 0, &chunk, NULL), 1);
	assert_int_equal(chunk.end, NM_END_CLOSED);
	assert_int_equal(nm_consumer_live(run->consumer), 0);
	assert_int_equal(nm_consumer_draining(run->consumer), 0);
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    RING_TEST(test_every_word_arrives_in_order_around_the_ring),
	    RING_TEST(test_a_full_ring_waits_for_its_consumer),
	    RING_TEST(test_rings_are_served_in_turn),
	    RING_TEST(test_chunks_come_as_they_were_published_if_asked_for),
	    RING_TEST(test_several_processes_write_at_once),
	    RING_TEST(test_a_second_ring_of_a_process_ends_the_first),
	    RING_TEST(test_a_detached_producer_never_waits),
	    RING_TEST(test_a_ring_that_comes_after_detachment_is_detached_too),
	    RING_TEST(test_detachment_gives_up_the_lock),
	    RING_TEST(test_a_ring_may_appear_later_than_its_number),
	    RING_TEST(test_slots_are_used_again),
	    RING_TEST(test_a_slot_whose_process_may_still_write_is_not_freed),
	    RING_TEST(test_a_limit_on_file_sizes_makes_rings_smaller),
	    RING_TEST(test_damaged_rings_end_with_the_reason),
	    RING_TEST(test_a_wild_cursor_of_a_dead_process_is_not_followed),
	    RING_TEST(test_a_control_file_that_lies_is_an_error),
	    RING_TEST(test_impossible_requests_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
