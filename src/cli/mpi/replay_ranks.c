/* SPDX-License-Identifier: MIT
 *
 * replay_ranks.c - see replay_ranks.h. A message is its length, then its bytes, in parts that MPI can count. Who waits
 * sleeps in between, as in mpi_main.c.
 */
#include "replay_ranks.h"

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#include "commands/cmd_replay.h"
#include "status.h"

enum { TAG = 2, PART = 1 << 30 /* bytes */, SHORTEST_NS = 20000, LONGEST_NS = 1000000 };

/* MPI ends the job at a failure. */
static void complete(MPI_Request *request)
{
	struct timespec pause = {0, SHORTEST_NS};
	int done = 0;

	for (;;) {
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
		if (done)
			return;
		nanosleep(&pause, NULL);
		pause.tv_nsec = pause.tv_nsec * 2 < LONGEST_NS ? pause.tv_nsec * 2 : LONGEST_NS;
	}
}

static void send_part(unsigned to, const void *bytes, int count)
{
	MPI_Request request;

	MPI_Isend(bytes, count, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD, &request);
	complete(&request);
}

static void receive_part(unsigned from, void *bytes, int count)
{
	MPI_Request request;

	MPI_Irecv(bytes, count, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, &request);
	complete(&request);
}

static int length_of(size_t left) { return left < PART ? (int)left : PART; }

static int send_bytes(void *self, unsigned to, const void *bytes, size_t count, struct nm_error *err)
{
	const uint64_t length = count;

	(void)self;
	(void)err;
	send_part(to, &length, sizeof length);
	for (size_t at = 0; at < count; at += PART)
		send_part(to, (const char *)bytes + at, length_of(count - at));
	return 0;
}

static int receive_bytes(void *self, unsigned from, void **ret_bytes, size_t *ret_count, struct nm_error *err)
{
	uint64_t length;
	char *bytes;

	(void)self;
	receive_part(from, &length, sizeof length);
	bytes = malloc(length + 1);
	if (!bytes)
		return nm_fail_memory(err);
	for (size_t at = 0; at < length; at += PART)
		receive_part(from, bytes + at, length_of(length - at));
	*ret_bytes = bytes;
	*ret_count = length;
	return 0;
}

int nm_replay_on_ranks(int argc, char **argv, int rank, int ranks)
{
	const struct nm_chain_transport transport = {(unsigned)rank, (unsigned)ranks, send_bytes,
						     receive_bytes, NULL};
	struct nm_chain_request request = {.transport = &transport,
					   .work = calloc((size_t)ranks, sizeof *request.work)};
	int status;

	if (!request.work)
		MPI_Abort(MPI_COMM_WORLD, NM_STATUS_FAILED);
	nm_replay_ranks = &request;
	status = nm_cmd_replay.run(&nm_cmd_replay, argc, argv);
	free(request.work);
	if (status && !request.is_refused && ranks > 1)
		MPI_Abort(MPI_COMM_WORLD, status);
	return status;
}
