/* SPDX-License-Identifier: MIT */
#include "control.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 8, PATIENCE_S = 1 /* for a request that does not come whole */ };

static socklen_t name_socket(pid_t recorder, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	return (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 +
	       (socklen_t)snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "nearmiss-record-%d",
				   (int)recorder);
}

/* Reads a line, without its end. 1, or 0: none came. */
static int read_line(int from, char line[NM_CONTROL_LINE])
{
	size_t length = 0;

	while (length < NM_CONTROL_LINE - 1) {
		const ssize_t n = read(from, line + length, NM_CONTROL_LINE - 1 - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		length += (size_t)n;
		if (line[length - 1] == '\n') {
			line[length - 1] = 0;
			return 1;
		}
	}
	return 0;
}

/* ---- in the recorder ---- */

static volatile sig_atomic_t signalled; /* enum nm_control_kind: by the latest signal */

static void note_signal(int number) { signalled = number == SIGUSR1 ? NM_CONTROL_START : NM_CONTROL_STOP; }

static void take_signal(int number)
{
	const struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
	struct sigaction before;

	if (!sigaction(number, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

void nm_control_open(struct nm_control *c)
{
	struct sockaddr_un address;
	const socklen_t length = name_socket(getpid(), &address);

	c->client = -1;
	c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->listener >= 0 &&
	    (bind(c->listener, (struct sockaddr *)&address, length) || listen(c->listener, BACKLOG))) {
		close(c->listener);
		c->listener = -1;
	}
	take_signal(SIGUSR1);
	take_signal(SIGUSR2);
}

void nm_control_close(struct nm_control *c)
{
	if (c->client >= 0)
		close(c->client);
	if (c->listener >= 0)
		close(c->listener);
	c->client = c->listener = -1;
}

static int may_command(int client)
{
	struct ucred peer;
	socklen_t length = sizeof peer;

	return !getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &length) &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

static enum nm_control_kind read_request(struct nm_control *c, const char **ret_path)
{
	static const char snapshot[] = "snapshot";
	const size_t length = sizeof snapshot - 1;

	*ret_path = "";
	if (!read_line(c->client, c->line))
		return NM_CONTROL_NONE;
	if (!strcmp(c->line, "start"))
		return NM_CONTROL_START;
	if (!strcmp(c->line, "stop"))
		return NM_CONTROL_STOP;
	if (strncmp(c->line, snapshot, length) != 0)
		return NM_CONTROL_NONE;
	*ret_path = c->line + length + (c->line[length] == ' ');
	return NM_CONTROL_SNAPSHOT;
}

enum nm_control_kind nm_control_next(struct nm_control *c, const char **ret_path)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	enum nm_control_kind kind = (enum nm_control_kind)signalled;

	signalled = NM_CONTROL_NONE;
	if (kind || c->listener < 0 || (c->client = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
		return kind;
	setsockopt(c->client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (may_command(c->client))
		kind = read_request(c, ret_path);
	if (!kind)
		nm_control_answer(c, 0, "the request is not understood");
	return kind;
}

void nm_control_answer(struct nm_control *c, int is_done, const char *sentence)
{
	char line[NM_CONTROL_LINE];
	int length;

	if (c->client < 0) /* the command was a signal */
		return;
	length = snprintf(line, sizeof line - 1, "%s %s", is_done ? "ok" : "no", sentence);
	if (length > NM_CONTROL_LINE - 2)
		length = NM_CONTROL_LINE - 2;
	line[length++] = '\n';
	if (send(c->client, line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		/* whoever asked has gone */
	}
	close(c->client);
	c->client = -1;
}

/* ---- elsewhere ---- */

/* The process that a process descends from; 0: there is none, or none that is seen. */
static pid_t parent_of(pid_t pid)
{
	char path[64], line[256];
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f) && sscanf(line, "PPid: %d", &parent) != 1)
		;
	if (f)
		fclose(f);
	return parent;
}

/* A socket, or -1. */
static int connect_recorder(pid_t pid)
{
	for (pid_t at = pid; at > 0; at = parent_of(at)) {
		struct sockaddr_un address;
		const socklen_t length = name_socket(at, &address);
		const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (s < 0 || !connect(s, (struct sockaddr *)&address, length))
			return s;
		close(s);
	}
	return -1;
}

int nm_control_ask(pid_t pid, const char *request, char answer[NM_CONTROL_LINE], struct nm_error *err)
{
	const int s = connect_recorder(pid);
	char line[NM_CONTROL_LINE];
	int length, is_answered;

	if (s < 0)
		return nm_fail(err, NM_EINVAL, "process %d is no nearmiss record, nor is it recorded by one",
			       (int)pid);
	length = snprintf(line, sizeof line, "%s\n", request);
	is_answered = length < NM_CONTROL_LINE && send(s, line, (size_t)length, MSG_NOSIGNAL) == length &&
		      read_line(s, line);
	close(s);
	if (!is_answered)
		return nm_fail(err, NM_EIO, "the recording ended without an answer");
	if (strncmp(line, "ok ", 3) != 0)
		return nm_fail(err, NM_EIO, "%s", line + 3);
	memcpy(answer, line + 3, strlen(line + 3) + 1);
	return 0;
}
