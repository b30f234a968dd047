/* SPDX-License-Identifier: MIT
 *
 * master.h - hands the tasks of a plan out to workers, and writes their results.
 */
#ifndef NM_SWEEP_MASTER_H
#define NM_SWEEP_MASTER_H

#include "plan.h"
#include "sweep_file.h"
#include "transport.h"

struct nm_sweep_progress {
	size_t tasks; /* of the plan */
	size_t earlier, done,
	    failed;              /* with a result of an earlier run; of this one, failed ones among them */
	char first_failure[300]; /* "": none */
	double seconds_left;     /* by the work of what was done so far; negative: not known yet */
};

struct nm_sweep_request {
	const struct nm_sweep_plan *plan;
	const struct nm_sweep_transport *transport;
	struct nm_sweep_file *file;
	int again; /* failed tasks of earlier runs too */
	/* Called about twice a second. */
	void (*progress)(void *self, const struct nm_sweep_progress *progress);
	void *self;
};

/* Runs the tasks that have no result yet, and ends the workers. 0 or a code: then what was done is in the file. */
int nm_sweep_run(const struct nm_sweep_request *request, struct nm_sweep_progress *ret_progress,
		 struct nm_sweep_run *ret_run, struct nm_error *err);

#endif
