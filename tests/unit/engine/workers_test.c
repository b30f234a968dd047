/* SPDX-License-Identifier: MIT
 *
 * workers_test.c - the engine's threads: every consumer gets every batch, in order and whole, however slow it
 * is, and a failure ends its work only.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "workers.h"

enum { BATCHES = 5 * NM_BATCHES_IN_FLIGHT };

struct counter {
	uint64_t batches, wrong;
	unsigned pause;    /* it yields this often before each batch */
	uint64_t fails_at; /* batch that fails; 0: none */
};

/* Batch i (from 1) has 1 + i % 7 references, all to address i. */
static int count(void *arg, const struct nm_batch *batch, const struct nm_ref *next)
{
	struct counter *c = arg;

	(void)next;
	for (unsigned i = 0; i < c->pause; i++)
		sched_yield();
	c->batches++;
	c->wrong += batch->count != 1 + c->batches % 7;
	for (size_t i = 0; i < batch->count; i++)
		c->wrong += batch->refs[i].address != c->batches;
	return c->batches == c->fails_at ? NM_ENOMEM : 0;
}

static struct nm_workers *start(unsigned threads, struct counter *first, struct counter *second)
{
	const struct nm_idle none = {0};
	struct nm_workers *w;

	assert_int_equal(nm_workers_new(&w, threads, none, NULL), 0);
	nm_workers_add(w, count, first);
	nm_workers_add(w, count, second);
	return w;
}

/* Submits batches [from, to). Returns the last status. */
static int submit(struct nm_workers *w, uint64_t from, uint64_t to)
{
	struct nm_ref *refs = nm_workers_buffer(w);
	int status = 0;

	for (uint64_t i = from; i < to; i++) {
		const struct nm_batch batch = {.refs = refs, .count = 1 + i % 7};

		for (size_t k = 0; k < batch.count; k++)
			refs[k] = (struct nm_ref){.address = i};
		status = nm_workers_submit(w, &batch);
	}
	return status;
}

static void test_consumers(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 3; threads++)
		for (unsigned slow = 0; slow < 2; slow++) {
			struct counter counters[2] = {0};
			struct nm_workers *w = start(threads, &counters[0], &counters[1]);

			counters[slow].pause = 3;
			assert_int_equal(submit(w, 1, BATCHES), 0);
			assert_int_equal(nm_workers_drain(w), 0);
			for (unsigned i = 0; i < 2; i++) {
				assert_int_equal(counters[i].batches, BATCHES - 1);
				assert_int_equal(counters[i].wrong, 0);
			}
			nm_workers_free(w);
		}
}

static void test_failure(void **state)
{
	(void)state;
	for (unsigned failing = 0; failing < 2; failing++) {
		struct counter counters[2] = {0};
		struct nm_workers *w = start(2, &counters[0], &counters[1]);

		counters[failing].fails_at = 10;
		submit(w, 1, BATCHES);
		assert_int_equal(nm_workers_drain(w), NM_ENOMEM);
		assert_int_equal(submit(w, BATCHES, BATCHES + 1), NM_ENOMEM);
		assert_int_equal(counters[failing].batches, 10);
		assert_true(counters[!failing].batches >= BATCHES - 1);
		nm_workers_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_consumers),
	    cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
