/* SPDX-License-Identifier: MIT
 *
 * phases.h - the phases of a run, found in its intervals by what misses in them.
 *
 * An interval is a vector of misses per instruction, by object and by line of code. The distance of two vectors is
 * Manhattan's as a part of the greatest that it could be: |a - b| / (|a| + |b| + 2 f), where f is 5 % of the mean of
 * the run, so that intervals which hardly miss are alike. Two that differ only in their object, or only in their
 * line, are about 0.5 apart; one that misses twice as much as the other, 0.3. A *stretch* of intervals is a vector
 * too: their misses over their instructions.
 *
 * 1. Of neighbours, the two with the least distance become one stretch, as long as it is below NM_PHASE_DISTANCE.
 * 2. Stretches of one interval, or of less than 1/64 of the run, join the nearer neighbour, the shortest first.
 * 3. From the first on, each stretch belongs to the nearest phase before it if the distance is below
 *    NM_PHASE_DISTANCE, or if there are NM_MOST_PHASES; else it is a new phase.
 *
 * Vectors of the code of intervals and this distance are those of Sherwood, Perelman, Hamerly and Calder,
 * "Automatically characterizing large scale program behavior" (ASPLOS 2002), which cluster by k-means; here they
 * are of misses, which phases are to explain, and merging neighbours first needs no random start.
 */
#ifndef NM_PHASES_H
#define NM_PHASES_H

#include <stddef.h>
#include <stdint.h>

#define NM_PHASE_DISTANCE 0.4
#define NM_PHASE_FLOOR 0.05   /* f, of the mean */
enum { NM_MOST_PHASES = 12 }; /* no more than NM_RESULT_PHASES */

struct nm_phase_intervals {
	size_t count, width;
	const double *misses;       /* [count][width] */
	const double *instructions; /* [count], above 0 */
};

struct nm_stretch {
	size_t first, count; /* intervals */
	unsigned phase;      /* 0, 1, ... in the order of their beginnings */
};

/* The stretches of a run, malloc'ed, neighbours of different phases. 0 or NM_ENOMEM. */
int nm_phases_find(const struct nm_phase_intervals *intervals, struct nm_stretch **ret_stretches,
		   size_t *ret_count);

#endif
