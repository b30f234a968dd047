/* SPDX-License-Identifier: MIT
 *
 * plan_test.c - plans of sweeps: which tasks they make, in which order; and tasks and outcomes as texts. Faults of plans
 * are in tests/golden.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../temporary_folder.h"
#include "plan.h"
#include "words.h"

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void read_plan(struct nm_sweep_plan *plan, const char *text)
{
	struct nm_error err;

	write_file("plan.yaml", text);
	if (nm_sweep_plan_read(plan, "plan.yaml", &err))
		fail_msg("%s", err.text);
}

static void write_nest(void)
{
	write_file("a.nest", "parameter N = 8\narray A(N) of real*8\nfor i = 1 to N\n  read A(i)\nend\n");
}

static void test_product(void **state)
{
	struct nm_sweep_plan plan = {.path = NULL};
	unsigned sizes = 0, policies = 0;

	(void)state;
	write_nest();
	read_plan(&plan, "nests: [{file: a.nest, set: [N=10, N=20]}]\n"
			 "machines: [zen4, \"L1d=32K,8,64:L2=1M,16,64\"]\n"
			 "level: L2\nsizes: [512K, 1M, 2M]\npolicies: [lru, fifo]\n");
	assert_int_equal(plan.tasks.count, 2 * 2 * 3 * 2);
	for (size_t i = 0; i < plan.tasks.count; i++) {
		const struct nm_sweep_task *t = &plan.tasks.at[i];
		struct nm_machine machine;

		assert_string_equal(t->kind, "nest");
		assert_string_equal(t->input, "a.nest");
		assert_string_equal(t->level, "L2");
		assert_int_equal(nm_machine_parse(t->spec, &machine, NULL), 0);
		for (unsigned k = 0; k < machine.count; k++) {
			assert_int_not_equal(machine.levels[k].side, NM_SIDE_INSTRUCTION);
			if (!strcmp(machine.levels[k].name, "L2"))
				assert_int_equal(machine.levels[k].size, t->size);
		}
		sizes += t->size == 512 << 10;
		policies += !strcmp(t->policy, "fifo");
	}
	assert_int_equal(sizes, 2 * 2 * 2);
	assert_int_equal(policies, 2 * 2 * 3);
	nm_sweep_plan_done(&plan);
}

/* The largest first; equal ones in the order of the plan. policy=opt reads its input twice. */
static void test_order(void **state)
{
	static const char *const order[][2] = {{"N=30", "opt"}, {"N=20", "opt"}, {"N=30", "lru"},
					       {"N=10", "opt"}, {"N=20", "lru"}, {"N=10", "lru"}};
	struct nm_sweep_plan plan = {.path = NULL};

	(void)state;
	write_nest();
	read_plan(&plan, "nests: [{file: a.nest, set: [N=10, N=20, N=30]}]\n"
			 "machines: [\"L1d=1K,2,64\"]\npolicies: [lru, opt]\n");
	assert_int_equal(plan.tasks.count, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_string_equal(plan.tasks.at[i].settings, order[i][0]);
		assert_string_equal(plan.tasks.at[i].policy, order[i][1]);
	}
	nm_sweep_plan_done(&plan);
}

/* The machine's own size is among those that are listed. */
static void test_no_task_twice(void **state)
{
	struct nm_sweep_plan plan = {.path = NULL};

	(void)state;
	write_nest();
	read_plan(&plan, "nests: [{file: a.nest}, {file: a.nest, set: [N=9]}, {file: a.nest}]\n"
			 "machines: [\"L1d=32K,8,64\", \"L1d=16K,8,64\"]\nsizes: [16K, 32K, 16K]\n");
	assert_int_equal(plan.tasks.count, 2 * 2);
	nm_sweep_plan_done(&plan);
}

static void test_fully_associative(void **state)
{
	struct nm_sweep_plan plan = {.path = NULL};
	struct nm_machine machine;

	(void)state;
	write_nest();
	read_plan(&plan, "nests: [{file: a.nest}]\nmachines: [\"L1d=1K,full,64\"]\nsizes: [4K]\n");
	assert_int_equal(nm_machine_parse(plan.tasks.at[0].spec, &machine, NULL), 0);
	assert_int_equal(machine.levels[0].sets, 1);
	assert_int_equal(machine.levels[0].ways, 64);
	nm_sweep_plan_done(&plan);
}

/* ---- texts ---- */

static void test_task_text(void **state)
{
	const struct nm_sweep_task task = {
	    .kind = "nest", .input = "a b.nest", .settings = "N=1 M=2", .spec = "L1d=1K,2,64"};
	struct nm_sweep_task tab = task, again;
	char text[NM_SWEEP_MESSAGE];

	(void)state;
	assert_int_equal(nm_sweep_write_task(&task, text), 0);
	assert_int_equal(nm_sweep_read_task(text, &again), 0);
	assert_string_equal(again.kind, task.kind);
	assert_string_equal(again.input, task.input);
	assert_string_equal(again.settings, task.settings);
	assert_string_equal(again.spec, task.spec);
	tab.input = "a\tb";
	assert_int_equal(nm_sweep_write_task(&tab, text), NM_EINVAL);
	assert_int_equal(nm_sweep_read_task(strcpy(text, "nest\ta\tb"), &again), NM_EINVAL);
	assert_int_equal(nm_sweep_read_task(strcpy(text, "nest\ta\tb\tc\td"), &again), NM_EINVAL);
}

static void test_outcome_text(void **state)
{
	static struct nm_sweep_outcome outcome = {.seconds = 1.5,
						  .instructions = UINT64_MAX,
						  .references = 7,
						  .remark = "a\tb\nc"},
				       again;
	char text[NM_SWEEP_MESSAGE];

	(void)state;
	outcome.machine.count = NM_MAX_LEVELS;
	memset(outcome.totals, 0xff, sizeof outcome.totals);
	outcome.totals[3].read_misses = 12;
	nm_sweep_write_outcome(&outcome, text);
	assert_int_equal(nm_sweep_read_outcome(text, &again), 0);
	assert_int_equal(again.failed, 0);
	assert_true(again.seconds == 1.5);
	assert_true(again.instructions == UINT64_MAX && again.references == 7);
	assert_string_equal(again.remark, "a b c");
	assert_int_equal(again.machine.count, NM_MAX_LEVELS);
	assert_memory_equal(again.totals, outcome.totals, sizeof outcome.totals);

	outcome.failed = 1;
	nm_sweep_write_outcome(&outcome, text);
	assert_int_equal(nm_sweep_read_outcome(text, &again), 0);
	assert_int_equal(again.failed, 1);
	assert_string_equal(again.remark, "a b c");
}

/* Whatever arrives is read without harm. */
static void test_odd_texts(void **state)
{
	static const char *const odd[] = {"",
					  "done",
					  "done\t",
					  "done\t1",
					  "done\tx\t1\t2\t",
					  "done\t1\t2",
					  "done\t1\t2\t3",
					  "done\t1\t2\tx\t",
					  "done\t1\t2\t3\t\t1 2",
					  "failed",
					  "failed\tx\ty",
					  "gone\t1\tx"};
	static struct nm_sweep_outcome outcome;
	char text[NM_SWEEP_MESSAGE];

	(void)state;
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		assert_int_equal(nm_sweep_read_outcome(strcpy(text, odd[i]), &outcome), NM_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_product),       cmocka_unit_test(test_order),
	    cmocka_unit_test(test_no_task_twice), cmocka_unit_test(test_fully_associative),
	    cmocka_unit_test(test_task_text),     cmocka_unit_test(test_outcome_text),
	    cmocka_unit_test(test_odd_texts)};

	return cmocka_run_group_tests(tests, enter_temporary_folder, remove_temporary_folder);
}
