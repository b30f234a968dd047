/* SPDX-License-Identifier: MIT
 *
 * sampling.h - what samples of a program and of a running process have in common.
 *
 * Samples go from the kernel's buffers to a file without a name, as perf.data, which is imported at the end like any
 * other (perf_importer.h). So nothing is looked up while the program runs.
 */
#ifndef NM_SAMPLING_H
#define NM_SAMPLING_H

#include "program_sampler.h"
#include "rings.h"

struct nm_sampling {
	const struct nm_sample_request *request;
	struct nm_sampled_event event;
	struct nm_rings *rings;
	FILE *samples;
	int heap; /* file of the log of allocations (heap_events.h); -1: there is none */
};

/* Finds the event, begins the file, and makes buffers that nothing fills yet. Returns a status. */
int nm_sampling_open(struct nm_sampling *sampling, const struct nm_sample_request *request,
		     char *const *command, struct nm_error *err);
void nm_sampling_done(struct nm_sampling *sampling);

/* A file without a name, where the profile will be. -1 (errno). */
int nm_sampling_file(const struct nm_sampling *sampling);

/* Waits for samples, a tenth of a second at most, and moves them to the file. *ret_ended: all that was watched has
 * ended. 0, or -1 if they cannot be written (errno). */
int nm_sampling_turn(struct nm_sampling *sampling, int *ret_ended);

/* After the last turn. 0, or -1 (errno). */
int nm_sampling_end(struct nm_sampling *sampling);

/* Makes the profile: a status. Without a sample there is none, and a warning. */
int nm_sampling_import(struct nm_sampling *sampling, int *ret_has_result, struct nm_error *err);

#endif
