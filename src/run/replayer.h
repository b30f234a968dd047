/* SPDX-License-Identifier: MIT
 *
 * replayer.h - simulates the references of a trace file, ours or another tool's.
 */
#ifndef NM_REPLAYER_H
#define NM_REPLAYER_H

#include "chain.h"
#include "import.h"
#include "run.h"

struct nm_run_replay_request {
	struct nm_run_request run;
	const char *input;               /* path of the trace; "-": standard input */
	struct nm_import_options import; /* of another tool's trace */
	const char *const *binaries;     /* FILE[@ADDRESS] that such a trace ran (binaries.h) */
	size_t binary_count;
	unsigned processors;            /* replay so many processes at a time, if that is faster; 0: one */
	int by_phase;                   /* count by the phases of the run, which a first pass finds */
	const char *phase;              /* only this one, by its name or letter; or NULL */
	struct nm_chain_request *chain; /* this is one of several processes that replay the trace; or NULL */
};

/* Does it need the pass that finds phases? */
static inline int nm_run_replay_finds_phases(const struct nm_run_replay_request *request)
{
	return request->by_phase || request->phase;
}

/* 0 or an enum nm_status. A file that is damaged from some point on is read up to there: that makes a
 * result too, and NM_STATUS_BAD_INPUT. *ret_has_result: whether there is a result, in the profile or with the
 * receiver; without one, no file has been touched. */
int nm_run_replay(const struct nm_run_replay_request *request, int *ret_has_result, struct nm_error *err);

#endif
