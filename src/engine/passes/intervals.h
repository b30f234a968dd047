/* SPDX-License-Identifier: MIT
 *
 * intervals.h - the intervals of a run: what each of them has counted, by attribution key and level.
 *
 * Intervals are equally many instructions long, but for the last and for the batch in which one ends. When
 * there are NM_MAX_INTERVALS, or their changes take NM_INTERVAL_BYTES, each two become one and the next ones
 * are twice as long: memory is bounded, and the resolution follows the length of the run. Nothing is counted
 * for it; at the end of an interval the hierarchy tells what has changed (count_changes.h). So the sum over
 * intervals is what the run has counted, to the last miss.
 */
#ifndef NM_INTERVALS_H
#define NM_INTERVALS_H

#include "count_changes.h"
#include "pass.h"
#include "phase_plan.h"

enum { NM_MAX_INTERVALS = 256, NM_INTERVAL_BYTES = 24 << 20 };

struct nm_interval {
	uint64_t begin, end; /* instructions */
	uint64_t refs[NM_MAX_LEVELS][2];
	/* By level a number of changes, then those, by key: the key's distance from the one before, a bit for
	 * each count that is not 0, these counts; all but the bits as varint.h has it. */
	struct nm_packed_changes {
		uint8_t *at;
		size_t count, room;
	} packed;
	uint8_t sketch[NM_SKETCH];
};

struct nm_intervals {
	struct nm_hierarchy *hierarchy;
	unsigned levels;
	int next[NM_MAX_LEVELS]; /* the level that each requests its lines of, or -1 */
	struct nm_vec(struct nm_interval) list;
	uint64_t begin, due; /* instructions: of the current interval; when it is over */
	uint64_t length;
	size_t bytes; /* of packed changes */
	struct nm_change_list taken[NM_MAX_LEVELS];
};

/* Before the first batch of the hierarchy, which is borrowed. 0 or NM_ENOMEM. */
int nm_intervals_init(struct nm_intervals *intervals, struct nm_hierarchy *hierarchy, unsigned levels);
void nm_intervals_done(struct nm_intervals *intervals);

/* After a batch, when so many instructions have been executed: ends the interval if it is over; or ends it
 * anyway, after the last batch. 0 or NM_ENOMEM. */
int nm_intervals_end(struct nm_intervals *intervals, uint64_t instructions);
static inline int nm_intervals_step(struct nm_intervals *intervals, uint64_t instructions)
{
	return instructions < intervals->due ? 0 : nm_intervals_end(intervals, instructions);
}

/* Reads an interval's changes, from level 0 on. */
struct nm_change_reader {
	const uint8_t *at, *end;
	uint64_t left; /* changes of the level */
	struct nm_change change;
};
struct nm_change_reader nm_changes_read(const struct nm_interval *interval);
void nm_changes_next_level(struct nm_change_reader *reader); /* all of the last one were read */
int nm_changes_next(struct nm_change_reader *reader);        /* 1, or 0 behind the level's last one */

/* timeline_phases.c: the phases of the result's intervals, by the misses of a level; those of a plan, if there is
 * one. 0 or NM_ENOMEM. */
int nm_intervals_find_phases(struct nm_result *result, unsigned level, const struct nm_phase_plan *plan);

/* timeline.c: the intervals as the result has them, and their phases. 0 or NM_ENOMEM. */
int nm_intervals_finish(const struct nm_intervals *intervals, const struct nm_pass_merge *merge,
			struct nm_result *result);

#endif
