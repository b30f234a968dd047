/* SPDX-License-Identifier: MIT
 *
 * transport.h - how the master of a sweep and its workers talk: processes of this machine over sockets (local.c), or
 * ranks of an MPI job (src/cli/mpi).
 *
 * A message is a line of text (words.h). A worker gets tasks and answers each; an empty message ends it.
 */
#ifndef NM_SWEEP_TRANSPORT_H
#define NM_SWEEP_TRANSPORT_H

#include <stddef.h>

#include "errors.h"

enum { NM_SWEEP_MESSAGE = 32768 }; /* bytes, with the NUL */

struct nm_sweep_received {
	unsigned worker;
	int is_lost; /* it ended, and another has taken its place; text: how it ended */
	char text[NM_SWEEP_MESSAGE];
};

struct nm_sweep_transport {
	unsigned workers; /* numbered from 0 */
	/* 0 or a code. To a worker that has ended nothing is sent: nm_sweep_received tells of it. */
	int (*send)(void *self, unsigned worker, const char *text, struct nm_error *err);
	/* Waits for a message, at most so long. 1, 0: there is none, or a code. */
	int (*receive)(void *self, int timeout_ms, struct nm_sweep_received *ret, struct nm_error *err);
	void *self;
};

/* Runs one task, and writes its answer into `answer`, of NM_SWEEP_MESSAGE bytes. */
void nm_sweep_work(const char *task, char *answer);

#endif
