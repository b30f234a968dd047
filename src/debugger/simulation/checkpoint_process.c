/* SPDX-License-Identifier: MIT
 *
 * checkpoint_process.c - the process of a checkpoint; see checkpoint_priv.h.
 *
 * Any error of the connection to the debugger ends the process.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "checkpoint_priv.h"
#include "simulation.h"

struct process {
	int socket;
	struct nm_simulation simulation;
	long faults; /* page faults up to the last copy */
	struct nm_checkpoint_request request;
};

static void give_up(void) { _exit(1); }

static void send_answer(const struct process *p, const void *bytes, size_t count)
{
	if (nm_socket_send(p->socket, bytes, count))
		give_up();
}

/* Sends an array: the number of bytes, then the bytes. */
static void answer_array(const struct process *p, const void *bytes, size_t count)
{
	const uint64_t length = count;

	send_answer(p, &length, sizeof length);
	send_answer(p, bytes, count);
}

/* ---- requests ---- */

static void run_request(const struct process *p)
{
	const struct nm_checkpoint_request *r = &p->request;
	struct nm_stop *stops = calloc(r->stop_count + 1, sizeof *stops);
	struct nm_checkpoint_report report;

	if (!stops || nm_socket_receive(p->socket, stops, r->stop_count * sizeof *stops))
		give_up();
	nm_simulation_run(&p->simulation, r->to, r->flags, stops, r->stop_count, &report);
	send_answer(p, &report, sizeof report);
	send_answer(p, stops, r->stop_count * sizeof *stops);
	free(stops);
}

static void tell_slots(const struct process *p)
{
	const struct nm_checkpoint_request *r = &p->request;
	struct nm_slot *slots;
	size_t count;

	if (nm_simulation_slots(&p->simulation, r->level, r->core, r->from, r->to, &slots, &count))
		give_up();
	answer_array(p, slots, count * sizeof *slots);
	free(slots);
}

static void tell_sums(const struct process *p)
{
	size_t count;
	const struct nm_sums *sums =
	    nm_simulation_sums(&p->simulation, p->request.level, (int)p->request.by_set, &count);

	answer_array(p, sums, count * sizeof *sums);
}

static void tell_lines(const struct process *p)
{
	struct nm_line_sum *lines;
	size_t count;

	if (nm_simulation_lines(&p->simulation, p->request.to, p->request.level, &lines, &count))
		give_up();
	answer_array(p, lines, count * sizeof *lines);
	free(lines);
}

static void tell_slot(const struct process *p)
{
	const struct nm_checkpoint_request *r = &p->request;
	const struct nm_found_slot found = nm_simulation_find(&p->simulation, r->level, r->core, r->address);

	send_answer(p, &found, sizeof found);
}

/* ---- copies ---- */

/* Bytes of the pages written since the last call. Each such page faults once, since it is shared with the
 * previous copy. */
static uint64_t take_changed(struct process *p)
{
	const long before = p->faults;
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	p->faults = usage.ru_minflt;
	return (uint64_t)(p->faults - before) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Forks a copy, which continues with its own socket. */
static void fork_copy(struct process *p, int socket)
{
	const uint64_t changed = take_changed(p);
	const pid_t process = socket < 0 ? -1 : fork();
	const struct nm_checkpoint_copied copied = {process < 0 ? errno : 0, process, changed};

	if (!process) {
		close(p->socket);
		p->socket = socket;
		p->faults = 0;
		return;
	}
	if (socket >= 0)
		close(socket);
	send_answer(p, &copied, sizeof copied);
}

/* Receives a request and a descriptor that may be attached. */
static int receive_request(struct process *p, int *ret_descriptor)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec bytes = {&p->request, sizeof p->request};
	struct msghdr message = {
	    .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	const ssize_t n = recvmsg(p->socket, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*ret_descriptor = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(ret_descriptor, CMSG_DATA(c), sizeof *ret_descriptor);
	return n == (ssize_t)sizeof p->request;
}

/* Replaces the debugger's signal handlers: this process ends when its socket is closed. */
static void set_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN); /* copies are not waited for */
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void nm_checkpoint_serve(int socket, struct nm_caches *caches, const struct nm_shared_record *record)
{
	struct process p = {.socket = socket, .simulation = {.caches = caches, .record = record}};
	int descriptor;

	set_signals();
	if (nm_reference_reader_new(&p.simulation.reader, &caches->program->references))
		give_up();
	while (receive_request(&p, &descriptor)) {
		switch (p.request.kind) {
		case NM_REQUEST_COPY: fork_copy(&p, descriptor); break;
		case NM_REQUEST_RUN: run_request(&p); break;
		case NM_REQUEST_SLOTS: tell_slots(&p); break;
		case NM_REQUEST_SUMS: tell_sums(&p); break;
		case NM_REQUEST_LINES: tell_lines(&p); break;
		case NM_REQUEST_FIND: tell_slot(&p); break;
		default: give_up();
		}
	}
	_exit(0);
}

/* ---- socket: whole messages over a socket: see checkpoint_priv.h ---- */

/* Advances *at and *count by the result n of send() or recv(). 1: more to do; 0: done; -1: error. */
static int advance_buffer(ssize_t n, char **at, size_t *count)
{
	if (n < 0 && errno == EINTR)
		return 1;
	if (n <= 0)
		return -1;
	*at += n;
	*count -= (size_t)n;
	return *count != 0;
}

int nm_socket_send(int socket, const void *bytes, size_t count)
{
	char *at = (char *)bytes;
	int more = count != 0;

	assert(bytes || !count);
	while (more > 0)
		more = advance_buffer(send(socket, at, count, MSG_NOSIGNAL), &at, &count);
	return more;
}

int nm_socket_receive(int socket, void *bytes, size_t count)
{
	char *at = bytes;
	int more = count != 0;

	assert(bytes || !count);
	while (more > 0)
		more = advance_buffer(recv(socket, at, count, MSG_WAITALL), &at, &count);
	return more;
}
