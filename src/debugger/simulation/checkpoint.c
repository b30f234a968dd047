/* SPDX-License-Identifier: MIT
 *
 * checkpoint.c - the debugger's side of checkpoints: starts their processes and sends requests.
 */
#include "checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint_priv.h"
#include "old_glibc.h"
#include "simulation.h"

static int fail_lost(struct nm_error *err)
{
	return nm_fail(err, NM_EIO, "a process of the simulation has ended; was it killed?");
}

static int make_sockets(int sockets[2], struct nm_error *err)
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)
		   ? nm_fail_errno(err, "cannot make a socket")
		   : 0;
}

/* In the new process: closes the debugger's other descriptors. */
static void close_others(int socket)
{
	if (socket > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, (unsigned)socket - 1, 0);
	close_range((unsigned)socket + 1, ~0u, 0);
}

int nm_checkpoint_start(struct nm_checkpoint *ret, struct nm_caches *caches,
			const struct nm_shared_record *record, struct nm_error *err)
{
	int sockets[2], status = make_sockets(sockets, err);
	pid_t process;

	if (status)
		return status;
	process = fork();
	if (!process) {
		close_others(sockets[1]);
		nm_checkpoint_serve(sockets[1], caches, record);
	}
	if (process < 0)
		status = nm_fail_errno(err, "cannot start a process for the simulation");
	close(sockets[1]);
	if (status)
		close(sockets[0]);
	else
		*ret = (struct nm_checkpoint){.fd = sockets[0], .process = process};
	return status;
}

/* A request with a descriptor. */
static int send_with(int socket, const struct nm_checkpoint_request *request, int descriptor)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct nm_checkpoint_request copy = *request;
	struct iovec bytes = {&copy, sizeof copy};
	struct msghdr message = {
	    .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof descriptor);
	memcpy(CMSG_DATA(c), &descriptor, sizeof descriptor);
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof copy ? 0 : -1;
}

int nm_checkpoint_copy(const struct nm_checkpoint *c, struct nm_checkpoint *ret_copy, struct nm_error *err)
{
	const struct nm_checkpoint_request request = {.kind = NM_REQUEST_COPY};
	struct nm_checkpoint_copied copied;
	int sockets[2], status = make_sockets(sockets, err);

	if (status)
		return status;
	if (send_with(c->fd, &request, sockets[1]) || nm_socket_receive(c->fd, &copied, sizeof copied)) {
		status = fail_lost(err);
	} else if (copied.status) {
		errno = copied.status;
		status = nm_fail_errno(err, "cannot copy a process of the simulation");
	}
	close(sockets[1]);
	if (status)
		close(sockets[0]);
	else
		*ret_copy = (struct nm_checkpoint){.fd = sockets[0],
						   .process = copied.process,
						   .position = c->position,
						   .changed = copied.changed};
	return status;
}

int nm_checkpoint_run(struct nm_checkpoint *c, uint64_t to, unsigned flags, struct nm_stop *stops,
		      unsigned stop_count, struct nm_checkpoint_report *ret_report, struct nm_error *err)
{
	const struct nm_checkpoint_request request = {
	    .kind = NM_REQUEST_RUN, .flags = flags, .stop_count = stop_count, .to = to};

	assert(stops || !stop_count);
	if (nm_socket_send(c->fd, &request, sizeof request) ||
	    nm_socket_send(c->fd, stops, stop_count * sizeof *stops) ||
	    nm_socket_receive(c->fd, ret_report, sizeof *ret_report) ||
	    nm_socket_receive(c->fd, stops, stop_count * sizeof *stops))
		return fail_lost(err);
	c->position = ret_report->position;
	return nm_simulation_status(ret_report, err);
}

static int ask_array(const struct nm_checkpoint *c, const struct nm_checkpoint_request *request,
		     void **ret_array, uint64_t *ret_bytes, struct nm_error *err)
{
	void *array;

	if (nm_socket_send(c->fd, request, sizeof *request) ||
	    nm_socket_receive(c->fd, ret_bytes, sizeof *ret_bytes))
		return fail_lost(err);
	array = malloc(*ret_bytes + 1);
	if (!array)
		return nm_fail_memory(err);
	if (nm_socket_receive(c->fd, array, *ret_bytes)) {
		free(array);
		return fail_lost(err);
	}
	*ret_array = array;
	return 0;
}

int nm_checkpoint_slots(const struct nm_checkpoint *c, unsigned level, unsigned core, uint64_t from,
			uint64_t to, struct nm_slot **ret_slots, struct nm_error *err)
{
	const struct nm_checkpoint_request request = {
	    .kind = NM_REQUEST_SLOTS, .level = level, .core = core, .from = from, .to = to};
	void *array = NULL;
	uint64_t bytes;
	int status = ask_array(c, &request, &array, &bytes, err);

	*ret_slots = array;
	return status;
}

int nm_checkpoint_sums(const struct nm_checkpoint *c, unsigned level, int by_set, struct nm_sums **ret_sums,
		       size_t *ret_count, struct nm_error *err)
{
	const struct nm_checkpoint_request request = {
	    .kind = NM_REQUEST_SUMS, .level = level, .by_set = by_set != 0};
	void *array = NULL;
	uint64_t bytes = 0;
	int status = ask_array(c, &request, &array, &bytes, err);

	assert(ret_sums && ret_count);
	*ret_sums = array;
	*ret_count = bytes / sizeof **ret_sums;
	return status;
}

int nm_checkpoint_lines(struct nm_checkpoint *c, uint64_t to, unsigned level, struct nm_line_sum **ret_lines,
			size_t *ret_count, struct nm_error *err)
{
	const struct nm_checkpoint_request request = {.kind = NM_REQUEST_LINES, .level = level, .to = to};
	void *array = NULL;
	uint64_t bytes = 0;
	int status = ask_array(c, &request, &array, &bytes, err);

	assert(ret_lines && ret_count);
	*ret_lines = array;
	*ret_count = bytes / sizeof **ret_lines;
	if (!status)
		c->position = to;
	return status;
}

int nm_checkpoint_find(const struct nm_checkpoint *c, unsigned level, unsigned core, uint64_t address,
		       struct nm_found_slot *ret_found, struct nm_error *err)
{
	const struct nm_checkpoint_request request = {
	    .kind = NM_REQUEST_FIND, .level = level, .core = core, .address = address};

	return nm_socket_send(c->fd, &request, sizeof request) ||
		       nm_socket_receive(c->fd, ret_found, sizeof *ret_found)
		   ? fail_lost(err)
		   : 0;
}

uint64_t nm_checkpoint_memory(const struct nm_checkpoint *c)
{
	unsigned long long kilobytes = 0;
	char line[128];
	FILE *file;

	snprintf(line, sizeof line, "/proc/%ld/smaps_rollup", (long)c->process);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Pss_Anon: %llu", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return kilobytes * 1024;
}

void nm_checkpoint_end(struct nm_checkpoint *c)
{
	if (c->fd < 0)
		return;
	close(c->fd);
	c->fd = -1;
	waitpid(c->process, NULL,
		0); /* the first is our child; the others are not, and this returns at once */
}
