/* SPDX-License-Identifier: MIT
 *
 * curve_test.c - axes, the reading of curves between their points, knees where they must be, and notes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "curve_priv.h"

static void expect_near(double value, double expected)
{
	if (fabs(value - expected) > 1e-9 * fmax(1, fabs(expected)))
		fail_msg("%.12g, not %.12g", value, expected);
}

static void test_sizes_have_ticks_at_powers_of_two(void **state)
{
	struct nm_axis a = nm_size_axis(1000, 70000, 4);

	(void)state;
	assert_int_equal(a.ticks, 4); /* of 1K ... 64K every second */
	expect_near(a.tick[0], 1024);
	expect_near(a.tick[1], 4096);
	expect_near(a.tick[3], 65536);
	expect_near(nm_axis_place(&a, 1000), 0);
	expect_near(nm_axis_place(&a, 70000), 1);
	expect_near(nm_axis_place(&a, sqrt(1000.0 * 70000)), 0.5);
	expect_near(nm_axis_place(&a, 1), 0);
}

static void test_ratios_have_round_ticks_that_reach_the_largest(void **state)
{
	static const double largest[] = {1, 0.73, 0.2, 0.0234, 0.00051, 0};

	(void)state;
	for (size_t i = 0; i < sizeof largest / sizeof *largest; i++) {
		struct nm_axis a = nm_ratio_axis(0, largest[i], 0),
			       log = nm_ratio_axis(largest[i] / 1000, largest[i], 1);

		expect_near(a.low, 0);
		assert_true(a.high >= largest[i] && a.high <= 1 && a.ticks >= 3 && a.ticks <= 6);
		expect_near(a.tick[a.ticks - 1], a.high);
		assert_true(log.low > 0 && log.low <= fmax(largest[i] / 1000, 1e-6) &&
			    log.high >= largest[i]);
	}
}

static void test_sizes_and_ratios_are_short_texts(void **state)
{
	static const struct {
		double bytes;
		const char *text;
	} sizes[] = {{512, "512"},         {1024, "1K"},    {1536, "1.5K"},
		     {12.4 * 1024, "12K"}, {3 << 20, "3M"}, {1ull << 40, "1T"}};
	char text[NM_TICK_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		nm_size_text(sizes[i].bytes, text);
		assert_string_equal(text, sizes[i].text);
	}
	nm_percent_text(0.0123456, text);
	assert_string_equal(text, "1.23 %");
}

static struct nm_curve curve_of(struct nm_curve_point *points, size_t count, int exact)
{
	struct nm_curve c = {.exact = exact, .references = 1000};

	c.points.at = points;
	c.points.count = c.points.room = count;
	return c;
}

static void test_exact_curves_are_steps_and_others_are_interpolated(void **state)
{
	struct nm_curve_point p[] = {{1024, 0.5, 0.4, 0.6}, {4096, 0.1, 0.0, 0.2}};
	struct nm_curve exact = curve_of(p, 2, 1), estimate = curve_of(p, 2, 0);

	(void)state;
	expect_near(nm_curve_at(&exact, 1023).ratio, 1); /* below its first row everything misses */
	expect_near(nm_curve_at(&exact, 1024).ratio, 0.5);
	expect_near(nm_curve_at(&exact, 4095).ratio, 0.5);
	expect_near(nm_curve_at(&exact, 1e9).ratio, 0.1);
	expect_near(nm_curve_at(&estimate, 2048).ratio, 0.3);
	expect_near(nm_curve_at(&estimate, 2048).low, 0.2);
	expect_near(nm_curve_at(&estimate, 512).ratio, 0.5);
	expect_near(nm_curve_at(&estimate, 8192).ratio, 0.1);
}

/* Scans over 20K and 3M, one after the other: theory puts a cliff at each size. */
static void test_knees_stand_where_scans_fit(void **state)
{
	struct nm_curve_point p[] = {{128, 0.125, 0, 0}, {20480, 0.06, 0, 0}, {3145728, 0.001, 0, 0}};
	struct nm_curve c = curve_of(p, 3, 1);
	struct nm_knee knees[NM_MAX_KNEES];

	(void)state;
	assert_int_equal(nm_knees_find(&c, 1024, 16 << 20, knees), 2);
	expect_near(knees[0].bytes, 20480);
	expect_near(knees[0].before, 0.125);
	expect_near(knees[0].after, 0.06);
	expect_near(knees[1].bytes, 3145728);
	expect_near(knees[1].after, 0.001);
	assert_int_equal(nm_knees_find(&c, 1024, 1 << 20, knees), 1); /* only those that are shown */
}

static void test_a_curve_that_falls_evenly_or_not_at_all_has_no_knee(void **state)
{
	struct nm_curve_point flat[] = {{64, 0.3, 0, 0}}, even[64];
	struct nm_curve c = curve_of(flat, 1, 1);
	struct nm_knee knees[NM_MAX_KNEES];

	(void)state;
	assert_int_equal(nm_knees_find(&c, 1024, 1 << 24, knees), 0);
	for (int i = 0; i < 64; i++)
		even[i] = (struct nm_curve_point){1024 * exp2(i / 4.0), 0.64 - 0.01 * i, 0, 0};
	c = curve_of(even, 64, 0);
	assert_int_equal(nm_knees_find(&c, 1024, 1 << 24, knees), 0);
}

static void test_the_largest_knees_are_kept(void **state)
{
	struct nm_curve_point p[12];
	struct nm_curve c = curve_of(p, 12, 1);
	struct nm_knee knees[NM_MAX_KNEES];

	(void)state;
	for (int i = 0; i < 12; i++) /* falls of 0.05, but of 0.04 at every second size */
		p[i] =
		    (struct nm_curve_point){4096 * exp2(3 * i), 0.6 - 0.045 * i - (i % 2 ? 0.005 : 0), 0, 0};
	assert_int_equal(nm_knees_find(&c, 1024, 4096 * exp2(36), knees), NM_MAX_KNEES);
	for (int i = 1; i < NM_MAX_KNEES; i++)
		assert_true(knees[i].bytes > knees[i - 1].bytes && knees[i].before - knees[i].after > 0.045);
}

/* An estimate of one size beside another, of 100 samples. */
static size_t count_notes(struct nm_curve_point a, const char *policy_a, struct nm_curve_point b,
			  const char *policy_b, const char *expected)
{
	struct nm_curve_point low[] = {a, {a.bytes * 4, a.ratio, a.low, a.high}},
			      high[] = {b, {b.bytes * 4, b.ratio, b.low, b.high}};
	struct nm_curve list[] = {curve_of(low, 2, 0), curve_of(high, 2, 0)};
	struct nm_curves curves = {.from = a.bytes, .to = a.bytes * 2};
	size_t count;

	list[0].name = list[1].name = "app";
	list[0].method = "one";
	list[1].method = "two";
	list[0].policy = policy_a;
	list[1].policy = policy_b;
	list[0].samples = list[1].samples = 100;
	curves.list.at = list;
	curves.list.count = 2;
	assert_int_equal(nm_curve_notes(&curves), 0);
	count = curves.notes.count;
	if (expected)
		assert_string_equal(curves.notes.at[0], expected);
	nm_vec_free(&curves.notes);
	nm_strings_done(&curves.pool);
	return count;
}

/* LRU may miss up to twice as often as random replacement in half the size, or the other way round. */
static void test_methods_that_disagree_are_named(void **state)
{
	const struct nm_curve_point few = {65536, 0.1, 0.08, 0.12}, twice = {65536, 0.22, 0.2, 0.24},
				    many = {65536, 0.6, 0.58, 0.62};

	(void)state;
	assert_int_equal(count_notes(few, "lru", few, "lru", NULL), 0);
	assert_int_equal(count_notes(few, "lru", twice, "random", NULL), 0);
	assert_int_equal(
	    count_notes(few, "lru", twice, "lru",
			"two and one disagree: two misses at least 20 % at 64K, one at most 12 % at 64K"),
	    1);
	assert_int_equal(
	    count_notes(few, "lru", many, "random",
			"two and one disagree: two misses at least 58 % at 128K, one at most 12 % at 64K, "
			"more than their replacement policies explain"),
	    1);
}

static void test_too_few_samples_are_told(void **state)
{
	const struct nm_curve_point unsure = {65536, 0.3, 0.1, 0.5};

	(void)state;
	assert_int_equal(
	    count_notes(unsure, "lru", unsure, "lru",
			"app: 100 samples (one) tell misses to within 20 % on average; 3 % would take "
			"about 4500"),
	    2);
}

/* The fall of the scans, if intervals after it reach those before. */
static void test_knees_need_intervals(void **state)
{
	struct nm_curve_point p[] = {{1024, 0.5, 0.45, 0.55},
				     {32768, 0.5, 0.45, 0.55},
				     {65536, 0.1, 0.05, 0.15},
				     {1 << 20, 0.1, 0.05, 0.15}};
	struct nm_curve c = curve_of(p, 4, 0);
	struct nm_knee knees[NM_MAX_KNEES];

	(void)state;
	assert_int_equal(nm_knees_find(&c, 1024, 1 << 20, knees), 1);
	p[2].high = p[3].high = 0.5;
	assert_int_equal(nm_knees_find(&c, 1024, 1 << 20, knees), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sizes_have_ticks_at_powers_of_two),
	    cmocka_unit_test(test_ratios_have_round_ticks_that_reach_the_largest),
	    cmocka_unit_test(test_sizes_and_ratios_are_short_texts),
	    cmocka_unit_test(test_exact_curves_are_steps_and_others_are_interpolated),
	    cmocka_unit_test(test_methods_that_disagree_are_named),
	    cmocka_unit_test(test_too_few_samples_are_told),
	    cmocka_unit_test(test_knees_need_intervals),
	    cmocka_unit_test(test_knees_stand_where_scans_fit),
	    cmocka_unit_test(test_a_curve_that_falls_evenly_or_not_at_all_has_no_knee),
	    cmocka_unit_test(test_the_largest_knees_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
