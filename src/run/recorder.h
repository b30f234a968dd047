/* SPDX-License-Identifier: MIT
 *
 * recorder.h - records a program: runs it under the collector, feeds its rings to a session, writes the
 * profile.
 */
#ifndef NM_RECORDER_H
#define NM_RECORDER_H

#include "launch.h"
#include "run.h"

/* In seconds since the program's start; INFINITY: when a command says so (control.h). */
struct nm_record_times {
	double after;  /* nothing counts before that */
	double length; /* from each start of counting until it stops; 0: it does not */
};

struct nm_record_request {
	struct nm_run_request run;
	const char *trace; /* path of a trace to write too, or NULL */
	struct nm_sample_choice sample;
	struct nm_record_times times;
	const struct nm_environment *hermetic; /* pin what differs between runs; NULL: do not */
	uint64_t memory;   /* bytes that the simulation may take before further processes wait; 0: no bound */
	char *const *argv; /* the program, NULL-terminated */
};

/* Returns 0 if the program ran: *ret_exit_status is its exit status, or 128 + the signal that ended it.
 * Else a status (an enum nm_status, or 128 + the signal that ended the program before its first
 * instruction), and the output's path still holds what it held before. */
int nm_record(const struct nm_record_request *request, int *ret_exit_status, struct nm_error *err);

#endif
