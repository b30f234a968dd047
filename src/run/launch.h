/* SPDX-License-Identifier: MIT
 *
 * launch.h - starts a program under a collector.
 */
#ifndef NM_LAUNCH_H
#define NM_LAUNCH_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "environment.h"
#include "errors.h"

/* Which references a sampled recording draws. */
struct nm_sample_choice {
	uint32_t rate; /* samples in 10^9 references; 0: all references are recorded */
	uint32_t line; /* bytes of the lines that are watched, a power of 2 from 32 on */
	uint32_t seed;
};

/* What the Valgrind collector needs: paths found once, before anything is started. */
struct nm_launcher {
	char valgrind[4200]; /* Valgrind's launcher */
	char library[4096];  /* folder with our tool and Valgrind's support files: VALGRIND_LIB */
	char link[64];       /* to it while a program runs, if its path has blanks or colons; else "" */
	int output_is_ours;  /* the program's standard output goes to standard error */
	int all_blocks;      /* executions of code without accesses are sent, too */
	int one_machine;     /* what processes share, and how they wait for each other, is sent, too */
	pid_t group;         /* of processes, that the program joins; 0: this process's */
	const struct nm_environment *environment; /* of a hermetic recording; NULL: it is none; borrowed */
	struct nm_sample_choice sample;
	const char *const *pools;      /* functions that hand out pieces of memory (engine.h); borrowed */
	const char *const *allocators; /* those that may hand out shared memory; borrowed */
	size_t pool_count, allocator_count;
};

enum nm_launch_fault {
	NM_LAUNCH_NO_PROGRAM = 1, /* not found */
	NM_LAUNCH_NOT_EXECUTABLE, /* found, but it cannot be executed */
	NM_LAUNCH_NO_COLLECTOR    /* Valgrind or our tool is not installed */
};

/* Finds our tool: in $NEARMISS_LIBEXEC, beside the running executable (a build tree), or under its prefix's
 * libexec/nearmiss; and Valgrind: beside the tool or on PATH. 0 or NM_LAUNCH_NO_COLLECTOR and *err. */
int nm_launcher_find(struct nm_launcher *launcher, struct nm_error *err);

/* The file that `name` stands for, found as execvp does. 0 or an enum nm_launch_fault and *err. */
int nm_launch_resolve(const char *name, char *ret_path, size_t room, struct nm_error *err);

/* Starts argv, or in a hermetic recording the program at `path` with argv's arguments, under the collector,
 * which writes to the rings in the file `arena` (nm_consumer_fd) and its own messages to the file `log`. Both
 * are inherited. It ignores those of nm_forwarded_signals (signals_forward.h) that `ignored` holds. 0 or a
 * code. */
int nm_launch(struct nm_launcher *launcher, int arena, int log, const char *path, char *const *argv,
	      const sigset_t *ignored, pid_t *ret_pid, struct nm_error *err);

/* Removes what nm_launch has made, when the program has ended. */
void nm_launcher_done(struct nm_launcher *launcher);

#endif
