/* SPDX-License-Identifier: MIT
 *
 * placement_test.c - the decoder and the modeller are bound apart, no other thread inherits it, and nothing of it
 * stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_of_it_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
