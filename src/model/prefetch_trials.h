/* SPDX-License-Identifier: MIT
 *
 * prefetch_trials.h - what software prefetches would do that the program does not make: a *trial* is a hierarchy of LRU
 * caches in which each execution of some loads is preceded by a prefetch of what the load will access so many
 * executions later, the *distance*. All trials see one stream, which is kept until it is known as far ahead as they
 * look.
 *
 * Counting rules:
 * - The executions of a load by a thread are a *sequence*. Before execution i the prefetch of distance d touches the
 *   line at the first byte of execution i + d, if that comes within NM_TRIAL_AHEAD references; it loads the line into
 *   each level from the first one on that lacks it. redundant: the first level had it.
 * - useful: lines that the prefetch loaded into the first level and that were there at the first reference to them.
 * - late: useful ones whose first reference is fewer references after the prefetch than the level that served it takes
 *   cycles (as hierarchy.h has it); rest: the references that are missing.
 * - covered, polluted: references that miss in the first level only without, only with the prefetches.
 * - Misses are those of demand references, as hierarchy.h counts them, by key.
 */
#ifndef NM_PREFETCH_TRIALS_H
#define NM_PREFETCH_TRIALS_H

#include "lru_misses.h"

enum { NM_TRIAL_AHEAD = 1 << 18 /* references */, NM_TRIAL_DISTANCE = 64 /* at most */ };

struct nm_prefetch_trial {
	const struct nm_machine *machine;
	unsigned distance; /* 0: no prefetches; the first trial of each machine is such a one */
};

struct nm_prefetch_counts {
	uint64_t prefetches; /* made */
	uint64_t redundant, useful, covered, polluted;
	/* By the number of levels that lacked the line: */
	uint64_t late[NM_MAX_DEPTH + 1], rest[NM_MAX_DEPTH + 1];
};

/* Whose misses are summed: those of the loads; of the other references to objects that these access; of the rest. */
enum nm_prefetch_share { NM_OF_LOADS, NM_OF_OBJECTS, NM_OF_REST, NM_PREFETCH_SHARES };

struct nm_prefetch_sums {
	struct nm_prefetch_counts counts;
	uint64_t misses[NM_PREFETCH_SHARES][NM_MAX_DEPTH];
};

static inline uint64_t nm_prefetch_late(const struct nm_prefetch_counts *counts)
{
	uint64_t late = 0;

	for (unsigned depth = 0; depth <= NM_MAX_DEPTH; depth++)
		late += counts->late[depth];
	return late;
}

struct nm_prefetch_trials;

/* 0, or NM_EINVAL: a machine of other rules than nm_lru_misses_check accepts, or several. */
int nm_prefetch_trials_check(const struct nm_machine *machine, struct nm_error *err);

/* The latencies are those of the machines, which they must have; their first data levels have lines of one size. Up to
 * `threads` run trials; the counts do not depend on that. NULL: out of memory. */
struct nm_prefetch_trials *nm_prefetch_trials_new(const struct nm_prefetch_trial *trials, unsigned count,
						  unsigned threads);
void nm_prefetch_trials_free(struct nm_prefetch_trials *trials);

/* From now on, keys are below. 0 or NM_ENOMEM. */
int nm_prefetch_trials_reserve(struct nm_prefetch_trials *trials, size_t keys);

/* The next reference to data. Key 0: it does not count. sequence: 1, 2, ...: it is an execution of that one; 0: of
 * none. The last: there are no more. 0 or NM_ENOMEM. */
int nm_prefetch_trials_add(struct nm_prefetch_trials *trials, const struct nm_lru_misses_ref *ref,
			   uint32_t sequence);
int nm_prefetch_trials_end(struct nm_prefetch_trials *trials);

/* Of a trial. depth 0: the first level that data enter. */
const struct nm_prefetch_counts *nm_prefetch_trials_counts(const struct nm_prefetch_trials *trials,
							   unsigned trial);
uint64_t nm_prefetch_trials_misses(const struct nm_prefetch_trials *trials, unsigned trial, size_t key,
				   unsigned depth);

/* The lines that executions accessed. */
uint64_t nm_prefetch_trials_lines(const struct nm_prefetch_trials *trials);

#endif
