/* SPDX-License-Identifier: MIT
 *
 * perf_importer.h - turns the samples of a perf.data file into a profile.
 */
#ifndef NM_PERF_IMPORTER_H
#define NM_PERF_IMPORTER_H

#include "run.h"

struct nm_perf_request {
	const char *input;        /* path; "-": standard input */
	int is_sampled;           /* nearmiss has sampled it just now, into a file without a name */
	int heap;                 /* file of a log of allocations (heap_events.h); < 0 or 0: there is none */
	const char *output;       /* path of the profile */
	const char *exact;        /* profile that names data at instructions (exact.h), or NULL */
	const char *user_folders; /* of the user's sources (user_code.h), or NULL */
	struct nm_source_choice sources;
	struct nm_run_feedback feedback;
};

/* A damaged file gives a profile of the samples before the fault, and NM_STATUS_BAD_INPUT. Returns a status;
 * *ret_has_result: there is a profile. */
int nm_import_samples(const struct nm_perf_request *request, int *ret_has_result, struct nm_error *err);

#endif
