/* SPDX-License-Identifier: MIT
 *
 * sweep_file.h - the results of a sweep: a profile of which each finished task is a process, with the counts of its
 * levels.
 *
 *     nm_sweep_file_open(&file, "sweep.nmp", &err)             a new file, or one to go on with
 *     nm_sweep_file_enter(file, &task, &id, &state, &err)      each task of the plan
 *     nm_sweep_file_entered(file, &err)
 *     nm_sweep_file_take(file, id, &outcome, &err)             once for each task that was run
 *     nm_sweep_file_commit(file, &err)                         what was taken is on the disk
 *     nm_sweep_file_close(file)
 *
 * Unlike other profiles it is written in place, by SQLite's transactions: a process that is killed loses what was not
 * committed, and no more. One process writes a file at a time.
 */
#ifndef NM_PROFILE_SWEEP_FILE_H
#define NM_PROFILE_SWEEP_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "hierarchy.h"
#include "machine.h"

/* Two tasks are one if input, settings and SPEC are alike; a task whose input has changed since is run again. */
struct nm_sweep_task {
	const char *kind;           /* "trace" or "nest" */
	const char *input;          /* path */
	const char *settings;       /* of a nest: "N=64 M=3" */
	int64_t bytes, modified;    /* of the input; modified: nanoseconds since 1970 */
	const char *machine;        /* as the plan names it */
	const char *level, *policy; /* the level that varies, its policy, */
	uint64_t size;              /* and its size */
	const char *spec;           /* the machine as a whole */
	double work;                /* about the number of references */
	size_t place;               /* in the plan */
};

enum nm_sweep_state { NM_SWEEP_WAITING, NM_SWEEP_DONE, NM_SWEEP_FAILED };

/* What a task gave. */
struct nm_sweep_outcome {
	int failed;
	double seconds;
	uint64_t instructions, references;
	struct nm_machine machine;              /* levels, if it did not fail, */
	struct nm_counts totals[NM_MAX_LEVELS]; /* and what each counted */
	const char *remark;                     /* why it failed, or what its run warned of; NULL: nothing */
	unsigned worker;                        /* who ran it */
};

/* What a run of the sweep took. */
struct nm_sweep_run {
	unsigned workers;
	uint64_t tasks, messages, bytes;
	double seconds, busy; /* busy: of the workers, in tasks */
};

struct nm_sweep_file;

/* NM_EINVAL: another process writes it; NM_EFORMAT: it is there, and no sweep's; NM_EVERSION, NM_EACCES, NM_EIO. */
int nm_sweep_file_open(struct nm_sweep_file **ret_file, const char *path, struct nm_error *err);

/* Finds or adds a task. Between the first call and nm_sweep_file_entered nothing else is called. `again`: a failed one
 * waits once more. */
int nm_sweep_file_enter(struct nm_sweep_file *file, const struct nm_sweep_task *task, int again,
			int64_t *ret_id, enum nm_sweep_state *ret_state, struct nm_error *err);

/* Drops tasks that wait and that were not entered: the plan no longer has them. Commits. */
int nm_sweep_file_entered(struct nm_sweep_file *file, struct nm_error *err);

int nm_sweep_file_take(struct nm_sweep_file *file, int64_t id, const struct nm_sweep_outcome *outcome,
		       struct nm_error *err);
int nm_sweep_file_note_run(struct nm_sweep_file *file, const struct nm_sweep_run *run, struct nm_error *err);
int nm_sweep_file_commit(struct nm_sweep_file *file, struct nm_error *err);

/* What was not committed is lost. */
void nm_sweep_file_close(struct nm_sweep_file *file);

#endif
