/* SPDX-License-Identifier: MIT
 *
 * phase_plan.h - the phases of each process of a run, found by one pass over its stream, for a second one that
 * counts by them.
 *
 * Phases are found in the whole run (passes/phases.h), so what is counted by them is counted in a second pass,
 * in which a phase is a region (regions.h) whose limits are known.
 */
#ifndef NM_PHASE_PLAN_H
#define NM_PHASE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "vector.h"

/* From this many counted instructions on, up to the next limit, the run is in a phase. */
struct nm_phase_limit {
	uint64_t begin;
	uint32_t phase; /* 0, 1, ... in the order of their beginnings */
};

enum { NM_ALL_PHASES = -1, NM_NO_PHASE = -2 };

struct nm_phase_plan {
	uint32_t stream;
	int only; /* the phase that counts; NM_ALL_PHASES: all do, each for itself; NM_NO_PHASE: none does */
	struct nm_vec(
	    struct nm_phase_limit) limits; /* the first begins at 0; neighbours differ; empty: no phases */
};

struct nm_phase_plans {
	struct nm_vec(struct nm_phase_plan) at;
};

static inline const struct nm_phase_plan *nm_phase_plan_of(const struct nm_phase_plans *plans,
							   uint32_t stream)
{
	for (size_t i = 0; i < plans->at.count; i++)
		if (plans->at.at[i].stream == stream)
			return &plans->at.at[i];
	return NULL;
}

static inline void nm_phase_plans_done(struct nm_phase_plans *plans)
{
	for (size_t i = 0; i < plans->at.count; i++)
		nm_vec_free(&plans->at.at[i].limits);
	nm_vec_free(&plans->at);
}

#endif
