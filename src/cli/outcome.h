/* SPDX-License-Identifier: MIT
 *
 * outcome.h - how every simulation ends: its results go into a profile, and the profile's summary to stderr.
 */
#ifndef NM_OUTCOME_H
#define NM_OUTCOME_H

#include "errors.h"
#include "session.h"
#include "writer.h"

/* What takes the results, beside or instead of a profile. */
struct nm_taker {
	int (*take)(void *self, struct nm_session *session, struct nm_error *err); /* 0 or a code */
	void *self;
};

struct nm_outcome {
	const char *collector; /* what the references are from */
	int exit_status;       /* of the program */
	double wall_seconds;
	int embed_sources;  /* the texts, not only what they were */
	const char *source; /* file that they were read from, or NULL */
};

/* Ends what is open in the session, adds its results and the entries of `info`, and commits. The writer is gone in any
 * case. */
int nm_outcome_write(const struct nm_outcome *outcome, struct nm_session *session,
		     struct nm_profile_writer *writer, struct nm_error *err);

void nm_summarise(const char *path);

#endif
