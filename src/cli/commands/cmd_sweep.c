/* SPDX-License-Identifier: MIT
 *
 * cmd_sweep.c - nearmiss sweep PLAN: simulates many inputs with many caches, on all processors or ranks.
 */
#include "cmd_sweep.h"

#include <math.h>
#include <unistd.h>

#include "clock.h"
#include "local.h"
#include "master.h"
#include "message.h"
#include "output.h"

struct sweep_options {
	const char *output;
	int64_t jobs;
	int again, quiet;
};

enum { MOST_JOBS = 1024, SAY_MS = 60000 };

const struct nm_sweep_transport *nm_sweep_ranks;

static const struct nm_option options[] = {
    {"output", 'o', "FILE", "write the results there, or go on with them (sweep.nmp)", NM_OPTION_TEXT,
     offsetof(struct sweep_options, output), NULL},
    {"jobs", 'j', "N", "run N tasks at once (0: one for each processor)", NM_OPTION_NUMBER,
     offsetof(struct sweep_options, jobs), NULL},
    {"again", 0, NULL, "run tasks again that failed", NM_OPTION_FLAG, offsetof(struct sweep_options, again),
     NULL},
    {"quiet", 'q', NULL, "no progress, and do not say what was done", NM_OPTION_FLAG,
     offsetof(struct sweep_options, quiet), NULL},
};

/* Shows how far it is: in the terminal's last line, or once a minute in a log. */
static void show_progress(void *self, const struct nm_sweep_progress *p)
{
	static double said_ms;
	const struct sweep_options *o = self;
	const size_t done = p->earlier + p->done;

	if (o->quiet)
		return;
	if (isatty(STDERR_FILENO)) {
		nm_message_tasks(done, p->tasks, p->seconds_left);
		return;
	}
	if (!said_ms)
		said_ms = nm_now_ms();
	if (nm_now_ms() - said_ms < SAY_MS)
		return;
	said_ms = nm_now_ms();
	if (p->seconds_left < 0)
		nm_message("%zu of %zu tasks", done, p->tasks);
	else
		nm_message("%zu of %zu tasks, about %.0f min left", done, p->tasks,
			   ceil(p->seconds_left / 60));
}

/* Says what was done. */
static int conclude(const struct sweep_options *o, const struct nm_sweep_progress *p,
		    const struct nm_sweep_run *run)
{
	const double all = run->seconds * run->workers;

	nm_message_progress_end();
	if (!o->quiet && p->earlier)
		nm_message("%zu of %zu tasks had a result in %s", p->earlier, p->tasks, o->output);
	if (!o->quiet && p->done)
		nm_message(
		    "%zu task%s in %.1f s, of which %u worker%s spent %.1f %% in tasks: nearmiss report tasks %s "
		    "shows the results",
		    p->done, p->done == 1 ? "" : "s", run->seconds, run->workers,
		    run->workers == 1 ? "" : "s", all > 0 ? 100 * run->busy / all : 0, o->output);
	if (!p->failed)
		return NM_STATUS_OK;
	nm_message(
	    "%zu of %zu tasks failed; the first was %s; nearmiss query \"SELECT * FROM tasks WHERE state = "
	    "'failed'\" %s lists them, --again runs them again",
	    p->failed, p->tasks, p->first_failure, o->output);
	return NM_STATUS_BAD_INPUT;
}

static int sweep(const struct sweep_options *o, const struct nm_sweep_plan *plan,
		 const struct nm_sweep_transport *transport)
{
	struct nm_sweep_request request = {.plan = plan,
					   .transport = transport,
					   .again = o->again,
					   .progress = show_progress,
					   .self = (void *)o};
	struct nm_sweep_progress progress;
	struct nm_sweep_run done;
	struct nm_error err;
	int status = nm_sweep_file_open(&request.file, o->output, &err);

	if (status)
		return nm_failed(&err, NM_STATUS_NO_OUTPUT);
	status = nm_sweep_run(&request, &progress, &done, &err);
	nm_sweep_file_close(request.file);
	return status ? nm_failed(&err, NM_STATUS_NO_OUTPUT) : conclude(o, &progress, &done);
}

static int sweep_here(const struct sweep_options *o, const struct nm_sweep_plan *plan)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t jobs = o->jobs ? (size_t)o->jobs : processors > 0 ? (size_t)processors : 1;
	struct nm_sweep_local *local;
	struct nm_error err;
	int status;

	if (jobs > plan->tasks.count)
		jobs = plan->tasks.count;
	if (nm_sweep_local_new(&local, (unsigned)jobs, &err))
		return nm_failed(&err, NM_STATUS_FAILED);
	status = sweep(o, plan, nm_sweep_local_transport(local));
	nm_sweep_local_free(local);
	return status;
}

static int run_sweep(const struct nm_command *self, int argc, char **argv)
{
	struct sweep_options o = {.output = "sweep.nmp"};
	struct nm_sweep_plan plan = {.path = NULL};
	struct nm_operands operands;
	struct nm_error err;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (operands.count != 1)
		return nm_usage(self, operands.count ? "name one plan, not several" : "name a plan");
	if (o.jobs > MOST_JOBS)
		return nm_usage(self, "--jobs takes a number from 1 to %d", MOST_JOBS);
	if (o.jobs && nm_sweep_ranks)
		return nm_usage(
		    self, "--jobs is for processes of one machine: the launcher chooses the number of ranks");
	status = nm_refuse_same_file(o.output, operands.at[0], "input");
	if (status)
		return status;
	if (nm_sweep_plan_read(&plan, operands.at[0], &err))
		status = nm_failed(&err, err.code == NM_EINVAL ? NM_STATUS_USAGE : NM_STATUS_BAD_INPUT);
	else
		status = nm_sweep_ranks ? sweep(&o, &plan, nm_sweep_ranks) : sweep_here(&o, &plan);
	nm_sweep_plan_done(&plan);
	return status;
}

const struct nm_command nm_cmd_sweep = {
    .name = "sweep",
    .summary = "Simulate many traces and loop nests with many caches",
    .operands = "PLAN",
    .details =
	"Runs the tasks of a plan in YAML, inputs times machines times sizes times policies, on all processors; with\n"
	"`mpirun -n N nearmiss-mpi sweep PLAN` on N - 1 ranks.  A sweep that was interrupted goes on where it was:\n\n"
	"  nests: [{file: blocked.nest, set: [N=200, N=256]}]\n"
	"  machines: [zen4, \"L1d=32K,8,64\"]\n"
	"  sizes: [16K, 32K, 64K]\n\n"
	"`nearmiss report tasks`, `curve` and `query` show the results.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_sweep,
};
