/* SPDX-License-Identifier: MIT
 *
 * placement_test.c - the decoder and the modeller are bound apart, no other thread inherits it, and nothing of it
 * stays; the program goes on with the one that has less to do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <time.h>

#include "placement.h"

static void *wait_to_be_left(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
	return NULL;
}

static cpu_set_t allowed(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	return set;
}

/* The decoder is bound if there are two processors, free while another modeller is made
 * and as long as there are two, and free again in the end. */
static void nothing_of_it_stays(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_t other;
	cpu_set_t before = allowed(), now;
	const int bound = CPU_COUNT(&before) == 2 ? 1 : CPU_COUNT(&before);

	(void)state;
	pthread_mutex_lock(&lock);
	nm_placement_enter();
	assert_int_equal(pthread_create(&other, NULL, wait_to_be_left, &lock), 0);
	nm_placement_review(other);
	now = allowed();
	assert_int_equal(CPU_COUNT(&now), bound);
	nm_placement_enter();
	nm_placement_review(other);
	now = allowed();
	assert_true(CPU_EQUAL(&before, &now));
	nm_placement_leave();
	nm_placement_review(other);
	now = allowed();
	assert_int_equal(CPU_COUNT(&now), bound);
	pthread_mutex_unlock(&lock);
	pthread_join(other, NULL);
	nm_placement_leave();
	now = allowed();
	assert_true(CPU_EQUAL(&before, &now));
}

static void work(void)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < 20000000);
}

/* Works between the first and the second time that it meets the test. */
static void *work_once(void *barrier)
{
	pthread_barrier_wait(barrier);
	work();
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

static void expect_feeder(int apart)
{
	const cpu_set_t here = allowed();
	int says, processor = nm_placement_of_feeder(&says);

	assert_int_equal(says, apart);
	assert_true(processor >= 0);
	assert_int_equal(!CPU_ISSET(processor, &here), apart);
}

static void the_program_goes_where_less_is_done(void **state)
{
	const cpu_set_t before = allowed();
	pthread_barrier_t barrier;
	pthread_t other;
	int apart;

	(void)state;
	assert_int_equal(nm_placement_of_feeder(&apart), -1);
	assert_false(apart);
	if (CPU_COUNT(&before) != 2)
		skip();
	pthread_barrier_init(&barrier, NULL, 2);
	nm_placement_enter();
	assert_int_equal(pthread_create(&other, NULL, work_once, &barrier), 0);
	nm_placement_review(other);
	expect_feeder(0);
	work();
	nm_placement_review(other);
	expect_feeder(1);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	nm_placement_review(other);
	expect_feeder(0);
	pthread_barrier_wait(&barrier);
	pthread_join(other, NULL);
	nm_placement_leave();
	assert_int_equal(nm_placement_of_feeder(&apart), -1);
	pthread_barrier_destroy(&barrier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_of_it_stays),
	    cmocka_unit_test(the_program_goes_where_less_is_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
