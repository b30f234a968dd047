/* SPDX-License-Identifier: MIT
 *
 * recorder.h - one recording: the program under the collector, its rings, the engines, the profile.
 */
#ifndef NM_RECORDER_H
#define NM_RECORDER_H

#include "errors.h"
#include "machine.h"
#include "outcome.h"

struct nm_recording {
	const char *output;                 /* path of the profile; NULL: none is written */
	const struct nm_taker *taker;       /* of the results, too; or NULL */
	const struct nm_sift_request *sift; /* what is kept of single events, or NULL */
	const char *trace;                  /* path of a trace to be written too, or NULL */
	struct nm_machine machine;
	unsigned threads;   /* of the engine */
	int instructions;   /* simulate fetches too */
	int by_instruction; /* count single instructions, keep their code */
	int contexts;       /* count by call chain too */
	int heap_chains;    /* and tell heap buckets apart by it */
	int embed_sources;  /* into the profile */
	int progress;       /* show it on stderr */
	char *const *argv;  /* the program, NULL-terminated */
};

/* Runs the program and writes the profile, and hands the results to the taker.  Returns 0 if the program ran:
 * *ret_exit is its exit status, or 128 + the signal that ended it.  Else an enum nm_status (status.h), with *err told
 * and nothing under the output's name changed.  Trouble that does not stop the recording is told on stderr. */
int nm_record(const struct nm_recording *recording, int *ret_exit, struct nm_error *err);

#endif
