/* SPDX-License-Identifier: MIT
 *
 * local.c - see local.h. A worker is a fork with a socket that keeps messages apart (SOCK_SEQPACKET).
 */
#include "local.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "old_glibc.h"
#include "vector.h"

struct worker {
	pid_t pid;
	int socket;
};

struct nm_sweep_local {
	struct nm_sweep_transport transport;
	struct nm_vec(struct worker) workers;
	struct pollfd *polled; /* [workers] */
};

/* ---- the worker ---- */

enum { SOCKET = 3 };

static void serve_tasks(int socket, pid_t master)
{
	static char task[NM_SWEEP_MESSAGE], answer[NM_SWEEP_MESSAGE];
	ssize_t n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != master)
		_exit(0);
	/* No other worker's socket and no lock of the master's stays open here. */
	if (dup2(socket, SOCKET) < 0 || close_range(SOCKET + 1, ~0u, 0))
		_exit(1);
	while ((n = recv(SOCKET, task, sizeof task - 1, 0)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		task[n] = '\0';
		nm_sweep_work(task, answer);
		if (send(SOCKET, answer, strlen(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* ---- the master ---- */

static int start(struct worker *worker, struct nm_error *err)
{
	const pid_t master = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		nm_fail_errno(err, "cannot start a worker");
		return NM_EIO;
	}
	fflush(NULL);
	worker->pid = fork();
	if (!worker->pid)
		serve_tasks(pair[1], master);
	close(pair[1]);
	worker->socket = pair[0];
	if (worker->pid > 0)
		return 0;
	nm_fail_errno(err, "cannot start a worker");
	close(pair[0]);
	return NM_EIO;
}

/* Waits for its end, and says how that was. */
static void end(struct worker *worker, char *how, size_t room)
{
	int status = 0;

	close(worker->socket);
	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		snprintf(how, room, "signal %d (%s) ended it", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(how, room, "it ended with status %d", WEXITSTATUS(status));
}

static int send_text(void *self, unsigned worker, const char *text, struct nm_error *err)
{
	struct nm_sweep_local *local = self;

	if (!*text) {
		shutdown(local->workers.at[worker].socket, SHUT_WR);
		return 0;
	}
	while (send(local->workers.at[worker].socket, text, strlen(text), MSG_NOSIGNAL) < 0) {
		if (errno == EINTR)
			continue;
		if (errno == EPIPE || errno == ECONNRESET)
			return 0;
		nm_fail_errno(err, "cannot send a task to a worker");
		return NM_EIO;
	}
	return 0;
}

/* Reads what a worker has sent, or replaces it. */
static int take_message(struct nm_sweep_local *local, unsigned i, struct nm_sweep_received *ret,
			struct nm_error *err)
{
	struct worker *worker = &local->workers.at[i];
	const ssize_t n = recv(worker->socket, ret->text, sizeof ret->text - 1, 0);

	assert(i < local->workers.count);
	if (n < 0 && errno == EINTR)
		return 0;
	ret->worker = i;
	ret->is_lost = n <= 0;
	if (n > 0) {
		ret->text[n] = '\0';
		return 1;
	}
	end(worker, ret->text, sizeof ret->text);
	worker->pid = 0;
	return start(worker, err) ? NM_EIO : 1;
}

static int receive_message(void *self, int timeout_ms, struct nm_sweep_received *ret, struct nm_error *err)
{
	struct nm_sweep_local *local = self;
	int ready;

	for (unsigned i = 0; i < local->transport.workers; i++)
		local->polled[i] = (struct pollfd){.fd = local->workers.at[i].socket, .events = POLLIN};
	ready = poll(local->polled, local->transport.workers, timeout_ms);
	for (unsigned i = 0; i < local->transport.workers && ready > 0; i++)
		if (local->polled[i].revents)
			return take_message(local, i, ret, err);
	return 0;
}

int nm_sweep_local_new(struct nm_sweep_local **ret_local, unsigned workers, struct nm_error *err)
{
	struct nm_sweep_local *local = calloc(1, sizeof *local);
	int status = 0;

	assert(workers > 0);
	if (!local)
		return nm_fail_memory(err);
	local->transport = (struct nm_sweep_transport){workers, send_text, receive_message, local};
	local->polled = calloc(workers, sizeof *local->polled);
	if (!local->polled || nm_vec_reserve(&local->workers, workers))
		status = nm_fail_memory(err);
	for (unsigned i = 0; i < workers && !status; i++) {
		status = start(&local->workers.at[i], err);
		local->workers.count += !status;
	}
	if (status)
		nm_sweep_local_free(local);
	else
		*ret_local = local;
	return status;
}

const struct nm_sweep_transport *nm_sweep_local_transport(const struct nm_sweep_local *local)
{
	return &local->transport;
}

void nm_sweep_local_free(struct nm_sweep_local *local)
{
	char how[100];

	for (size_t i = 0; i < local->workers.count; i++)
		if (local->workers.at[i].pid > 0) {
			kill(local->workers.at[i].pid, SIGKILL);
			end(&local->workers.at[i], how, sizeof how);
		}
	nm_vec_free(&local->workers);
	free(local->polled);
	free(local);
}
