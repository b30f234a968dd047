/* SPDX-License-Identifier: MIT
 *
 * snapshot.h - the profile that a recording would have if it ended now, written while it goes on.
 *
 * A copy of the recorder, made by fork, ends the session and writes its results: the recording stands still only for
 * the copy, and their memory is shared until either changes it.
 */
#ifndef NM_SNAPSHOT_H
#define NM_SNAPSHOT_H

#include <sys/types.h>

#include "consumer.h"
#include "run_profile.h"

struct nm_snapshot {
	pid_t writer; /* 0: none is being written */
	int fault;    /* a pipe: what went wrong */
	char output[4096];
};

/* Begins to write to `output`, when all that producers have published was fed. 0 or a code. */
int nm_snapshot_start(struct nm_snapshot *snapshot, const char *output, const struct nm_run_request *request,
		      const struct nm_run_info *info, struct nm_session *session,
		      const struct nm_consumer *consumer, struct nm_error *err);

/* Whether it has ended, by 1; then *ret_status is 0 or a code. `wait`: until it has. */
int nm_snapshot_ended(struct nm_snapshot *snapshot, int wait, int *ret_status, struct nm_error *err);

#endif
