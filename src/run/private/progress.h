/* SPDX-License-Identifier: MIT
 *
 * progress.h - the duration of a run, and when to show its progress.
 */
#ifndef NM_PROGRESS_H
#define NM_PROGRESS_H

#include "run.h"

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
