/* SPDX-License-Identifier: MIT
 *
 * pmu_judge_test.c - errors, ranks and intervals of estimates against their definitions: Kendall's tau-b from the
 * signs of all pairs, and Wilson's interval as the shares whose test does not reject what was seen.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "numbers.h"
#include "pmu_estimates.h"
#include "samples_report.h"

enum { PARTS = 12 };

static void add(struct nm_estimates *e, const uint64_t *truth, const uint64_t *samples, size_t count)
{
	struct nm_estimated_group group = {.truth = 0};

	for (size_t i = 0; i < count; i++) {
		const struct nm_estimated_part part = {
		    .group = (uint32_t)e->groups.count, .truth = truth[i], .samples = {samples[i]}};

		assert_int_equal(nm_vec_push(&e->parts, part), 0);
		group.truth += truth[i];
		group.samples[0] += samples[i];
	}
	e->truth += group.truth;
	assert_int_equal(nm_vec_push(&e->groups, group), 0);
}

static int sign(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* Sum of products of signs over the root of the product of their squares: tau-b by definition. */
static double tau_of(const uint64_t *x, const uint64_t *y, size_t count)
{
	double products = 0, squares_x = 0, squares_y = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			const int a = sign(x[i], x[k]), b = sign(y[i], y[k]);

			products += a * b;
			squares_x += a * a;
			squares_y += b * b;
		}
	return products / sqrt(squares_x * squares_y);
}

static void test_ranks(void **state)
{
	(void)state;
	rng_state = 2;
	for (int round = 0; round < 500; round++) {
		struct nm_estimates e = {.sampler_count = 1};
		uint64_t truth[PARTS], samples[PARTS], all = 0, seen = 0, swapped = 0;
		double worst = 0;
		struct nm_accuracy a;

		for (int i = 0; i < PARTS; i++) { /* all have more than a hundredth */
			all += truth[i] = 100 + 10 * below(30);
			seen += samples[i] = 1 + below(10);
		}
		add(&e, truth, samples, PARTS);
		a = nm_accuracy_of(&e, 0, 2);
		for (int i = 0; i < PARTS; i++) {
			const double error = 100.0 * (double)samples[i] / (double)seen -
					     100.0 * (double)truth[i] / (double)all;

			worst = fmax(worst, fabs(error));
			for (int k = 0; k < PARTS; k++)
				swapped += 100.0 * (double)truth[i] / (double)all -
						   100.0 * (double)truth[k] / (double)all >
					       2 &&
					   samples[i] < samples[k];
		}
		assert_int_equal(a.samples, seen);
		assert_int_equal(a.ranked, PARTS);
		assert_int_equal(a.swapped, swapped);
		assert_true(fabs(a.error - worst) < 1e-9);
		assert_true(fabs(a.tau - tau_of(truth, samples, PARTS)) < 1e-9);
		nm_estimates_done(&e);
	}
}

/* The ends of the interval are the shares from which what was seen is 1.96 deviations away. */
static void test_interval(void **state)
{
	(void)state;
	rng_state = 4;
	for (int round = 0; round < 1000; round++) {
		const uint64_t all = 1 + below(5000), count = below(all + 1);
		const double seen = (double)count / (double)all;
		double ends[2];

		nm_samples_interval((double)count, (double)all, &ends[0], &ends[1]);
		assert_true(ends[0] <= seen + 1e-11 && seen <= ends[1] + 1e-11);
		for (int i = 0; i < 2; i++) {
			const double p = ends[i],
				     away = fabs(seen - p) / fmax(1e-12, sqrt(p * (1 - p) / (double)all));

			assert_true(fabs(away - 1.96) < 1e-4 || p < 1e-9 || p > 1 - 1e-9);
		}
	}
}

/* A group of less than a tenth, and a part of less than a hundredth, are left out; a group is ranked by itself. */
static void test_groups(void **state)
{
	const uint64_t large[] = {500, 400, 5}, large_seen[] = {50, 50, 0}, second[] = {300, 100},
		       second_seen[] = {10, 30}, small[] = {10, 40}, small_seen[] = {9, 1};
	struct nm_estimates e = {.sampler_count = 1};
	struct nm_accuracy a;

	(void)state;
	add(&e, large, large_seen, 3);
	add(&e, second, second_seen, 2);
	add(&e, small, small_seen, 2);
	a = nm_accuracy_of(&e, 0, 1);
	assert_int_equal(a.samples, 150);
	assert_int_equal(a.ranked, 4);
	assert_int_equal(a.swapped, 1); /* of the second group */
	assert_true(a.worst && a.worst->group == 1);
	assert_true(fabs(a.error - 50) < 1e-9);
	assert_true(fabs(a.tau + 1 / sqrt(2)) < 1e-9); /* a tie of the estimates, and an opposite pair */
	assert_int_equal(a.covered, 2);                /* 50 of 100 can be 40.4 to 59.6 % */
	nm_estimates_done(&e);
}

static void test_no_samples(void **state)
{
	const uint64_t truth[] = {7, 3}, none[] = {0, 0};
	struct nm_estimates e = {.sampler_count = 1};
	struct nm_accuracy a;

	(void)state;
	add(&e, truth, none, 2);
	a = nm_accuracy_of(&e, 0, 1);
	assert_int_equal(a.samples, 0);
	assert_null(a.worst);
	assert_true(isnan(a.tau));
	nm_estimates_done(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks), cmocka_unit_test(test_interval),
					   cmocka_unit_test(test_groups), cmocka_unit_test(test_no_samples)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
