/* SPDX-License-Identifier: MIT
 *
 * phases_test.c - phases of random intervals against a slow twin, which keeps only where stretches begin and reads
 * all intervals again for each distance; and those of a run that is cut where it should be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "numbers.h"
#include "phases.h"

enum { MOST = 90, WIDTH = 6 };

static double misses[MOST][WIDTH], instructions[MOST];
static size_t count;

/* ---- the twin: stretches are [from, end) ---- */

struct stretch {
	size_t from, end;
	unsigned phase;
};

static struct stretch list[MOST];
static size_t stretches;

/* The misses per instruction of a column, of all intervals that are marked. */
static double rate(const int *marked, size_t column)
{
	double sum = 0, all = 0;

	for (size_t i = 0; i < count; i++)
		if (marked[i]) {
			sum += column == WIDTH ? misses[i][0] + misses[i][1] + misses[i][2] + misses[i][3] +
						     misses[i][4] + misses[i][5]
					       : misses[i][column];
			all += instructions[i];
		}
	return sum / all;
}

static double distance(const int *a, const int *b)
{
	int all[MOST];
	double apart = 0, sum = 0;

	for (size_t i = 0; i < count; i++)
		all[i] = 1;
	for (size_t k = 0; k < WIDTH; k++) {
		const double x = rate(a, k), y = rate(b, k);

		apart += x > y ? x - y : y - x;
		sum += x + y;
	}
	sum += 2 * 0.05 * rate(all, WIDTH);
	return sum > 0 ? apart / sum : 0;
}

static void mark(int *marked, const struct stretch *s)
{
	for (size_t i = 0; i < MOST; i++)
		marked[i] = i >= s->from && i < s->end;
}

static double apart(size_t i)
{
	int a[MOST], b[MOST];

	mark(a, &list[i]);
	mark(b, &list[i + 1]);
	return distance(a, b);
}

static void join(size_t i)
{
	list[i].end = list[i + 1].end;
	stretches--;
	for (size_t k = i + 1; k < stretches; k++)
		list[k] = list[k + 1];
}

static double length(const struct stretch *s)
{
	double sum = 0;

	for (size_t i = s->from; i < s->end; i++)
		sum += instructions[i];
	return sum;
}

static void twin_join(void)
{
	const struct stretch run = {0, count, 0};
	size_t best;

	stretches = 0;
	for (size_t i = 0; i < count; i++)
		list[stretches++] = (struct stretch){i, i + 1, 0};
	do {
		best = MOST;
		for (size_t i = 0; i + 1 < stretches; i++)
			if (apart(i) < 0.4 && (best == MOST || apart(i) < apart(best)))
				best = i;
		if (best < MOST)
			join(best);
	} while (best < MOST);
	while (stretches > 1) {
		best = MOST;
		for (size_t i = 0; i < stretches; i++)
			if ((list[i].end - list[i].from == 1 || length(&list[i]) < length(&run) / 64) &&
			    (best == MOST || length(&list[i]) < length(&list[best])))
				best = i;
		if (best == MOST)
			break;
		join(best + 1 == stretches || (best && apart(best - 1) <= apart(best)) ? best - 1 : best);
	}
}

static void twin_choose(void)
{
	int members[12][MOST] = {{0}}, mine[MOST];
	unsigned phases = 0;

	for (size_t i = 0; i < stretches; i++) {
		unsigned best = 12;

		mark(mine, &list[i]);
		for (unsigned k = 0; k < phases; k++)
			if ((phases == 12 || distance(members[k], mine) < 0.4) &&
			    (best == 12 || distance(members[k], mine) < distance(members[best], mine)))
				best = k;
		list[i].phase = best == 12 ? phases++ : best;
		for (size_t k = 0; k < count; k++)
			members[list[i].phase][k] |= mine[k];
	}
	for (size_t i = 0; i + 1 < stretches;)
		if (list[i].phase == list[i + 1].phase)
			join(i);
		else
			i++;
}

/* ---- tests ---- */

static void check(void)
{
	const struct nm_phase_intervals in = {count, WIDTH, &misses[0][0], instructions};
	struct nm_stretch *found;
	size_t n;

	assert_int_equal(nm_phases_find(&in, &found, &n), 0);
	twin_join();
	twin_choose();
	assert_int_equal(n, stretches);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(found[i].first, list[i].from);
		assert_int_equal(found[i].count, list[i].end - list[i].from);
		assert_int_equal(found[i].phase, list[i].phase);
	}
	free(found);
}

static void stretches_are_the_twins(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		rng_state = 1 + round;
		count = 1 + below(MOST);
		for (size_t i = 0; i < count; i++) {
			const uint64_t kind = i / (1 + round % 20) % 5;

			instructions[i] = 1000 + (double)below(round % 4 ? 50 : 5000);
			for (size_t k = 0; k < WIDTH; k++)
				misses[i][k] = (double)(k == kind ? below(9000) : below(round % 3 * 400 + 1));
		}
		check();
	}
}

/* 30 intervals of a, one of both, 20 of b, 10 that hardly miss, 20 of a. */
static void known_phases_are_cut_where_they_end(void **state)
{
	static const struct nm_stretch wanted[] = {{0, 31, 0}, {31, 20, 1}, {51, 10, 2}, {61, 20, 0}};
	struct nm_phase_intervals in = {81, WIDTH, &misses[0][0], instructions};
	struct nm_stretch *found;
	size_t n;

	(void)state;
	rng_state = 3;
	for (size_t i = 0; i < in.count; i++) {
		const int is_a = i <= 30 || i > 60, is_b = i >= 30 && i <= 50;

		instructions[i] = 1000;
		for (size_t k = 0; k < WIDTH; k++)
			misses[i][k] = (double)below(3);
		misses[i][0] += is_a ? (i == 30 ? 60 : 100) + (double)below(20) : 0;
		misses[i][1] += is_b ? (i == 30 ? 30 : 80) + (double)below(20) : 0;
	}
	assert_int_equal(nm_phases_find(&in, &found, &n), 0);
	assert_int_equal(n, sizeof wanted / sizeof *wanted);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(found[i].first, wanted[i].first);
		assert_int_equal(found[i].count, wanted[i].count);
		assert_int_equal(found[i].phase, wanted[i].phase);
	}
	free(found);
	in.count = 0;
	assert_int_equal(nm_phases_find(&in, &found, &n), 0);
	assert_int_equal(n, 0);
	free(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stretches_are_the_twins),
	    cmocka_unit_test(known_phases_are_cut_where_they_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
