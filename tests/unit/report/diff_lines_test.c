/* SPDX-License-Identifier: MIT
 *
 * diff_lines_test.c - lines are found again after random edits, and alignments are as good as the best of all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "lines.h"
#include "numbers.h"

enum { MOST = 60 };

struct text_line {
	struct nm_diff_line line;
	size_t was; /* its index before the edits, or SIZE_MAX */
};

/* Lines of a function: each with references that hardly any other has. */
static size_t draw_lines(struct text_line *lines, struct nm_strings *pool, int with_text)
{
	const size_t count = 2 + below(20);
	int64_t number = 10;

	for (size_t i = 0; i < count; i++) {
		char text[32];

		snprintf(text, sizeof text, "line %u", (unsigned)rng());
		number += 1 + (int64_t)below(3);
		lines[i] = (struct text_line){.line = {.number = number,
						       .text = with_text ? nm_intern(pool, text) : NULL,
						       .references = 1 + (int64_t)below(1000000),
						       .objects = rng()},
					      .was = i};
	}
	return count;
}

/* Takes lines out and puts others in; the numbers of all that follow move. */
static size_t edit(const struct text_line *from, size_t count, struct text_line *to, struct nm_strings *pool,
		   int with_text)
{
	size_t n = 0;
	int64_t moved = (int64_t)below(9);

	for (size_t i = 0; i < count; i++) {
		const uint64_t kind = below(8);

		if (kind == 0)
			continue;
		if (kind == 1) {
			char text[32];

			snprintf(text, sizeof text, "new %u", (unsigned)rng());
			to[n] = (struct text_line){.line = {.number = from[i].line.number + moved,
							    .text = with_text ? nm_intern(pool, text) : NULL,
							    .references = 1 + (int64_t)below(1000000),
							    .objects = rng()},
						   .was = SIZE_MAX};
			n++;
			moved++;
		}
		to[n] = from[i];
		to[n++].line.number += moved;
	}
	return n;
}

static void take(struct nm_diff_line *to, const struct text_line *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = from[i].line;
}

/* Each line that was kept is found, and no line that is new has a partner that was kept. */
static void found_after_edits(int with_text)
{
	struct text_line before[MOST], after[MOST];
	struct nm_diff_line a[MOST], b[MOST];
	size_t pair[MOST];

	rng_state = 11;
	for (unsigned round = 0; round < 2000; round++) {
		struct nm_strings pool = {0};
		const size_t m = draw_lines(before, &pool, with_text),
			     n = edit(before, m, after, &pool, with_text);

		take(a, before, m);
		take(b, after, n);
		assert_int_equal(nm_diff_match_lines(a, m, b, n, 0, pair), 0);
		for (size_t j = 0; j < n; j++)
			if (after[j].was != SIZE_MAX)
				assert_int_equal(pair[after[j].was], j);
		nm_strings_done(&pool);
	}
}

static void test_by_text(void **state)
{
	(void)state;
	found_after_edits(1);
}

static void test_by_execution(void **state)
{
	(void)state;
	found_after_edits(0);
}

static void test_moved_line(void **state)
{
	const struct nm_diff_line a[] = {{1, "one", 10, 1}, {2, "two", 20, 2}, {3, "three", 30, 3}};
	const struct nm_diff_line b[] = {{1, "three", 30, 3}, {2, "one", 10, 1}, {3, "two", 20, 2}};
	size_t pair[3];

	(void)state;
	assert_int_equal(nm_diff_match_lines(a, 3, b, 3, 0, pair), 0);
	assert_int_equal(pair[0], 1);
	assert_int_equal(pair[1], 2);
	assert_int_equal(pair[2], 0);
}

/* Of an unchanged file the numbers decide, whatever was executed. */
static void test_same_source(void **state)
{
	const struct nm_diff_line a[] = {{4, NULL, 10, 1}, {7, NULL, 20, 2}};
	const struct nm_diff_line b[] = {{5, NULL, 10, 1}, {7, NULL, 10, 1}};
	size_t pair[2];

	(void)state;
	assert_int_equal(nm_diff_match_lines(a, 2, b, 2, 1, pair), 0);
	assert_true(pair[0] == SIZE_MAX);
	assert_int_equal(pair[1], 1);
}

/* The number of equal texts in the longest common subsequence, by trying everything. */
static unsigned longest(const struct nm_diff_line *a, size_t m, const struct nm_diff_line *b, size_t n)
{
	unsigned skip_a, skip_b;

	if (!m || !n)
		return 0;
	if (a->text == b->text)
		return 1 + longest(a + 1, m - 1, b + 1, n - 1);
	skip_a = longest(a + 1, m - 1, b, n);
	skip_b = longest(a, m, b + 1, n - 1);
	return skip_a > skip_b ? skip_a : skip_b;
}

static void draw_words(struct nm_diff_line *lines, size_t count)
{
	static const char *const words[] = {"for", "if", "sum", "end"};

	for (size_t i = 0; i < count; i++)
		lines[i] = (struct nm_diff_line){.number = (int64_t)i + 1,
						 .text = words[below(4)],
						 .references = (int64_t)rng(),
						 .objects = rng()};
}

static void test_best_of_all(void **state)
{
	struct nm_diff_line a[8], b[8];
	size_t pair[8];

	(void)state;
	rng_state = 5;
	for (unsigned round = 0; round < 3000; round++) {
		const size_t m = 1 + below(8), n = 1 + below(8);
		unsigned equal = 0;

		draw_words(a, m);
		draw_words(b, n);
		assert_int_equal(nm_diff_match_lines(a, m, b, n, 0, pair), 0);
		for (size_t i = 0; i < m; i++)
			equal += pair[i] != SIZE_MAX && a[i].text == b[pair[i]].text;
		assert_true(equal >= longest(a, m, b, n));
		for (size_t i = 0; i < m; i++)
			for (size_t k = 0; k < i; k++)
				assert_true(pair[i] == SIZE_MAX || pair[i] != pair[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_text),     cmocka_unit_test(test_by_execution),
	    cmocka_unit_test(test_moved_line),  cmocka_unit_test(test_same_source),
	    cmocka_unit_test(test_best_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
