/* SPDX-License-Identifier: MIT
 *
 * nest_runner.h - simulates the references of a loop nest.
 */
#ifndef NM_NEST_RUNNER_H
#define NM_NEST_RUNNER_H

#include <stddef.h>

#include "run.h"

struct nm_nest_run_request {
	struct nm_run_request run;
	const char *path;
	const char *const *settings; /* "NAME=VALUE", ended by NULL */
	size_t setting_count;
	const char *trace; /* path of a trace to write too, or NULL */
};

/* 0 or an enum nm_status. */
int nm_nest_simulate(const struct nm_nest_run_request *request, struct nm_error *err);

#endif
