/* SPDX-License-Identifier: MIT
 *
 * replayer.h - simulates what a file tells instead of a program that runs.
 */
#ifndef NM_REPLAYER_H
#define NM_REPLAYER_H

#include "errors.h"
#include "machine.h"
#include "outcome.h"

struct nm_replaying {
	const char *input;                  /* path of a trace, ours or another tool's; "-": standard input */
	const char *format;                 /* of another tool; NULL: by what the file begins with */
	const char *output;                 /* path of the profile; NULL: none is written */
	const struct nm_taker *taker;       /* of the results, too; or NULL */
	const struct nm_sift_request *sift; /* what is kept of single events, or NULL */
	struct nm_machine machine;
	unsigned threads;   /* of the engine */
	int instructions;   /* simulate fetches too */
	int contexts;       /* count by call chain too */
	int heap_chains;    /* and tell heap buckets apart by it */
	int by_instruction; /* count single instructions, keep their code */
	int embed_sources;
	int progress; /* show it on stderr */
};

/* Writes the profile, and hands the results to the taker.  0, or an enum nm_status with *err told.  Input that is
 * damaged from some place on is read up to there, which makes a profile too: NM_STATUS_DAMAGED then. */
int nm_replay(const struct nm_replaying *replaying, struct nm_error *err);

#endif
