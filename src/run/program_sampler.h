/* SPDX-License-Identifier: MIT
 *
 * program_sampler.h - samples what a program does on the processor itself, and writes the profile.
 */
#ifndef NM_PROGRAM_SAMPLER_H
#define NM_PROGRAM_SAMPLER_H

#include "run.h"
#include "sampled_events.h"

struct nm_sample_request {
	enum nm_sampled_kind event;
	uint64_t period;          /* 0: the usual one */
	int is_without_heap;      /* blocks of the heap are not to be named */
	uint64_t heap_from;       /* bytes: smaller ones neither */
	const char *output;       /* path of the profile */
	const char *exact;        /* profile that names data at instructions (exact.h), or NULL */
	const char *user_folders; /* of the user's sources (user_code.h), or NULL */
	struct nm_source_choice sources;
	struct nm_run_feedback feedback;
	char *const *argv; /* the program, NULL-terminated; or NULL and */
	pid_t pid;         /* a process that runs, */
	int64_t seconds;   /* and for how long; 0: until it ends, or until SIGINT, SIGTERM or SIGHUP */
};

/* Returns 0 if the program ran: *ret_exit_status is its exit status, or 128 + the signal that ended it. Else a
 * status. *ret_has_result: there is a profile; a run can be
 * too short for a sample. */
int nm_sample(const struct nm_sample_request *request, int *ret_exit_status, int *ret_has_result,
	      struct nm_error *err);

/* process_sampler.c: samples a process that runs. Returns a status. */
int nm_sample_process(const struct nm_sample_request *request, int *ret_has_result, struct nm_error *err);

#endif
