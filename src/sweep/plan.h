/* SPDX-License-Identifier: MIT
 *
 * plan.h - the tasks of a sweep, as a file in YAML has them (docs/man/nearmiss-sweep.1.md has its keys).
 *
 *     nests: [{file: blocked.nest, set: [N=200, N=256]}]
 *     machines: [zen4, "L1d=32K,8,64"]
 *     sizes: [16K, 32K, 64K]
 *
 * Each input is simulated with each cache: 2 * 2 * 3 tasks.
 */
#ifndef NM_SWEEP_PLAN_H
#define NM_SWEEP_PLAN_H

#include "arena.h"
#include "errors.h"
#include "sweep_file.h"
#include "vector.h"

struct nm_sweep_plan {
	const char *path; /* borrowed */
	/* The largest first, else in the plan's order; no two alike. */
	struct nm_vec(struct nm_sweep_task) tasks;
	struct nm_strings pool;
};

/* Reads a plan and looks at its inputs; *ret_plan must be {0}; call nm_sweep_plan_done in any case. NM_EINVAL names
 * the line of a mistake; NM_ENOENT: there is no such file. */
int nm_sweep_plan_read(struct nm_sweep_plan *ret_plan, const char *path, struct nm_error *err);
void nm_sweep_plan_done(struct nm_sweep_plan *plan);

#endif
