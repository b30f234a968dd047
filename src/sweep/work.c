/* SPDX-License-Identifier: MIT
 *
 * work.c - what a worker does: replays a trace, or simulates a nest, and adds the counts of its processes up.
 *
 * A worker has one task at a time, and warnings come without an argument: so the first of them is kept in a variable.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "nest_runner.h"
#include "replayer.h"
#include "session.h"
#include "words.h"

static char warning[400];

static void keep_warning(const char *format, ...)
{
	va_list args;

	if (*warning)
		return;
	va_start(args, format);
	vsnprintf(warning, sizeof warning, format, args);
	va_end(args);
}

static int add_result(void *arg, const struct nm_result *result, struct nm_error *err)
{
	struct nm_sweep_outcome *outcome = arg;

	(void)err;
	outcome->instructions += result->instructions;
	outcome->references += result->references;
	for (unsigned i = 0; i < outcome->machine.count; i++)
		nm_counts_add(&outcome->totals[i], &result->levels[i].total);
	return 0;
}

static int receive_results(void *self, struct nm_session *session, struct nm_error *err)
{
	return nm_session_each(session, add_result, self, err);
}

static int replay(const struct nm_run_request *run, const struct nm_sweep_task *task, struct nm_error *err)
{
	const struct nm_run_replay_request request = {.run = *run, .input = task->input};
	int has_result;

	return nm_run_replay(&request, &has_result, err);
}

static int run_nest(const struct nm_run_request *run, const struct nm_sweep_task *task, struct nm_error *err)
{
	struct nm_sweep_settings settings = {0};
	int status = nm_sweep_split_settings(task->settings, &settings);

	status =
	    status ? nm_fail_memory(err)
		   : nm_nest_simulate(&(struct nm_nest_run_request){.run = *run,
								    .path = task->input,
								    .settings = settings.list.at,
								    .setting_count = settings.list.count - 1},
				      err);
	nm_sweep_settings_done(&settings);
	return status;
}

static int run_task(const struct nm_sweep_task *task, struct nm_sweep_outcome *outcome, struct nm_error *err)
{
	const struct nm_result_receiver receiver = {receive_results, outcome};
	const struct nm_run_request request = {.engine = {.machine = &outcome->machine, .threads = 1},
					       .receiver = &receiver,
					       .feedback = {.warn = keep_warning}};
	int status = nm_machine_parse(task->spec, &outcome->machine, err);

	if (status)
		return status;
	return strcmp(task->kind, "nest") ? replay(&request, task, err) : run_nest(&request, task, err);
}

void nm_sweep_work(const char *text, char *answer)
{
	static struct nm_sweep_outcome outcome;
	const double begin = nm_now_ms();
	struct nm_sweep_task task;
	struct nm_error err;
	char *words = strdup(text);

	outcome = (struct nm_sweep_outcome){.failed = 1};
	*warning = '\0';
	if (!words)
		nm_fail_memory(&err);
	else if (nm_sweep_read_task(words, &task))
		nm_fail(&err, NM_EINVAL, "this worker is of another version than its master");
	else
		outcome.failed = run_task(&task, &outcome, &err) != 0;
	outcome.remark = outcome.failed ? err.text : *warning ? warning : NULL;
	outcome.seconds = (nm_now_ms() - begin) / 1e3;
	nm_sweep_write_outcome(&outcome, answer);
	free(words);
}
