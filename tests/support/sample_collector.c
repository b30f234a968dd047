/* SPDX-License-Identifier: MIT
 *
 * sample_collector.c - a collector without a program: writes the sample stream into a ring, for tests of
 * wirecat.
 *
 *     sample_collector FD good|bad|fork|lonely|killed
 *
 * bad: with a block that was not defined. fork: with a child that relies on its parent's definitions and
 * arrives before its parent's FORK record. lonely: with such a child whose FORK record never comes. killed:
 * ends by SIGKILL, with the stream unpublished.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring_producer.h"
#include "sample_stream.h"

static int send(struct ring_producer *p, struct nm_wire_words *words)
{
	int gone = ring_producer_write(p, words->at, words->count);

	words->count = 0;
	return gone;
}

static int write_child(int fd, pid_t parent, struct nm_wire_words *words)
{
	const struct nm_wire_process process = {.start = NM_WIRE_FORKED,
						.version = NM_WIRE_VERSION,
						.pid = (uint32_t)getpid(),
						.parent = (uint32_t)parent,
						.ordinal = 1,
						.executable = "/usr/bin/sample",
						.directory = "/"};
	struct ring_producer p;

	if (ring_producer_open(&p, fd) || nm_wire_process_encode(words, &process, NULL) ||
	    nm_wire_thread_encode(words, &(struct nm_wire_thread){1}) ||
	    nm_wire_block_encode(words, SAMPLE_CALL, (const uint64_t[]){0x7ff8f8}, 1) ||
	    nm_wire_exit_encode(words, &(struct nm_wire_exit){0}) || send(&p, words))
		return 1;
	ring_producer_close(&p);
	return 0;
}

/* The child's stream ends before the parent's FORK record. */
static int write_family(int fd, struct ring_producer *p, struct nm_wire_words *words, int tell)
{
	pid_t parent = getpid(), child;
	int status;

	if (sample_start(words) || sample_define_blocks(words) || send(p, words))
		return 1;
	child = fork();
	if (child == 0)
		_exit(write_child(fd, parent, words));
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return 1;
	if (tell && nm_wire_fork_encode(words, &(struct nm_wire_fork){(uint32_t)child, 1}))
		return 1;
	return nm_wire_exit_encode(words, &(struct nm_wire_exit){0}) || send(p, words);
}

int main(int argc, char **argv)
{
	struct nm_wire_words words = {0};
	struct ring_producer p;

	if (argc != 3 || ring_producer_open(&p, atoi(argv[1])))
		return 2;
	if (!strcmp(argv[2], "fork") || !strcmp(argv[2], "lonely")) {
		if (write_family(atoi(argv[1]), &p, &words, !strcmp(argv[2], "fork")))
			return 2;
	} else if (!strcmp(argv[2], "bad")) {
		if (sample_start(&words) || nm_wire_block_encode(&words, 77, NULL, 0) || send(&p, &words))
			return 2;
	} else if (sample_stream(&words) || send(&p, &words))
		return 2;
	if (!strcmp(argv[2], "killed"))
		kill(getpid(), SIGKILL);
	ring_producer_close(&p);
	nm_vec_free(&words);
	return 0;
}
