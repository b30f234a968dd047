/* SPDX-License-Identifier: MIT
 *
 * A worker has one task at a time, and gets the next, the largest that is left, with its answer. So no worker has less
 * than the others until none is left, and a task that is lost with its worker is known. Such a task is given out once
 * more; if that too ends its worker, it has failed.
 *
 * Results are committed every COMMIT_MS: short tasks share a commit, and no more than that is run again after a kill.
 */
#include "master.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "words.h"

enum { COMMIT_MS = 200, PROGRESS_MS = 500, ATTEMPTS = 2 };

struct waiting {
	const struct nm_sweep_task *task;
	int64_t id;
	unsigned attempts;
};

struct master {
	const struct nm_sweep_request *request;
	struct nm_vec(struct waiting) tasks; /* without a result, the largest first */
	size_t next;
	struct nm_vec(size_t) lost;    /* whose workers ended: they go first */
	struct nm_vec(size_t) running; /* [worker]: number of its task + 1; 0: it has none */
	double work, work_done;
	int is_dirty; /* results were taken since the last commit */
	double begun_ms, committed_ms, shown_ms;
	struct nm_sweep_progress progress;
	struct nm_sweep_run run;
	struct nm_error *err;
};

/* ---- tasks ---- */

static int enter_tasks(struct master *m)
{
	const struct nm_sweep_plan *plan = m->request->plan;
	struct nm_sweep_file *file = m->request->file;
	int status = 0;

	for (size_t i = 0; i < plan->tasks.count && !status; i++) {
		struct waiting w = {.task = &plan->tasks.at[i]};
		enum nm_sweep_state state;

		status = nm_sweep_file_enter(file, w.task, m->request->again, &w.id, &state, m->err);
		if (status)
			break;
		if (state != NM_SWEEP_WAITING) {
			m->progress.earlier++;
		} else if (nm_vec_push(&m->tasks, w)) {
			status = nm_fail_memory(m->err);
		}
		m->work += state == NM_SWEEP_WAITING ? w.task->work : 0;
	}
	m->progress.tasks = plan->tasks.count;
	return status ? status : nm_sweep_file_entered(file, m->err);
}

static int send_text(struct master *m, unsigned worker, const char *text)
{
	m->run.messages++;
	m->run.bytes += strlen(text);
	return m->request->transport->send(m->request->transport->self, worker, text, m->err);
}

/* Gives a worker the next task, if there is one. */
static int give(struct master *m, unsigned worker)
{
	char text[NM_SWEEP_MESSAGE];
	size_t i;

	assert(worker < m->running.count);
	m->running.at[worker] = 0;
	if (m->lost.count)
		i = m->lost.at[--m->lost.count];
	else if (m->next < m->tasks.count)
		i = m->next++;
	else
		return 0;
	m->running.at[worker] = i + 1;
	m->tasks.at[i].attempts++;
	if (nm_sweep_write_task(m->tasks.at[i].task, text))
		return nm_fail(m->err, NM_EINVAL, "the task of %s is too long to be sent",
			       m->tasks.at[i].task->input);
	return send_text(m, worker, text);
}

/* ---- results ---- */

static int take_outcome(struct master *m, const struct waiting *w, const struct nm_sweep_outcome *outcome)
{
	m->is_dirty = 1;
	m->work_done += w->task->work;
	m->progress.done++;
	if (outcome->failed && !m->progress.failed++)
		snprintf(m->progress.first_failure, sizeof m->progress.first_failure,
			 "%.100s on %.60s: %.120s", w->task->input, w->task->machine,
			 outcome->remark ? outcome->remark : "no reason was given");
	m->run.tasks++;
	m->run.busy += outcome->seconds;
	return nm_sweep_file_take(m->request->file, w->id, outcome, m->err);
}

/* The worker of a task has ended without an answer. */
static int take_loss(struct master *m, size_t i, const struct nm_sweep_received *r)
{
	const struct waiting *w = &m->tasks.at[i];
	char remark[300];

	assert(i < m->tasks.count);
	if (w->attempts < ATTEMPTS)
		return nm_vec_push(&m->lost, i) ? nm_fail_memory(m->err) : 0;
	snprintf(remark, sizeof remark,
		 "the process that ran it did not come to an end, in %d attempts: %.200s", ATTEMPTS, r->text);
	return take_outcome(m, w,
			    &(struct nm_sweep_outcome){.failed = 1, .remark = remark, .worker = r->worker});
}

static int take_answer(struct master *m, size_t i, struct nm_sweep_received *r)
{
	static struct nm_sweep_outcome outcome;
	const struct waiting *w = &m->tasks.at[i];
	unsigned levels;
	int status;

	assert(i < m->tasks.count);
	m->run.messages++;
	m->run.bytes += strlen(r->text);
	outcome = (struct nm_sweep_outcome){.worker = r->worker};
	status = nm_sweep_read_outcome(r->text, &outcome);
	levels = outcome.machine.count;
	outcome.worker = r->worker;
	if (!status && !outcome.failed)
		status = nm_machine_parse(w->task->spec, &outcome.machine, m->err) ||
			 outcome.machine.count != levels;
	return status ? nm_fail(m->err, NM_EFORMAT,
				"worker %u gave an answer that cannot be: is it of this version?", r->worker)
		      : take_outcome(m, w, &outcome);
}

/* Takes a message, and gives its worker the next task. */
static int take_message(struct master *m, struct nm_sweep_received *r)
{
	const size_t running = m->running.at[r->worker];
	int status = 0;

	if (running)
		status = r->is_lost ? take_loss(m, running - 1, r) : take_answer(m, running - 1, r);
	return status ? status : give(m, r->worker);
}

/* ---- the loop ---- */

static int is_over(const struct master *m)
{
	return m->progress.earlier + m->progress.done == m->progress.tasks;
}

static int commit(struct master *m)
{
	m->committed_ms = nm_now_ms();
	m->is_dirty = 0;
	return nm_sweep_file_commit(m->request->file, m->err);
}

static void show_progress(struct master *m)
{
	const double now = nm_now_ms();

	if (now - m->shown_ms < PROGRESS_MS)
		return;
	m->shown_ms = now;
	m->progress.seconds_left =
	    m->work_done > 0 ? (now - m->begun_ms) / 1e3 * (m->work - m->work_done) / m->work_done : -1;
	m->request->progress(m->request->self, &m->progress);
}

/* How long a message can be waited for: until what was taken is to be committed. */
static int patience(const struct master *m)
{
	const double rest = m->committed_ms + COMMIT_MS - nm_now_ms();

	return !m->is_dirty || rest > PROGRESS_MS ? PROGRESS_MS : rest > 0 ? (int)rest + 1 : 0;
}

static int run_tasks(struct master *m)
{
	static struct nm_sweep_received received;
	const struct nm_sweep_transport *t = m->request->transport;
	int status = 0;

	for (unsigned i = 0; i < t->workers && !status; i++)
		status = give(m, i);
	while (!status && !is_over(m)) {
		const int more = t->receive(t->self, patience(m), &received, m->err);

		status = more < 0 ? more : more ? take_message(m, &received) : 0;
		if (!status && m->is_dirty && nm_now_ms() - m->committed_ms >= COMMIT_MS)
			status = commit(m);
		if (!status)
			show_progress(m);
	}
	return status;
}

static void end_workers(struct master *m)
{
	for (unsigned i = 0; i < m->request->transport->workers; i++)
		send_text(m, i, "");
}

int nm_sweep_run(const struct nm_sweep_request *request, struct nm_sweep_progress *ret_progress,
		 struct nm_sweep_run *ret_run, struct nm_error *err)
{
	struct master m = {.request = request, .err = err, .run = {.workers = request->transport->workers}};
	int status, ended;

	assert(request->transport->workers && request->progress);
	m.begun_ms = m.committed_ms = m.shown_ms = nm_now_ms();
	m.progress.seconds_left = -1;
	status =
	    nm_vec_reach(&m.running, request->transport->workers) ? nm_fail_memory(err) : enter_tasks(&m);
	if (!status)
		status = run_tasks(&m);
	end_workers(&m);
	m.run.seconds = (nm_now_ms() - m.begun_ms) / 1e3;
	ended = !status && m.run.tasks ? nm_sweep_file_note_run(request->file, &m.run, err) : 0;
	if (!ended)
		ended = nm_sweep_file_commit(request->file, status ? NULL : err);
	*ret_progress = m.progress;
	*ret_run = m.run;
	nm_vec_free(&m.tasks);
	nm_vec_free(&m.lost);
	nm_vec_free(&m.running);
	return status ? status : ended;
}
