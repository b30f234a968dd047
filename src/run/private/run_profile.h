/* SPDX-License-Identifier: MIT
 *
 * run_profile.h - stores the results of a run in a profile; how long the run takes, and when to show its progress.
 */
#ifndef NM_RUN_PROFILE_H
#define NM_RUN_PROFILE_H

#include "manifest.h"
#include "run.h"
#include "session.h"
#include "writer.h"

/* Facts on the run for the profile; its texts are borrowed. */
struct nm_run_info {
	const char *collector; /* where the references come from */
	int exit_status;       /* of the program */
	double wall_seconds;
	const char *source;                      /* the file that they were read from, or NULL */
	const char *trace;                       /* that was written too: its absolute path, or NULL */
	const char *hermetic[NM_MANIFEST_FACTS]; /* by nm_manifest_keys; NULL: none */
};

/* Ends the streams that are still open, writes their results and `info`, commits the profile, then calls the
 * receiver. Takes the writer (NULL: no profile) in every case. 0 or a code. */
int nm_run_finish(const struct nm_run_request *request, const struct nm_run_info *info,
		  struct nm_session *session, struct nm_profile_writer *writer, struct nm_error *err);

struct nm_progress {
	const struct nm_run_feedback *feedback;
	double started_ms, shown_ms;
	uint64_t shown_references;
};

/* The feedback is borrowed. */
void nm_progress_start(struct nm_progress *progress, const struct nm_run_feedback *feedback);

/* Shows the progress, if that is wanted, about twice a second. */
void nm_progress_update(struct nm_progress *progress, struct nm_session *session);
void nm_progress_end(const struct nm_progress *progress);

/* Seconds since the start. */
double nm_progress_seconds(const struct nm_progress *progress);

#endif
