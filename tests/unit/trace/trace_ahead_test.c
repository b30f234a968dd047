/* SPDX-License-Identifier: MIT
 *
 * trace_ahead_test.c - reading ahead: whichever threads read, the one that takes gets all pieces in order,
 * and no other reads from a pipe.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "readahead.h"
#include "trace_fixture.h"

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
	struct nm_readahead_piece piece;
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
	struct nm_readahead_piece piece;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(test_others_read_ahead),
	    CASE(test_others_read_damage),
	    CASE(test_nobody_steps_through_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
