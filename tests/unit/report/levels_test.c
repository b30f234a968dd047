/* SPDX-License-Identifier: MIT
 *
 * levels_test.c - properties of the cost model that hold whatever its figures are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "levels.h"

enum { LATENCIES = 2000 };

/* At least, likely, at most: in this order. What is foreseen never costs more, what is chained never less. */
static void test_order(void **state)
{
	static const enum nm_case order[] = {NM_LEAST, NM_LIKELY, NM_MOST};

	(void)state;
	for (int latency = 0; latency < LATENCIES; latency++) {
		struct nm_waits before = {.chained = 0};

		for (unsigned i = 0; i < NM_CASES; i++) {
			const struct nm_waits w = nm_waits_of(order[i], latency);

			assert_true(w.foreseen <= w.together && w.together <= w.chained);
			assert_true(before.foreseen <= w.foreseen && before.together <= w.together &&
				    before.chained <= w.chained);
			before = w;
		}
	}
	assert_true(nm_waiting[NM_LEAST].per_instruction >= nm_waiting[NM_LIKELY].per_instruction);
	assert_true(nm_waiting[NM_LIKELY].per_instruction >= nm_waiting[NM_MOST].per_instruction);
}

static struct nm_levels machine(int foresees)
{
	return (struct nm_levels){.at = {{.name = "L1d", .side = NM_LEVEL_DATA},
					 {.name = "L1i", .side = NM_LEVEL_CODE},
					 {.name = "L2", .latency = 20},
					 {.name = "L3", .latency = 60}},
				  .count = 4,
				  .memory = 300,
				  .walk = 40,
				  .foresees = foresees};
}

/* A load that misses all levels waits for memory, and for one page walk, whatever is between. */
static void test_levels(void **state)
{
	const struct nm_levels m = machine(1);
	const struct nm_waits memory = nm_waits_of(NM_LIKELY, 300);
	struct nm_waits all = {.chained = 0};

	(void)state;
	assert_int_equal(nm_levels_next_latency(&m, &m.at[0]), 20);
	assert_int_equal(nm_levels_next_latency(&m, &m.at[1]), 20);
	assert_int_equal(nm_levels_next_latency(&m, &m.at[3]), 300);
	for (unsigned i = 0; i < m.count; i++) {
		const struct nm_waits w = nm_levels_waits(&m, &m.at[0], &m.at[i], NM_LIKELY);

		if (m.at[i].side == NM_LEVEL_CODE)
			continue;
		all.chained += w.chained;
		all.together += w.together;
		all.foreseen += w.foreseen;
		all.chained_walk += w.chained_walk;
		all.walk += w.walk;
	}
	assert_float_equal(all.chained, memory.chained, 1e-4);
	assert_float_equal(all.together, memory.together, 1e-4);
	assert_float_equal(all.foreseen, memory.foreseen, 1e-4);
	assert_float_equal(all.chained_walk, 40, 1e-4);
	assert_true(0 < all.walk && all.walk < all.chained_walk);
}

static void test_no_foresight(void **state)
{
	const struct nm_levels m = machine(0);
	const struct nm_waits w = nm_levels_waits(&m, &m.at[0], &m.at[0], NM_LIKELY);

	(void)state;
	assert_true(w.chained + w.together + w.foreseen + w.chained_walk + w.walk == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_levels),
	    cmocka_unit_test(test_no_foresight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
