/* SPDX-License-Identifier: MIT
 *
 * Processes that the program leaves in the background are sampled for GRACE_MS more.
 *
 * With page faults, transparent huge pages are switched off for the program: each page has a first touch.
 */
#include "program_sampler.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "heap_events.h"
#include "heap_shim.h"
#include "launch.h"
#include "sampling.h"
#include "signals_forward.h"

enum { GRACE_MS = 2000 };

struct sampler {
	const struct nm_sample_request *request;
	struct nm_sampling sampling;
	char program[4096]; /* path of its file */
	char library[4096]; /* that notes its allocations */
	pid_t pid;
	int exited, exit_status;
	double exited_ms;
};

/* ---- the program's start ------------------------------------------------------------------------ */

struct start {
	int go[2];      /* the child waits for its end */
	int failure[2]; /* and tells errno here, if it cannot execute the program */
};

static void close_both(int fds[2])
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	fds[0] = fds[1] = -1;
}

/* In the child. */
static void exec_program(const struct sampler *s, struct start *start, const sigset_t *ignored)
{
	char byte;
	int error;

	close(start->go[1]);
	while (read(start->go[0], &byte, 1) < 0 && errno == EINTR)
		;
	nm_signals_restore(ignored);
	if (s->sampling.heap >= 0)
		nm_heap_shim_set(s->library, getppid(), s->sampling.heap);
	if (s->sampling.event.kind == NM_SAMPLED_FAULTS)
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	execv(s->program, s->request->argv);
	error = errno;
	while (write(start->failure[1], &error, sizeof error) < 0 && errno == EINTR)
		;
	_exit(NM_STATUS_NO_PROGRAM);
}

/* Lets the child go: 0 when it has executed the program, else a status. */
static int let_go(struct sampler *s, struct start *start, struct nm_error *err)
{
	int error = 0;
	ssize_t n;

	close(start->failure[1]);
	start->failure[1] = -1;
	close_both(start->go);
	do
		n = read(start->failure[0], &error, sizeof error);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	errno = error;
	nm_fail_errno(err, "cannot run %s", s->program);
	return NM_STATUS_NOT_EXECUTABLE;
}

static int start_program(struct sampler *s, const sigset_t *ignored, struct nm_error *err)
{
	struct start start = {{-1, -1}, {-1, -1}};
	int status = NM_STATUS_FAILED;

	if (pipe2(start.go, O_CLOEXEC) || pipe2(start.failure, O_CLOEXEC) || (s->pid = fork()) < 0) {
		nm_fail_errno(err, "cannot start %s", s->program);
		s->pid = 0;
	} else if (!s->pid) {
		exec_program(s, &start, ignored);
	} else if (!nm_rings_watch(s->sampling.rings, s->pid, 0, err)) {
		status = let_go(s, &start, err);
	} else {
		kill(s->pid, SIGKILL);
	}
	close_both(start.go);
	close_both(start.failure);
	if (status && s->pid > 0)
		waitpid(s->pid, NULL, 0);
	return status;
}

/* ---- while it runs ------------------------------------------------------------------------------ */

static void poll_exit(struct sampler *s, int options)
{
	int wait_status;

	if (s->exited || waitpid(s->pid, &wait_status, options) != s->pid)
		return;
	s->exited = 1;
	s->exited_ms = nm_now_ms();
	s->exit_status = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
	nm_signals_forward_to(0);
}

/* Until all has ended. 0, or -1 if samples cannot be written (errno). */
static int follow_programs(struct sampler *s)
{
	for (;;) {
		int ended;

		if (nm_sampling_turn(&s->sampling, &ended))
			return -1;
		poll_exit(s, ended ? 0 : WNOHANG);
		if (s->exited && (ended || nm_now_ms() - s->exited_ms > GRACE_MS)) {
			if (!ended)
				s->request->feedback.warn(
				    "processes left in the background are no longer sampled");
			return nm_sampling_end(&s->sampling);
		}
	}
}

static void run_sampler(struct sampler *s)
{
	nm_signals_forward_to(s->pid);
	if (follow_programs(s))
		s->request->feedback.warn("samples are no longer kept: %s", strerror(errno));
	while (!s->exited)
		poll_exit(s, 0);
}

/* ---- one run ------------------------------------------------------------------------------------ */

/* Without it, the heap is one object. */
static void open_heap(struct sampler *s)
{
	const char *reason = nm_heap_shim_find(s->program, s->library, sizeof s->library);
	struct nm_error err;

	if (!reason) {
		s->sampling.heap = nm_sampling_file(&s->sampling);
		reason =
		    s->sampling.heap < 0 || nm_heap_log_begin(s->sampling.heap, s->request->heap_from, &err)
			? "it cannot be kept"
			: NULL;
	}
	if (!reason)
		return;
	s->request->feedback.warn("the heap is one object, as its blocks are not noted: %s", reason);
	if (s->sampling.heap >= 0)
		close(s->sampling.heap);
	s->sampling.heap = -1;
}

static int prepare_sampler(struct sampler *s, struct nm_error *err)
{
	sigset_t ignored;
	int status;

	switch (nm_launch_resolve(s->request->argv[0], s->program, sizeof s->program, err)) {
	case 0: break;
	case NM_LAUNCH_NO_PROGRAM: return NM_STATUS_NO_PROGRAM;
	default: return NM_STATUS_NOT_EXECUTABLE;
	}
	status = nm_sampling_open(&s->sampling, s->request, s->request->argv, err);
	if (status)
		return status;
	if (!s->request->is_without_heap && s->sampling.event.kind != NM_SAMPLED_CLOCK)
		open_heap(s);
	sigemptyset(&ignored);
	nm_signals_ignore_failed_writes(&ignored);
	nm_signals_catch(&ignored);
	return start_program(s, &ignored, err);
}

int nm_sample(const struct nm_sample_request *request, int *ret_exit_status, int *ret_has_result,
	      struct nm_error *err)
{
	struct sampler s = {.request = request, .sampling = {.heap = -1}};
	int status;

	assert(request->argv[0] && request->feedback.warn);
	*ret_has_result = 0;
	status = prepare_sampler(&s, err);
	if (!status) {
		run_sampler(&s);
		status = nm_sampling_import(&s.sampling, ret_has_result, err);
	}
	nm_sampling_done(&s.sampling);
	if (!status)
		*ret_exit_status = s.exit_status;
	return status;
}
