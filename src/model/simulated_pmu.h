/* SPDX-License-Identifier: MIT
 *
 * simulated_pmu.h - a simulated performance-monitoring unit: samplers that see of a run what a processor's would show.
 *
 * A sampler counts events of one level and takes a *sample* of one in `period` of them. The rules:
 * - miss: each load of a line counts; the sample is the one that makes the counter overflow, with the address
 *   that missed and the line that it evicted, which no processor reports.
 * - precise: each load instruction that misses counts, no store does; the sample is the one that overflows.
 * - pebs: counts the same; the overflow arms the sampler, and the sample is the next such load that is at least
 *   `shadow` instructions later. Loads in between are not counted.
 * - ibs (Arm's SPE is like it): each instruction counts, and the one that overflows is tagged. The tag falls on
 *   its first access; there is a sample if that misses.
 *
 * With fixed periods the counter starts at the period each time; with random ones at a number from half of it
 * to one and a half, drawn from a seed. Each sample, and each tagged instruction, is an interrupt.
 */
#ifndef NM_SIMULATED_PMU_H
#define NM_SIMULATED_PMU_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

enum nm_pmu_rule { NM_PMU_MISS, NM_PMU_PRECISE, NM_PMU_PEBS, NM_PMU_IBS, NM_PMU_RULES };
extern const char *const nm_pmu_rule_names[NM_PMU_RULES];

enum {
	NM_PMU_SAMPLERS = 16,
	NM_PMU_MOST_LINES = 1 << 16,
	NM_PMU_NAME = 32,
	NM_PMU_LEVEL = 36,
};

struct nm_pmu {
	struct nm_pmu_request {
		enum nm_pmu_rule rule;
		uint64_t period; /* at least 1 */
	} samplers[NM_PMU_SAMPLERS];
	unsigned count; /* 0: there is none */
	int random;
	uint64_t seed;
	uint32_t shadow;          /* instructions */
	uint32_t handler;         /* lines that the interrupt's handler touches */
	char level[NM_PMU_LEVEL]; /* whose misses are sampled; "": the first that takes data */
};

/* Reads "RULE@PERIOD,...[,random=SEED][,shadow=N][,handler=LINES][,level=NAME]". 0, or NM_EINVAL with a message. */
int nm_pmu_parse(const char *text, struct nm_pmu *ret_pmu, struct nm_error *err);

/* The index of the level. 0, or NM_EINVAL with a message. */
struct nm_machine;
int nm_pmu_level(const struct nm_pmu *pmu, const struct nm_machine *machine, unsigned *ret_level,
		 struct nm_error *err);

/* "miss@1000". */
void nm_pmu_name(const struct nm_pmu_request *request, char name[NM_PMU_NAME]);

/* Whether a sampler needs to know how many instructions have been executed. */
int nm_pmu_needs_instructions(const struct nm_pmu *pmu);

/* What a sampler sees of a reference: one occurrence if it loads no line, else one for each line. */
struct nm_pmu_occurrence {
	uint64_t instruction; /* executed up to and including its own; never falls */
	uint8_t is_access;    /* of data */
	uint8_t is_load;      /* that reads */
	uint8_t is_fill;      /* it loads a line of the level */
	uint8_t is_further;   /* the reference had an occurrence before */
};

struct nm_pmu_sampler {
	struct nm_pmu_request request;
	int random;
	uint32_t shadow;
	uint64_t stream, drawn; /* of random numbers */
	uint64_t left;          /* events until the overflow; 0: armed */
	uint64_t next; /* armed: the first instruction out of the shadow; ibs: the next one that is tagged */
	uint64_t interrupts;
	uint64_t tagged_accesses; /* ibs: tagged instructions that access memory */
};

void nm_pmu_sampler_init(struct nm_pmu_sampler *sampler, const struct nm_pmu *pmu, unsigned index);

/* Whether this occurrence is sampled: then it loads a line. */
int nm_pmu_sampler_see(struct nm_pmu_sampler *sampler, const struct nm_pmu_occurrence *occurrence);

#endif
