/* SPDX-License-Identifier: MIT
 *
 * placement_test.c - when the decoder and the modeller are bound apart, and that nothing of it stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "placement.h"

static void the_busier_decoder_is_bound_apart(void **state)
{
	(void)state;
	assert_true(nm_placement_wants(0, 1, 1200, 1000));
	assert_false(nm_placement_wants(0, 1, 1100, 1000)); /* too near to tell */
	assert_false(nm_placement_wants(0, 1, 500, 1000));
	assert_false(nm_placement_wants(0, 0, 1200, 1000)); /* its time was not for this one alone */
}

static void they_stay_apart_until_the_modeller_is_busier(void **state)
{
	(void)state;
	assert_true(nm_placement_wants(1, 1, 900, 1000));
	assert_false(nm_placement_wants(1, 1, 800, 1000));
	assert_false(nm_placement_wants(1, 0, 900, 1000));
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

/* The decoder alone has something to do: it is bound if there are two processors, and free again in the end. */
static void the_decoder_is_free_again(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct nm_placement p;
	pthread_t other;
	cpu_set_t before, during, after;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	pthread_mutex_lock(&lock);
	assert_int_equal(pthread_create(&other, NULL, wait_to_be_left, &lock), 0);
	nm_placement_begin(&p);
	burn();
	nm_placement_review(&p, other, 1);
	assert_int_equal(sched_getaffinity(0, sizeof during, &during), 0);
	assert_int_equal(CPU_COUNT(&during), CPU_COUNT(&before) == 2 ? 1 : CPU_COUNT(&before));
	nm_placement_end(&p);
	assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	pthread_mutex_unlock(&lock);
	pthread_join(other, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_busier_decoder_is_bound_apart),
	    cmocka_unit_test(they_stay_apart_until_the_modeller_is_busier),
	    cmocka_unit_test(the_decoder_is_free_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
