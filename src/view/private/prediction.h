/* SPDX-License-Identifier: MIT
 *
 * prediction.h - the misses that a candidate layout would have: `nearmiss whatif` replays a trace in a process of
 * its own, so that the server answers meanwhile, a cancelled replay leaves nothing behind, and the figures are
 * those of the command. One at a time.
 *
 * What the process writes goes to files without a name: it never waits for a reader.
 */
#ifndef NM_PREDICTION_H
#define NM_PREDICTION_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "errors.h"

enum nm_prediction_state {
	NM_PREDICTION_NONE,
	NM_PREDICTION_RUNS,
	NM_PREDICTION_DONE,
	NM_PREDICTION_FAILED,
	NM_PREDICTION_CANCELLED
};

/* {0} has asked nothing yet. */
struct nm_prediction {
	enum nm_prediction_state state;
	unsigned profile; /* that it is about */
	char *candidate;
	pid_t process;           /* while it runs */
	FILE *output, *messages; /* of the process */
	int ended_by;            /* a signal; 0: none */
};

/* What to ask: the command's own file, the trace, the machine and the candidate (candidate.h). */
struct nm_prediction_request {
	const char *program, *trace, *cache, *candidate;
	unsigned profile;
};

/* Starts one, in place of the last. NM_EINVAL: one runs, or the candidate cannot be read. */
int nm_prediction_start(struct nm_prediction *prediction, const struct nm_prediction_request *request,
			struct nm_error *err);

/* Notes the end of the process, if it has ended. */
void nm_prediction_look(struct nm_prediction *prediction);

/* Ends the process, if one runs. */
void nm_prediction_cancel(struct nm_prediction *prediction);
void nm_prediction_done(struct nm_prediction *prediction);

/* What the process has said, malloc'ed: the levels as JSON, or the messages. *ret_references: how many it has
 * replayed, as it last said. NM_ENOMEM. */
int nm_prediction_output(const struct nm_prediction *prediction, char **ret_text, struct nm_error *err);
int nm_prediction_messages(const struct nm_prediction *prediction, char **ret_text, uint64_t *ret_references,
			   struct nm_error *err);

#endif
