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
#include "histograms.h"
#include "numbers.h"
#include "recent.h"
#include "set_associative.h"
#include "stack.h"
#include "touch_times.h"

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

/* Touches of a stream: those that follow each other to one line are one. Returns how many. */
static size_t touches_of(const struct stream *s, struct nm_touch *touches)
{
	size_t n = 0;

	for (size_t i = 0; i < TOUCHES; i++) {
		if (!i || s->lines[i] != s->lines[i - 1])
			touches[n++] =
			    (struct nm_touch){.line = s->lines[i], .first = i + 1, .key = s->keys[i]};
		touches[n - 1].last = i + 1;
		touches[n - 1].last_key = s->keys[i];
	}
	return n;
}

/* Asks for some touches at a time.  Returns how many were checked. */
static size_t compare(const struct stream *s, uint64_t limit)
{
	static struct nm_touch touches[TOUCHES];
	const size_t count = touches_of(s, touches);
	struct nm_lru_stack *stack = nm_stack_new(limit);

	assert_non_null(stack);
	for (size_t i = 0, n; i < count; i += n) {
		n = 1 + below(below(2) ? 10 : 1000);
		n = n < count - i ? n : count - i;
		assert_int_equal(nm_stack_touch(stack, &touches[i], n), 0);
	}
	for (size_t i = 0; i < count; i++) {
		const struct nm_touch t = look_back(s, touches[i].first - 1, limit);

		assert_int_equal(touches[i].stack, t.stack);
		assert_int_equal(touches[i].reuse, t.reuse);
		assert_int_equal(touches[i].previous, t.previous);
	}
	nm_stack_free(stack);
	return count;
}

static void test_stack(void **state)
{
	static const uint64_t footprints[] = {
	    1, 3, NM_RECENT_FRONT, NM_RECENT_FRONT + 1, 40, NM_RECENT + 1, 100, 3000, UINT64_C(1) << 40};
	static struct stream s;

	size_t checked = 0;

	(void)state;
	for (size_t i = 0; i < sizeof footprints / sizeof *footprints; i++) {
		rng_state = i;
		make_stream(&s, footprints[i]);
		checked += compare(&s, 0) + compare(&s, 200) + compare(&s, 12);
	}
	assert_true(checked > 5 * TOUCHES);
}

/* `count` single touches of a line each, next(arg, i), from reference `first` on; at most BLOCK. */
enum { BLOCK = 1000 };

static struct nm_touch *ask(struct nm_lru_stack *stack, uint64_t first, size_t count,
			    uint64_t (*next)(void *arg, uint64_t i), void *arg)
{
	static struct nm_touch touches[BLOCK];

	assert_true(count <= BLOCK);
	for (size_t i = 0; i < count; i++)
		touches[i] = (struct nm_touch){.line = next(arg, first + i),
					       .first = first + i,
					       .last = first + i,
					       .key = 1,
					       .last_key = 1};
	assert_int_equal(nm_stack_touch(stack, touches, count), 0);
	return touches;
}

static uint64_t loop(void *arg, uint64_t i) { return i % *(const uint64_t *)arg; }

/* Long enough for times to be numbered anew many times: a loop over n lines has distances n - 1. */
static void test_renumbering(void **state)
{
	uint64_t lines = 30000, sums[2] = {0};
	struct nm_lru_stack *stack = nm_stack_new(0);

	(void)state;
	for (uint64_t i = 0; i < MANY; i += BLOCK) {
		const struct nm_touch *t = ask(stack, i + 1, BLOCK, loop, &lines);

		for (size_t k = 0; k < BLOCK; k++)
			sums[t[k].stack == lines - 1 && t[k].reuse == lines - 1]++;
	}
	assert_int_equal(sums[0], lines);
	assert_int_equal(sums[1], MANY - lines);
	assert_int_equal(nm_stack_lines(stack), lines);
	nm_stack_free(stack);
}

/* With a limit only so many lines are remembered, and those of before are beyond, not cold. */
static void test_limit(void **state)
{
	enum { LIMIT = 20000 };
	struct nm_lru_stack *stack = nm_stack_new(LIMIT);
	uint64_t lines = 100000, cold = 0, beyond = 0;

	(void)state;
	for (uint64_t i = 0; i < 2 * lines; i += BLOCK) {
		const struct nm_touch *t = ask(stack, i + 1, BLOCK, loop, &lines);

		for (size_t k = 0; k < BLOCK; k++) {
			cold += t[k].stack == NM_STACK_COLD;
			beyond += t[k].stack == NM_STACK_BEYOND;
		}
		assert_in_range(nm_stack_lines(stack), 0, 5 * LIMIT - 1);
	}
	assert_int_equal(cold, lines);
	assert_int_equal(beyond, lines);
	nm_stack_free(stack);
}

static void test_timeline(void **state)
{
	enum { TIMES = 50000 };
	static char there[TIMES];
	struct nm_touch_times t;
	uint32_t later = 0, live = 0;

	(void)state;
	rng_state = 1;
	assert_int_equal(touch_times_new(&t, TIMES), 0);
	for (uint32_t i = 1; i < TIMES; i++) {
		assert_int_equal(touch_times_add(&t), i);
		there[i] = 1;
		live++;
		for (uint64_t gone = below(3) ? 1 : 0; gone && below(10);) {
			uint32_t time = 1 + (uint32_t)below(i);

			gone = !there[time];
			if (!gone) {
				touch_times_remove(&t, time);
				there[time] = 0;
				live--;
			}
		}
	}
	assert_int_equal(t.live, live);
	for (uint32_t i = TIMES; i-- > 1;)
		if (there[i])
			assert_int_equal(touch_times_later(&t, i), later++);
	assert_int_equal(later, live);
	touch_times_free(&t);
}

/* More times than one node of the highest kind has. */
static void test_long_timeline(void **state)
{
	const uint32_t last = (3u << NM_TRUNK_BITS) - 1;
	struct nm_touch_times t;

	(void)state;
	assert_int_equal(touch_times_new(&t, last + 1), 0);
	touch_times_fill(&t, last);
	touch_times_remove(&t, 2u << NM_TRUNK_BITS);
	for (uint32_t time = 5; time < last; time += 1u << (NM_TRUNK_BITS - 1))
		assert_int_equal(touch_times_later(&t, time), last - time - (time < 2u << NM_TRUNK_BITS));
	touch_times_free(&t);
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

/* Of a reference to several lines the largest stack distance counts. */
static void test_histograms(void **state)
{
	const struct nm_touch touches[] = {
	    {.first = 1, .stack = NM_STACK_COLD, .reuse = NM_STACK_COLD, .key = 1},
	    {.first = 2, .stack = 3, .reuse = 70, .key = 1, .previous = 2},
	    {.first = 2, .stack = 90, .reuse = 300, .key = 1, .previous = 1},
	    {.first = 3, .stack = 90, .reuse = 301, .key = 1, .previous = 1},
	};
	struct nm_histograms *histograms = nm_histograms_new();
	struct nm_bin_count *rows;
	uint64_t sums[2] = {0};
	size_t count;

	(void)state;
	assert_int_equal(nm_histograms_add(histograms, touches, 3), 0);
	assert_int_equal(nm_histograms_add(histograms, touches + 3, 1), 0);
	assert_int_equal(nm_histograms_list(histograms, &rows, &count), 0);
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
	free(rows);
	nm_histograms_free(histograms);
}

/* Rows are those of a twin that counts one by one, also where short distances overflow their arrays. */
static void test_histograms_twin(void **state)
{
	enum { MANY_TOUCHES = 150000, COUNTS = NM_BIN_COLD + 1 };
	static uint64_t twin[2][KEYS + 1][COUNTS];
	struct nm_histograms *histograms = nm_histograms_new();
	struct nm_bin_count *rows;
	size_t count;

	(void)state;
	for (uint64_t i = 1; i <= MANY_TOUCHES; i++) {
		const int usual = below(10) != 0;
		const struct nm_touch t = {.first = i,
					   .stack = usual ? 3 : below(100),
					   .reuse = usual ? 7 : below(3000),
					   .key = usual ? 1 : 1 + (uint32_t)below(KEYS),
					   .previous = 1 + (uint32_t)below(3)};

		assert_int_equal(nm_histograms_add(histograms, &t, 1), 0);
		twin[NM_DISTANCE_LINES][t.key][nm_bin_of(t.stack)]++;
		twin[NM_DISTANCE_REFERENCES][t.key][nm_bin_of(t.reuse)]++;
	}
	assert_true(twin[NM_DISTANCE_REFERENCES][1][7] > UINT16_MAX);
	assert_int_equal(nm_histograms_list(histograms, &rows, &count), 0);
	for (size_t i = 0; i < count; i++)
		twin[rows[i].unit][rows[i].key][rows[i].bin] -= rows[i].count;
	for (unsigned unit = 0; unit < 2; unit++)
		for (unsigned key = 0; key <= KEYS; key++)
			for (unsigned bin = 0; bin < COUNTS; bin++)
				assert_int_equal(twin[unit][key][bin], 0);
	free(rows);
	nm_histograms_free(histograms);
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

static uint64_t chase(void *arg, uint64_t i)
{
	static uint32_t at;

	(void)i;
	return at = ((const uint32_t *)arg)[at];
}

/* Never the line of before. */
static uint64_t probe(void *arg, uint64_t i)
{
	static uint64_t last;
	const uint64_t lines = *(const uint64_t *)arg, line = below(lines);

	(void)i;
	return last = line == last ? (line + 1) % lines : line;
}

/* Knees where theory puts them: a chase over n nodes in a random cycle hits nowhere below n lines and
 * everywhere from there on; probes of a hash table of n lines miss 1 - C/n of the time. */
static void test_knees(void **state)
{
	enum { NODES = 5000, STEPS = 200000 };
	static uint32_t next[NODES];
	struct nm_lru_stack *chases = nm_stack_new(0), *probes = nm_stack_new(0);
	uint64_t nodes = NODES, knee = 0, other = 0, within[2] = {0}, warm = 0;

	(void)state;
	rng_state = 9;
	for (uint32_t i = 0; i < NODES; i++)
		next[i] = i;
	for (uint32_t i = NODES - 1; i > 0; i--) { /* Sattolo: one cycle */
		uint32_t k = (uint32_t)below(i), swap = next[i];

		next[i] = next[k];
		next[k] = swap;
	}
	for (uint64_t i = 0; i < STEPS; i += BLOCK) {
		const struct nm_touch *t = ask(chases, i + 1, BLOCK, chase, next);

		for (size_t k = 0; k < BLOCK; k++)
			*(t[k].stack == NODES - 1 ? &knee : &other) += 1;
		t = ask(probes, i + 1, BLOCK, probe, &nodes);
		for (size_t k = 0; k < BLOCK; k++) {
			warm += t[k].stack != NM_STACK_COLD;
			within[0] += t[k].stack < NODES / 4;
			within[1] += t[k].stack < NODES / 2;
		}
	}
	assert_int_equal(other, NODES); /* cold ones */
	assert_int_equal(knee, STEPS - NODES);
	assert_true(fabs((double)within[0] / (double)warm - 0.25) < 0.01);
	assert_true(fabs((double)within[1] / (double)warm - 0.5) < 0.01);
	nm_stack_free(chases);
	nm_stack_free(probes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_set_associative), cmocka_unit_test(test_knees),
	    cmocka_unit_test(test_stack),           cmocka_unit_test(test_renumbering),
	    cmocka_unit_test(test_limit),           cmocka_unit_test(test_timeline),
	    cmocka_unit_test(test_long_timeline),   cmocka_unit_test(test_bins),
	    cmocka_unit_test(test_histograms),      cmocka_unit_test(test_histograms_twin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
