/* SPDX-License-Identifier: MIT
 *
 * run.h - common to all runs: recording a program, replaying a trace, running a loop nest.
 *
 * A run feeds events to a session (session.h), then writes the results into a profile. It never prints:
 * warnings and progress go to the caller's functions.
 */
#ifndef NM_RUN_H
#define NM_RUN_H

#include <sys/types.h>

#include "engine.h"
#include "errors.h"
#include "feedback.h"
#include "sources.h"
#include "status.h"

struct nm_session;

/* Takes the results, beside or instead of a profile. */
struct nm_result_receiver {
	int (*receive)(void *self, struct nm_session *session, struct nm_error *err); /* 0 or a code */
	void *self;
};

/* This run as one of a job of parallel processes; texts, or NULL: it is none, or that is not known. */
struct nm_run_job {
	const char *rank, *ranks, *host; /* ranks: their number */
	pid_t group;                     /* of processes, that the launcher ends (outlive.h); 0: this one's */
};

struct nm_run_request {
	struct nm_engine_options
	    engine;         /* what to simulate and count; the run sets symbols, oracle and idle */
	const char *output; /* path of the profile; NULL: write none */
	/* paths of the profiles of engine.candidates, or NULL; only with `output` */
	const char *const *candidate_outputs;
	const struct nm_result_receiver *receiver; /* or NULL */
	struct nm_source_choice sources;           /* whose texts the profile keeps */
	struct nm_run_feedback feedback;
	struct nm_run_job job;
};

#endif
