/* SPDX-License-Identifier: MIT
 *
 * mpi_main.c - nearmiss-mpi, the only program that links MPI: nearmiss sweep whose workers are ranks, and nearmiss
 * replay of which each rank has a part (replay_ranks.c). Of a sweep rank 0 is the master; the others wait for tasks.
 *
 * Who waits for a message looks for it and sleeps in between, ever longer up to a millisecond: MPI's own waiting would
 * take a processor from a rank that works.
 */
#include <locale.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "commands/cmd_replay.h"
#include "commands/cmd_sweep.h"
#include "message.h"
#include "reader.h"
#include "replay_ranks.h"

const struct nm_command *const nm_commands[] = {&nm_cmd_replay, &nm_cmd_sweep, NULL};

const struct nm_command *nm_command_named(const char *name)
{
	for (unsigned i = 0; nm_commands[i]; i++)
		if (!strcmp(name, nm_commands[i]->name))
			return nm_commands[i];
	return NULL;
}

enum { TAG = 1, SHORTEST_NS = 20000, LONGEST_NS = 1000000 };

/* Waits for a message, at most so long (negative: for ever). 1 and its sender and length, or 0. */
static int wait_for_message(int timeout_ms, int *ret_rank, int *ret_length)
{
	const double begin = nm_now_ms();
	struct timespec pause = {0, SHORTEST_NS};
	MPI_Status status;
	int there = 0;

	for (;;) {
		MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status);
		if (there || (timeout_ms >= 0 && nm_now_ms() - begin >= timeout_ms))
			break;
		nanosleep(&pause, NULL);
		pause.tv_nsec = pause.tv_nsec * 2 < LONGEST_NS ? pause.tv_nsec * 2 : LONGEST_NS;
	}
	if (!there)
		return 0;
	*ret_rank = status.MPI_SOURCE;
	MPI_Get_count(&status, MPI_CHAR, ret_length);
	return 1;
}

static void take_message(int rank, int length, char *text)
{
	if (length >= NM_SWEEP_MESSAGE)
		MPI_Abort(MPI_COMM_WORLD, NM_STATUS_FAILED);
	MPI_Recv(text, length, MPI_CHAR, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	text[length] = '\0';
}

/* ---- the master ---- */

static int is_ended; /* the workers were told so */

static int send_text(void *self, unsigned worker, const char *text, struct nm_error *err)
{
	(void)self;
	(void)err; /* MPI ends the job at a failure */
	is_ended |= !*text;
	MPI_Send(text, (int)strlen(text), MPI_CHAR, (int)worker + 1, TAG, MPI_COMM_WORLD);
	return 0;
}

static int receive_message(void *self, int timeout_ms, struct nm_sweep_received *ret, struct nm_error *err)
{
	int rank, length;

	(void)self;
	(void)err;
	if (!wait_for_message(timeout_ms, &rank, &length))
		return 0;
	ret->worker = (unsigned)rank - 1;
	ret->is_lost = 0;
	take_message(rank, length, ret->text);
	return 1;
}

static int usage(void)
{
	nm_message("nearmiss-mpi runs sweeps and replays on ranks: mpirun -n N nearmiss-mpi sweep PLAN, or "
		   "replay FILE (see nearmiss sweep --help)");
	return NM_STATUS_USAGE;
}

static int run_master(int argc, char **argv, int ranks)
{
	const struct nm_sweep_transport transport = {(unsigned)ranks - 1, send_text, receive_message, NULL};
	int status;

	nm_sweep_ranks = &transport;
	if (argc < 2 || strcmp(argv[1], nm_cmd_sweep.name) != 0) {
		status = usage();
	} else if (ranks < 2) {
		nm_message(
		    "one rank hands out tasks to the others: start 2 or more (mpirun -n N), or use nearmiss sweep");
		status = NM_STATUS_USAGE;
	} else {
		status = nm_cmd_sweep.run(&nm_cmd_sweep, argc - 1, argv + 1);
	}
	for (int i = 1; i < ranks && !is_ended; i++)
		MPI_Send("", 0, MPI_CHAR, i, TAG, MPI_COMM_WORLD);
	return status;
}

/* ---- a worker ---- */

static void work_on_tasks(void)
{
	static char task[NM_SWEEP_MESSAGE], answer[NM_SWEEP_MESSAGE];
	int rank, length;

	while (wait_for_message(-1, &rank, &length)) {
		take_message(rank, length, task);
		if (!length)
			break;
		nm_sweep_work(task, answer);
		MPI_Send(answer, (int)strlen(answer), MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int status = 0, rank, ranks, threads;

	setlocale(LC_CTYPE, "");
	nm_profile_setup();
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc > 1 && !strcmp(argv[1], nm_cmd_replay.name))
		status = nm_replay_on_ranks(argc - 1, argv + 1, rank, ranks);
	else if (rank)
		work_on_tasks();
	else
		status = run_master(argc, argv, ranks);
	fflush(NULL);
	MPI_Finalize();
	return status;
}
