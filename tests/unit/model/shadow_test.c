/* SPDX-License-Identifier: MIT
 *
 * shadow_test.c - the classes of misses beside a list of lines in order of last touch, over enough touches to
 * renumber the log many times, with most of them to few lines and with many, and with slots that residency
 * empty for a while, whose timestamps are left as they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "numbers.h"
#include "shadow_log.h"

enum { PLACES = 96, CAPACITY = 64, LINES = 200, STEPS = 600000 };

/* The twin: lines in order of last touch, the latest first. */
struct list {
	uint64_t lines[CAPACITY];
	unsigned count;
	int seen[LINES];
};

/* Touches a line. Its class as if it had to be loaded. */
static int list_touch(struct list *l, uint64_t line)
{
	unsigned at = 0;
	int class = NM_MISS_CONFLICT;

	while (at < l->count && l->lines[at] != line)
		at++;
	if (at == l->count) {
		class = l->seen[line] ? NM_MISS_CAPACITY : NM_MISS_COLD;
		if (l->count < CAPACITY)
			l->count++;
		else
			at--;
	}
	memmove(l->lines + 1, l->lines, at * sizeof *l->lines);
	l->lines[0] = line;
	l->seen[line] = 1;
	return class;
}

/* A cache in which a line may be at any slot. */
struct cache {
	struct nm_shadow shadow;
	uint64_t timestamps[PLACES], lines[PLACES]; /* lines: LINES if there is none */
	struct list list;
};

static unsigned predicted(const struct cache *c, uint64_t line)
{
	unsigned slot = 0;

	while (slot < PLACES && c->lines[slot] != line)
		slot++;
	return slot;
}

static void leave(struct cache *c, unsigned slot)
{
	if (c->lines[slot] == LINES)
		return;
	if (c->timestamps[slot] >= c->shadow.head)
		assert_int_equal(nm_shadow_leave(&c->shadow, c->lines[slot], c->timestamps[slot]), 0);
	c->lines[slot] = LINES;
}

static void reference(struct cache *c, uint64_t line)
{
	unsigned slot = predicted(c, line);
	const int class = list_touch(&c->list, line);

	reserve(&c->shadow, 1);
	if (slot == PLACES) {
		slot = below(PLACES);
		assert_int_equal(class_of(&c->shadow, line), class);
		leave(c, slot);
		c->lines[slot] = line;
	} else if (c->timestamps[slot] < c->shadow.head) {
		assert_int_not_equal(class, NM_MISS_CONFLICT);
		enter(&c->shadow);
	} else {
		assert_int_equal(class, NM_MISS_CONFLICT);
	}
	c->timestamps[slot] = nm_shadow_touch(&c->shadow, slot);
}

static void run(unsigned hot, unsigned of_hot, unsigned leaves)
{
	struct cache *c = calloc(1, sizeof *c);
	uint64_t begun = 0, base;

	assert_non_null(c);
	for (unsigned i = 0; i < PLACES; i++)
		c->lines[i] = LINES;
	assert_int_equal(nm_shadow_init(&c->shadow, CAPACITY, c->timestamps, PLACES), 0);
	base = c->shadow.base;
	for (unsigned i = 0; i < STEPS; i++) {
		reference(c, below(1000) < of_hot ? below(hot) : below(LINES));
		if (below(1000) < leaves)
			leave(c, below(PLACES));
		if (i % 4096 == 0 || c->shadow.base != base)
			assert_true(nm_shadow_is_valid(&c->shadow));
		begun += c->shadow.base != base;
		base = c->shadow.base;
	}
	assert_true(begun > STEPS / 32768 / 2);
	nm_shadow_done(&c->shadow);
	free(c);
}

static void test_twin(void **state)
{
	static const unsigned hot[] = {4, 40, 60, 90}, of_hot[] = {0, 900, 999, 1000}, leaves[] = {0, 5, 300};

	(void)state;
	for (unsigned h = 0; h < 4; h++)
		for (unsigned o = 0; o < 4; o++)
			for (unsigned l = 0; l < 3; l++) {
				rng_state = h * 100 + o * 10 + l;
				run(hot[h], of_hot[o], leaves[l]);
			}
}

/* Lines that leave at a stride are all found again: also at one that the usual spreading brings together. */
static void test_strides(void **unused)
{
	static const uint64_t strides[] = {1, 64, 2584, 4096, 1 << 20, 0xf1de83e19937733d};
	enum { HELD = 2048 };

	(void)unused;
	for (unsigned k = 0; k < sizeof strides / sizeof strides[0]; k++) {
		struct nm_shadow shadow;
		uint64_t timestamp = 0;

		assert_int_equal(nm_shadow_init(&shadow, HELD, &timestamp, 1), 0);
		for (uint64_t i = 0; i < HELD; i++) {
			enter(&shadow);
			timestamp = nm_shadow_touch(&shadow, 0);
			assert_int_equal(nm_shadow_leave(&shadow, i * strides[k], timestamp), 0);
		}
		for (uint64_t i = 0; i < HELD; i++)
			assert_non_null(nm_shadow_left(&shadow, i * strides[k]));
		assert_null(nm_shadow_left(&shadow, HELD * strides[k]));
		assert_true(shadow.bucket_mask < 8 * HELD);
		nm_shadow_done(&shadow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_twin), cmocka_unit_test(test_strides)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
