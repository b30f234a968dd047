/* SPDX-License-Identifier: MIT
 *
 * window_test.c - which part of a run counts: occurrences of regions that a window names, limits of phases, and
 * regions in phases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regions.h"
#include "replay.h"

/* The second beginning of a region ends the window; its ends, and other regions, do not. */
static void test_occurrences(void **state)
{
	struct nm_replay r = {.asked = 1};
	const struct nm_run_window window = {.from = {NM_POSITION_END, 1, "a"},
					     .until = {NM_POSITION_MARK, 2, "a"}};

	(void)state;
	nm_replay_set_window(&r, &window);
	assert_false(r.measuring);
	nm_replay_watch_region(&r, 1, "a");
	nm_replay_watch_region(&r, 1, "b");
	nm_replay_watch_region(&r, 0, "b");
	assert_int_equal(nm_replay_turn(&r), 0);
	assert_false(r.measuring);
	assert_int_equal(r.window_met, 0);
	nm_replay_watch_region(&r, 0, "a");
	assert_int_equal(nm_replay_turn(&r), 0);
	assert_true(r.measuring);
	assert_int_equal(r.window_met, NM_WATCH_FROM);
	nm_replay_watch_region(&r, 1, "a");
	assert_int_equal(nm_replay_turn(&r), 0);
	assert_false(r.measuring);
	assert_int_equal(r.window_met, NM_WATCH_FROM | NM_WATCH_UNTIL);
}

/* A phase begins with the instruction at its limit. */
static void test_phases(void **state)
{
	struct nm_phase_limit limits[] = {{0, 0}, {5, 1}, {5, 2}, {9, 0}};
	const struct nm_phase_plan plan = {.only = 2, .limits = {.at = limits, .count = 4}};
	const struct nm_threads threads = {0};
	struct nm_replay r = {.asked = 1, .inside = 1, .phases = &plan, .resolver = {.threads = &threads}};

	(void)state;
	for (; r.clock < 12; r.clock++) {
		assert_int_equal(nm_replay_turn(&r), 0);
		assert_int_equal(r.phase, r.clock >= 5 && r.clock < 9 ? 2 : 0);
		assert_int_equal(r.measuring, r.phase == 2);
	}
}

/* A region in a phase has counts of its own, which begin at 0. */
static void test_regions_in_phases(void **state)
{
	static const char name[] = "a";
	struct nm_regions regions = {0};
	struct nm_open_regions open = {0};
	uint32_t copy, again;

	(void)state;
	assert_int_equal(nm_regions_init(&regions), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(nm_regions_begin(&regions, &open, NULL, name), 0);
	assert_int_equal(regions.list.at[1].entries, 2);
	regions.list.at[1].instructions = 7;
	assert_int_equal(nm_regions_in_phase(&regions, 1, 0, &copy), 0);
	assert_int_equal(copy, 1);
	assert_int_equal(nm_regions_in_phase(&regions, 1, 3, &copy), 0);
	assert_int_equal(copy, 2);
	assert_ptr_equal(regions.list.at[copy].name, name);
	assert_int_equal(regions.list.at[copy].phase, 3);
	assert_int_equal(regions.list.at[copy].entries, 0);
	assert_int_equal(regions.list.at[copy].instructions, 0);
	assert_int_equal(nm_regions_in_phase(&regions, 1, 3, &again), 0);
	assert_int_equal(again, copy);
	nm_vec_free(&open);
	nm_regions_done(&regions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_occurrences), cmocka_unit_test(test_phases),
					   cmocka_unit_test(test_regions_in_phases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
