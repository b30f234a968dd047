/* SPDX-License-Identifier: MIT
 *
 * master_test.c - the master of a sweep over a transport that answers, fails and dies at random: every task has one
 * result, given out in order, whatever happens.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "../temporary_folder.h"
#include "master.h"
#include "words.h"

enum { WORKERS = 3, TASKS = 40 };

/* Workers that keep their task's number, which stands in its settings. */
struct fake {
	int task[WORKERS]; /* -1: none */
	int given[TASKS], answered[TASKS];
	int last, order_broken, ended;
	unsigned seed;
	int deaths, most_answers; /* in a thousand; after so many answers the transport breaks */
};

static unsigned draw(struct fake *f, unsigned below)
{
	f->seed = f->seed * 1103515245 + 12345;
	return (f->seed >> 16) % below;
}

static int fake_send(void *self, unsigned worker, const char *text, struct nm_error *err)
{
	struct fake *f = self;
	const char *number = strstr(text, "N=");
	int task;

	(void)err;
	if (!*text) {
		f->ended++;
		return 0;
	}
	assert_int_equal(f->task[worker], -1);
	task = atoi(number + 2);
	f->order_broken |= !f->given[task] && task < f->last;
	f->last = f->given[task] ? f->last : task;
	f->given[task]++;
	f->task[worker] = task;
	return 0;
}

static int fake_receive(void *self, int timeout_ms, struct nm_sweep_received *ret, struct nm_error *err)
{
	static struct nm_sweep_outcome outcome;
	struct fake *f = self;
	const unsigned worker = draw(f, WORKERS);
	const int task = f->task[worker];

	(void)timeout_ms;
	if (!f->most_answers)
		return nm_fail(err, NM_EIO, "the transport broke");
	if (task < 0)
		return 0;
	f->task[worker] = -1;
	ret->worker = worker;
	ret->is_lost = (int)draw(f, 1000) < f->deaths;
	strcpy(ret->text, "signal 9 ended it");
	if (ret->is_lost)
		return 1;
	f->most_answers--;
	f->answered[task]++;
	outcome = (struct nm_sweep_outcome){.failed = task % 7 == 3,
					    .remark = task % 7 == 3 ? "no such thing" : NULL,
					    .references = (uint64_t)task};
	outcome.machine.count = 1;
	outcome.totals[0].reads = (uint64_t)task;
	nm_sweep_write_outcome(&outcome, ret->text);
	return 1;
}

static void show(void *self, const struct nm_sweep_progress *progress)
{
	(void)self;
	assert_true(progress->earlier + progress->done <= progress->tasks);
}

static void make_plan(struct nm_sweep_plan *plan)
{
	for (int i = 0; i < TASKS; i++) {
		const struct nm_sweep_task task = {.kind = "nest",
						   .input = "a.nest",
						   .settings = nm_intern_format(&plan->pool, "N=%d", i),
						   .machine = "m",
						   .level = "L1d",
						   .policy = "lru",
						   .size = 1024,
						   .spec = "L1d=1K,2,64",
						   .work = TASKS - i};

		assert_int_equal(nm_vec_push(&plan->tasks, task), 0);
	}
}

static int sweep(struct fake *f, const struct nm_sweep_plan *plan, int again,
		 struct nm_sweep_progress *progress)
{
	const struct nm_sweep_transport transport = {WORKERS, fake_send, fake_receive, f};
	struct nm_sweep_request request = {
	    .plan = plan, .transport = &transport, .again = again, .progress = show};
	struct nm_sweep_run run;
	struct nm_error err;
	int status;

	for (unsigned i = 0; i < WORKERS; i++)
		f->task[i] = -1;
	assert_int_equal(nm_sweep_file_open(&request.file, "s.nmp", &err), 0);
	status = nm_sweep_run(&request, progress, &run, &err);
	nm_sweep_file_close(request.file);
	assert_int_equal(f->ended, WORKERS);
	return status;
}

static int64_t ask(const char *sql)
{
	sqlite3_stmt *query;
	sqlite3 *db;
	int64_t found;

	assert_int_equal(sqlite3_open("s.nmp", &db), 0);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), 0);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	found = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	sqlite3_close(db);
	return found;
}

static void expect_rows(void)
{
	assert_int_equal(ask("SELECT count(*) FROM tasks WHERE state = 'waiting'"), 0);
	assert_int_equal(ask("SELECT count(*) FROM tasks"), TASKS);
	assert_int_equal(
	    ask("SELECT count(*) FROM tasks WHERE state = 'done' AND reads <> CAST(substr(settings, 3) AS INTEGER)"),
	    0);
	assert_int_equal(ask("SELECT count(*) FROM processes"),
			 ask("SELECT count(*) FROM tasks WHERE state = 'done'"));
}

static void test_order(void **state)
{
	struct nm_sweep_plan plan = {.path = "plan"};
	struct fake f = {.last = -1, .seed = 1, .most_answers = -1};
	struct nm_sweep_progress progress;

	(void)state;
	remove("s.nmp");
	make_plan(&plan);
	assert_int_equal(sweep(&f, &plan, 0, &progress), 0);
	assert_int_equal(f.order_broken, 0);
	for (int i = 0; i < TASKS; i++)
		assert_true(f.given[i] == 1 && f.answered[i] == 1);
	assert_int_equal(progress.done, TASKS);
	assert_int_equal(progress.failed, ask("SELECT count(*) FROM tasks WHERE state = 'failed'"));
	assert_int_equal(progress.failed, 6); /* 3, 10, ... */
	expect_rows();

	/* Nothing is left; then the failed ones are run again. */
	f = (struct fake){.last = -1, .seed = 1, .most_answers = -1};
	assert_int_equal(sweep(&f, &plan, 0, &progress), 0);
	assert_true(progress.earlier == TASKS && !progress.done);
	f = (struct fake){.last = -1, .seed = 1, .most_answers = -1};
	assert_int_equal(sweep(&f, &plan, 1, &progress), 0);
	assert_int_equal(progress.done, 6);
	expect_rows();
	nm_sweep_plan_done(&plan);
}

/* A task whose worker dies is given out once more; after the second death it has failed. */
static void test_deaths(void **state)
{
	struct nm_sweep_plan plan = {.path = "plan"};
	int twice = 0;

	(void)state;
	make_plan(&plan);
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct fake f = {.last = -1, .seed = seed, .most_answers = -1, .deaths = 300};
		struct nm_sweep_progress progress;

		remove("s.nmp");
		assert_int_equal(sweep(&f, &plan, 0, &progress), 0);
		for (int i = 0; i < TASKS; i++) {
			assert_in_range(f.given[i], 1, 2);
			assert_true(f.answered[i] == 1 || (f.answered[i] == 0 && f.given[i] == 2));
			twice += !f.answered[i];
		}
		expect_rows();
	}
	assert_true(twice > 0);
	nm_sweep_plan_done(&plan);
}

/* A sweep that breaks off at any point is continued: what was answered is not given out again. */
static void test_continues(void **state)
{
	struct nm_sweep_plan plan = {.path = "plan"};

	(void)state;
	make_plan(&plan);
	for (int first = 0; first < TASKS; first += 3) {
		struct fake a = {.last = -1, .seed = 5, .most_answers = first},
			    b = {.last = -1, .seed = 6, .most_answers = -1};
		struct nm_sweep_progress progress;

		remove("s.nmp");
		assert_int_equal(sweep(&a, &plan, 0, &progress), NM_EIO);
		assert_int_equal(sweep(&b, &plan, 0, &progress), 0);
		for (int i = 0; i < TASKS; i++)
			assert_int_equal(a.answered[i] + b.given[i], 1);
		expect_rows();
	}
	nm_sweep_plan_done(&plan);
}

/* What the plan no longer has is forgotten if it waits; what has changed is run again. */
static void test_changes(void **state)
{
	struct nm_sweep_plan plan = {.path = "plan"};
	struct fake a = {.last = -1, .seed = 5, .most_answers = 10},
		    b = {.last = -1, .seed = 6, .most_answers = -1};
	struct nm_sweep_progress progress;

	(void)state;
	remove("s.nmp");
	make_plan(&plan);
	assert_int_equal(sweep(&a, &plan, 0, &progress), NM_EIO);
	plan.tasks.count = 5;
	for (size_t i = 0; i < 5; i++)
		plan.tasks.at[i].modified = 7;
	assert_int_equal(sweep(&b, &plan, 0, &progress), 0);
	for (int i = 0; i < TASKS; i++)
		assert_int_equal(b.given[i], i < 5);
	assert_int_equal(ask("SELECT count(*) FROM tasks"), 10);
	assert_int_equal(ask("SELECT count(*) FROM tasks WHERE state = 'waiting'"), 0);
	nm_sweep_plan_done(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_deaths),
					   cmocka_unit_test(test_continues), cmocka_unit_test(test_changes)};

	return cmocka_run_group_tests(tests, enter_temporary_folder, remove_temporary_folder);
}
