/* SPDX-License-Identifier: MIT
 *
 * pmu_estimates.h - what the samplers of a simulated PMU say of a run, beside what the simulation counted.
 *
 * The *parts* of a level's loads are its objects or lines; of its evictions, pairs of objects, or these at a
 * line. The share of a part is of its *group*: all loads, or the evictions of one victim.
 */
#ifndef NM_REPORT_PMU_ESTIMATES_H
#define NM_REPORT_PMU_ESTIMATES_H

#include "arena.h"
#include "map.h"
#include "reader.h"
#include "simulated_pmu.h"
#include "vector.h"

enum nm_accuracy_by {
	NM_ACCURACY_OBJECTS,
	NM_ACCURACY_LINES,
	NM_ACCURACY_PAIRS,
	NM_ACCURACY_PAIR_LINES,
};

struct nm_estimated_sampler {
	const char *name, *rule; /* "miss@1000", "miss" */
	uint64_t period, interrupts;
	/* Misses that the interrupts cost, in percent of those of the run; negative: not simulated. */
	double extra_misses;
	double overhead; /* time of the interrupts, in percent */
};

/* A text is NULL where it is unknown, or parts are not told apart by it. */
struct nm_estimated_part {
	const char *victim, *object, *file, *function;
	int64_t line;
	uint32_t group;
	uint64_t truth;
	uint64_t samples[NM_PMU_SAMPLERS];
};

struct nm_estimated_group {
	uint64_t truth;
	uint64_t samples[NM_PMU_SAMPLERS];
};

struct nm_estimates {
	char *level; /* NULL: there was no simulated PMU */
	struct nm_estimated_sampler samplers[NM_PMU_SAMPLERS];
	unsigned sampler_count;
	struct nm_vec(struct nm_estimated_part) parts; /* those of a group are consecutive */
	struct nm_vec(struct nm_estimated_group) groups;
	uint64_t truth; /* of all groups */
	struct nm_strings pool;
};

/* process: NULL: all. ret must be {0}; call nm_estimates_done in any case. NM_EINVAL: no PMU was simulated. */
int nm_estimates_read(struct nm_profile *profile, enum nm_accuracy_by by, const char *process,
		      struct nm_estimates *ret, struct nm_error *err);
void nm_estimates_done(struct nm_estimates *estimates);

/* How good a sampler's estimates are, in points of share. Groups with less than a tenth of all, and in ranks
 * and intervals parts with less than a hundredth of their group, are left out. */
struct nm_accuracy {
	uint64_t samples;
	double error;                          /* the largest, in points; 0 where there are no samples */
	const struct nm_estimated_part *worst; /* which has it; NULL: there are no samples */
	double tau;       /* Kendall's tau-b, over pairs of parts of one group; NaN: there are none to rank */
	unsigned ranked;  /* parts */
	unsigned covered; /* of those, how many lie in the interval of their estimate */
	uint64_t swapped; /* pairs more than `within` points apart, in the wrong order in the estimates */
};
struct nm_accuracy nm_accuracy_of(const struct nm_estimates *estimates, unsigned sampler, double within);

#endif
