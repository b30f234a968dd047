/* SPDX-License-Identifier: MIT
 *
 * count_changes.h - what a hierarchy has counted since it was asked last: the course of a run, at a cost that grows
 * with what has changed.
 *
 * The sums over all changes are the counts of nm_hierarchy_counts, as far as a struct nm_change has them.
 */
#ifndef NM_COUNT_CHANGES_H
#define NM_COUNT_CHANGES_H

#include "hierarchy.h"
#include "sketch.h"
#include "vector.h"

enum nm_change_count {
	NM_CHANGE_READS, /* lines loaded for reads and fetches, for writes */
	NM_CHANGE_WRITES,
	NM_CHANGE_MORE_READS, /* of those, the second and later lines of one reference */
	NM_CHANGE_MORE_WRITES,
	NM_CHANGE_COLD,
	NM_CHANGE_CAPACITY,
	NM_CHANGE_CONFLICT,
	NM_CHANGE_AROUND, /* writes that missed and were not loaded */
	NM_CHANGES
};

struct nm_change {
	uint32_t key;
	uint64_t counts[NM_CHANGES];
};

struct nm_change_list nm_vec(struct nm_change);

/* Before the first batch. 0 or NM_ENOMEM. */
int nm_hierarchy_track_changes(struct nm_hierarchy *hierarchy);

/* Between batches: appends the keys whose counts at a level have changed, ascending; *ret_refs: the
 * references that the program has made to this level itself. Call it before a key has loaded 2^32 lines, and for
 * levels that are simulated (nm_hierarchy_simulated). 0 or NM_ENOMEM. */
int nm_hierarchy_take_changes(struct nm_hierarchy *hierarchy, unsigned level, struct nm_change_list *list,
			      uint64_t ret_refs[2]);

/* Merges the sketch of the lines that the first data level of the first machine has loaded into another. */
void nm_hierarchy_take_sketch(struct nm_hierarchy *hierarchy, uint8_t *sketch);

/* The level that a level requests its lines of; -1: memory. */
int nm_hierarchy_next_level(const struct nm_hierarchy *hierarchy, unsigned level);

/* A change as counts: misses, classes and loads; references stay 0. */
struct nm_counts nm_change_counts(const struct nm_change *change);

#endif
