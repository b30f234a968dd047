/* SPDX-License-Identifier: MIT
 *
 * placement_test.c - when the decoder and the modeller are bound apart, that no other thread inherits it, and
 * that nothing of it stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>

#include "placement.h"

static void the_busier_decoder_is_bound_apart(void **state)
{
	(void)state;
	assert_true(nm_placement_wants(0, 1200, 1000));
	assert_false(nm_placement_wants(0, 1100, 1000)); /* too near to tell */
	assert_false(nm_placement_wants(0, 500, 1000));
}

static void they_stay_apart_until_the_modeller_is_busier(void **state)
{
	(void)state;
	assert_true(nm_placement_wants(1, 900, 1000));
	assert_false(nm_placement_wants(1, 800, 1000));
}

static void *wait_to_be_left(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
	return NULL;
}

static void burn(void)
{
	for (volatile unsigned i = 0; i < 20000000;)
		i++;
}

static cpu_set_t allowed(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	return set;
}

/* The decoder alone has something to do: it is bound if there are two processors, free while another modeller is made
 * and as long as there are two, and free again in the end. */
static void nothing_of_it_stays(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct nm_placement p = {0};
	pthread_t other;
	cpu_set_t before = allowed(), now;
	const int bound = CPU_COUNT(&before) == 2 ? 1 : CPU_COUNT(&before);

	(void)state;
	pthread_mutex_lock(&lock);
	nm_placement_enter();
	assert_int_equal(pthread_create(&other, NULL, wait_to_be_left, &lock), 0);
	burn();
	nm_placement_review(&p, other);
	now = allowed();
	assert_int_equal(CPU_COUNT(&now), bound);
	nm_placement_enter();
	burn();
	nm_placement_review(&p, other);
	now = allowed();
	assert_true(CPU_EQUAL(&before, &now));
	nm_placement_leave();
	burn();
	nm_placement_review(&p, other);
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
	    cmocka_unit_test(the_busier_decoder_is_bound_apart),
	    cmocka_unit_test(they_stay_apart_until_the_modeller_is_busier),
	    cmocka_unit_test(nothing_of_it_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
