/* SPDX-License-Identifier: MIT
 *
 * distances_test.c - stack and reuse distances beside a twin that looks back over the whole stream for each
 * touch; bins; sets.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bins.h"
#include "numbers.h"
#include "set_associative.h"
#include "stack.h"
#include "tally.h"
#include "timeline.h"

enum { TOUCHES = 6000, KEYS = 7, MANY = 400000 };

struct stream {
	uint64_t lines[TOUCHES];
	uint32_t keys[TOUCHES];
};

/* Walks, loops of many lengths, and jumps, over `footprint` lines. */
static void make_stream(struct stream *s, uint64_t footprint)
{
	uint64_t line = 0, length = 1;

	for (size_t i = 0; i < TOUCHES; i++) {
		if (!below(50))
			length = 1 + below(below(2) ? 20 : footprint);
		line = below(10) ? (line + 1) % length : below(footprint);
		s->lines[i] = below(5) ? line : s->lines[i ? i - 1 : 0];
		s->keys[i] = 1 + (uint32_t)below(KEYS);
	}
}

/* Looks back; stack[line] would be cheating. */
static struct nm_touch look_back(const struct stream *s, size_t at, uint64_t limit)
{
	struct nm_touch t = {.stack = NM_STACK_COLD, .reuse = NM_STACK_COLD};
	size_t from = at;

	while (from > 0 && s->lines[from - 1] != s->lines[at])
		from--;
	if (!from)
		return t;
	t.reuse = at - from;
	t.previous = s->keys[from - 1];
	t.stack = 0;
	for (size_t i = from; i < at; i++) {
		size_t k = from;

		while (s->lines[k] != s->lines[i])
			k++;
		t.stack += k == i;
	}
	if (limit && t.stack >= limit)
		t = (struct nm_touch){.stack = NM_STACK_BEYOND, .reuse = NM_STACK_BEYOND};
	return t;
}

/* Touches of the line touched last yield nothing. Returns how many others there were. */
static size_t compare(const struct stream *s, uint64_t limit)
{
	struct nm_stack *stack = nm_stack_new(limit);
	const struct nm_touch *touches = NULL;
	size_t count = 0, next = 0, checked = 0;

	assert_non_null(stack);
	for (size_t i = 0; i <= TOUCHES; i++) {
		int full = 0;

		if (i < TOUCHES && i && s->lines[i] == s->lines[i - 1])
			nm_stack_touch_again(stack, i + 1, s->keys[i]);
		else if (i < TOUCHES)
			full = nm_stack_touch(stack, s->lines[i], i + 1, s->keys[i]);
		if (!full && i < TOUCHES && below(500))
			continue;
		assert_int_equal(nm_stack_resolve(stack, &touches, &count), 0);
		for (size_t k = 0; k < count; k++, next++, checked++) {
			struct nm_touch t;

			while (next && s->lines[next] == s->lines[next - 1])
				next++;
			t = look_back(s, next, limit);
			assert_int_equal(touches[k].reference, next + 1);
			assert_int_equal(touches[k].line, s->lines[next]);
			assert_int_equal(touches[k].key, s->keys[next]);
			assert_int_equal(touches[k].stack, t.stack);
			assert_int_equal(touches[k].reuse, t.reuse);
			assert_int_equal(touches[k].previous, t.previous);
		}
	}
	nm_stack_free(stack);
	return checked;
}

static void test_stack(void **state)
{
	static const uint64_t footprints[] = {1, 3, NM_RECENT, NM_RECENT + 1, 100, 3000, UINT64_C(1) << 40};
	static struct stream s;

	size_t checked = 0;

	(void)state;
	for (size_t i = 0; i < sizeof footprints / sizeof *footprints; i++) {
		rng_state = i;
		make_stream(&s, footprints[i]);
		checked += compare(&s, 0) + compare(&s, 200);
	}
	assert_true(checked > 5 * TOUCHES);
}

/* Long enough for times to be numbered anew many times: a loop over n lines has distances n - 1, a line that
 * is touched every other time those of the others. */
static void test_renumbering(void **state)
{
	enum { LINES = 30000 };
	struct nm_stack *stack = nm_stack_new(0);
	const struct nm_touch *touches;
	uint64_t sums[2] = {0};
	size_t count;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		if (!nm_stack_touch(stack, i % LINES, i + 1, 1) && i + 1 < MANY)
			continue;
		assert_int_equal(nm_stack_resolve(stack, &touches, &count), 0);
		for (size_t k = 0; k < count; k++)
			sums[touches[k].stack == LINES - 1 && touches[k].reuse == LINES - 1]++;
	}
	assert_int_equal(sums[0], LINES);
	assert_int_equal(sums[1], MANY - LINES);
	assert_int_equal(nm_stack_lines(stack), LINES);
	nm_stack_free(stack);
}

/* With a limit only so many lines are remembered, and those of before are beyond, not cold. */
static void test_limit(void **state)
{
	enum { LIMIT = 20000, LINES = 100000 };
	struct nm_stack *stack = nm_stack_new(LIMIT);
	const struct nm_touch *touches;
	uint64_t cold = 0, beyond = 0;
	size_t count;

	(void)state;
	for (uint64_t i = 0; i < 2 * LINES; i++) {
		if (!nm_stack_touch(stack, i % LINES, i + 1, 1) && i + 1 < 2 * LINES)
			continue;
		assert_int_equal(nm_stack_resolve(stack, &touches, &count), 0);
		for (size_t k = 0; k < count; k++) {
			cold += touches[k].stack == NM_STACK_COLD;
			beyond += touches[k].stack == NM_STACK_BEYOND;
		}
		assert_in_range(nm_stack_lines(stack), 0, 5 * LIMIT);
	}
	assert_int_equal(cold, LINES);
	assert_int_equal(beyond, LINES);
	nm_stack_free(stack);
}

static void test_timeline(void **state)
{
	enum { TIMES = 50000 };
	static char there[TIMES];
	struct nm_timeline t;
	uint32_t later = 0, live = 0;

	(void)state;
	rng_state = 1;
	assert_int_equal(nm_timeline_new(&t, TIMES), 0);
	for (uint32_t i = 1; i < TIMES; i++) {
		assert_int_equal(nm_timeline_add(&t), i);
		there[i] = 1;
		live++;
		for (uint64_t gone = below(3) ? 1 : 0; gone && below(10);) {
			uint32_t time = 1 + (uint32_t)below(i);

			gone = !there[time];
			if (!gone) {
				nm_timeline_remove(&t, time);
				there[time] = 0;
				live--;
			}
		}
	}
	assert_int_equal(t.live, live);
	for (uint32_t i = TIMES; i-- > 1;)
		if (there[i])
			assert_int_equal(nm_timeline_later(&t, i), later++);
	assert_int_equal(later, live);
	nm_timeline_free(&t);
}

static void test_bins(void **state)
{
	unsigned last = 0;

	(void)state;
	for (uint64_t d = 0; d < 100000; d++) {
		unsigned bin = nm_bin_of(d);

		assert_in_range(bin, last, last + 1);
		assert_in_range(d, nm_bin_low(bin), nm_bin_high(bin));
		assert_true(nm_bin_high(bin) - nm_bin_low(bin) <= nm_bin_low(bin) / 32);
		last = bin;
	}
	for (unsigned bit = 6; bit < 64; bit++)
		for (uint64_t part = 32; part < 64; part++)
			assert_int_equal(nm_bin_low(nm_bin_of(part << bit >> 5)), part << bit >> 5);
	assert_int_equal(nm_bin_of(UINT64_MAX), NM_BINS - 1);
	assert_int_equal(nm_bin_high(NM_BINS - 1), UINT64_MAX);
}

/* Of a reference to several lines the largest stack distance counts, also where a call comes between. */
static void test_tally(void **state)
{
	const struct nm_touch touches[] = {
	    {.reference = 1, .stack = NM_STACK_COLD, .reuse = NM_STACK_COLD, .key = 1},
	    {.reference = 2, .stack = 3, .reuse = 70, .key = 1, .previous = 2},
	    {.reference = 2, .stack = 90, .reuse = 300, .key = 1, .previous = 1},
	    {.reference = 3, .stack = 90, .reuse = 301, .key = 1, .previous = 1},
	};
	struct nm_tally *tally = nm_tally_new();
	struct nm_tally_row *rows;
	uint64_t sums[2] = {0};
	size_t count;

	(void)state;
	assert_int_equal(nm_tally_add(tally, touches, 2), 0);
	assert_int_equal(nm_tally_add(tally, touches + 2, 2), 0);
	assert_int_equal(nm_tally_rows(tally, &rows, &count), 0);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++) {
		uint64_t expected = rows[i].bin == NM_BIN_COLD ? 1 : 2;

		sums[rows[i].unit] += rows[i].count;
		assert_int_equal(rows[i].count, expected);
		if (rows[i].unit == NM_DISTANCE_LINES)
			assert_int_equal(rows[i].previous, rows[i].bin == NM_BIN_COLD ? 0 : 1);
		else
			assert_int_equal(rows[i].previous, 0);
	}
	assert_int_equal(sums[0], 3);
	assert_int_equal(sums[1], 3);
	nm_tally_free(tally);
}

/* Lines fall into the set one after another. */
static double twin_miss(unsigned distance, double sets, unsigned ways)
{
	enum { MOST = 40 };
	double chance[MOST + 1] = {1}, hit = 0; /* of so many in the set, MOST or more */

	assert_true(ways < MOST);
	for (unsigned i = 0; i < distance; i++) {
		chance[MOST] += chance[MOST - 1] / sets;
		for (unsigned k = MOST - 1; k > 0; k--)
			chance[k] = chance[k] * (1 - 1 / sets) + chance[k - 1] / sets;
		chance[0] *= 1 - 1 / sets;
	}
	for (unsigned k = 0; k < ways; k++)
		hit += chance[k];
	return 1 - hit;
}

static void test_set_associative(void **state)
{
	static const unsigned sets[] = {2, 64, 1024}, ways[] = {1, 2, 8, 16};

	(void)state;
	for (unsigned d = 0; d < 3000; d = d * 5 / 4 + 1)
		for (unsigned i = 0; i < 3; i++)
			for (unsigned k = 0; k < 4; k++)
				assert_true(fabs(nm_set_associative_miss(d, sets[i], ways[k]) -
						 twin_miss(d, sets[i], ways[k])) < 1e-9);
	assert_true(nm_set_associative_miss(7, 1, 8) == 0 && nm_set_associative_miss(8, 1, 8) == 1);
	assert_true(nm_set_associative_miss(UINT64_C(1) << 40, 64, 8) == 1);
}

/* Knees where theory puts them: a chase over n nodes in a random cycle hits nowhere below n lines and
 * everywhere from there on; probes of a hash table of n lines miss 1 - C/n of the time. */
static void test_knees(void **state)
{
	enum { NODES = 5000, STEPS = 200000 };
	static uint32_t next[NODES];
	struct nm_stack *chase = nm_stack_new(0), *probes = nm_stack_new(0);
	const struct nm_touch *touches;
	uint64_t knee = 0, other = 0, within[2] = {0}, warm = 0, at = 0;
	size_t count;

	(void)state;
	rng_state = 9;
	for (uint32_t i = 0; i < NODES; i++)
		next[i] = i;
	for (uint32_t i = NODES - 1; i > 0; i--) { /* Sattolo: one cycle */
		uint32_t k = (uint32_t)below(i), swap = next[i];

		next[i] = next[k];
		next[k] = swap;
	}
	for (uint64_t i = 0; i < STEPS; i++) {
		at = next[at];
		if (!nm_stack_touch(chase, at, i + 1, 1) && i + 1 < STEPS)
			continue;
		assert_int_equal(nm_stack_resolve(chase, &touches, &count), 0);
		for (size_t k = 0; k < count; k++)
			*(touches[k].stack == NODES - 1 ? &knee : &other) += 1;
	}
	assert_int_equal(other, NODES); /* cold ones */
	assert_int_equal(knee, STEPS - NODES);
	for (uint64_t i = 0, last = UINT64_MAX; i < STEPS; i++) {
		at = below(NODES);
		if (at == last)
			nm_stack_touch_again(probes, i + 1, 1);
		if (at == last || (last = at, !nm_stack_touch(probes, at, i + 1, 1) && i + 1 < STEPS))
			continue;
		assert_int_equal(nm_stack_resolve(probes, &touches, &count), 0);
		for (size_t k = 0; k < count; k++) {
			warm += touches[k].stack != NM_STACK_COLD;
			within[0] += touches[k].stack < NODES / 4;
			within[1] += touches[k].stack < NODES / 2;
		}
	}
	assert_true(fabs((double)within[0] / (double)warm - 0.25) < 0.01);
	assert_true(fabs((double)within[1] / (double)warm - 0.5) < 0.01);
	nm_stack_free(chase);
	nm_stack_free(probes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_set_associative),
	    cmocka_unit_test(test_knees),
	    cmocka_unit_test(test_stack),
	    cmocka_unit_test(test_renumbering),
	    cmocka_unit_test(test_limit),
	    cmocka_unit_test(test_timeline),
	    cmocka_unit_test(test_bins),
	    cmocka_unit_test(test_tally),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
