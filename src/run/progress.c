/* SPDX-License-Identifier: MIT
 *
 * progress.c - see progress.h.
 */
#include "progress.h"

#include <assert.h>

#include "clock.h"
#include "session.h"

enum { INTERVAL_MS = 500 };

void nm_progress_start(struct nm_progress *p, const struct nm_run_feedback *feedback)
{
	assert(!feedback->progress || feedback->progress_end);
	*p = (struct nm_progress){.feedback = feedback};
	p->started_ms = p->shown_ms = nm_now_ms();
}

void nm_progress_update(struct nm_progress *p, struct nm_session *session)
{
	double now;
	uint64_t references;

	if (!p->feedback->progress)
		return;
	now = nm_now_ms();
	if (now - p->shown_ms < INTERVAL_MS)
		return;
	references = nm_session_references(session);
	p->feedback->progress(references,
			      (double)(references - p->shown_references) / (now - p->shown_ms) * 1e3);
	p->shown_references = references;
	p->shown_ms = now;
}

void nm_progress_end(const struct nm_progress *p)
{
	if (p->feedback->progress)
		p->feedback->progress_end();
}

double nm_progress_seconds(const struct nm_progress *p) { return (nm_now_ms() - p->started_ms) / 1e3; }
