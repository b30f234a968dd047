/* SPDX-License-Identifier: MIT
 *
 * levels.h - the levels of a profile, and the cost of a miss in each.
 */
#ifndef NM_REPORT_LEVELS_H
#define NM_REPORT_LEVELS_H

#include "arena.h"
#include "metrics.h"
#include "reader.h"

enum { NM_REPORT_LEVELS = 32 };

struct nm_level {
	const char *name;
	enum { NM_LEVEL_UNIFIED, NM_LEVEL_DATA, NM_LEVEL_CODE } side;
	int64_t size, line_size, way; /* bytes; a way has a line of each set */
	/* bytes of a load, where lines are prefetched too; else 0, and each load is a line */
	int64_t unit;
	int64_t latency; /* cycles of a reference that this level serves */
};

struct nm_levels {
	struct nm_level at[NM_REPORT_LEVELS];
	unsigned count;
	int64_t memory;    /* cycles of a reference that no level serves */
	int64_t walk;      /* cycles of a page walk; 0: they are not counted */
	const char *asked; /* the level that is reported on */
	int has_covered;   /* counts have the loads that prefetchers cover, and those that are dependent */
	struct nm_strings pool;
};

/* latency: the user's "L2=14,walk=35,memory=200", or NULL. *levels must be {0}; call nm_levels_done in any case.
 * NM_EINVAL: no such level, or no number. */
int nm_levels_load(struct nm_levels *levels, struct nm_profile *profile, const char *latency,
		   struct nm_error *err);
void nm_levels_done(struct nm_levels *levels);
const struct nm_level *nm_levels_named(const struct nm_levels *levels, const char *name); /* or NULL */

/* The last level of its machine. */
const struct nm_level *nm_levels_last(const struct nm_levels *levels, const struct nm_level *level);

/* The lines that were loaded and prefetched, from the counts of a level, which may be NULL. */
static inline int64_t nm_level_lines(const struct nm_level *level, int64_t loaded_bytes, int64_t loads)
{
	return level && level->unit ? loaded_bytes / level->unit : loads;
}

/* Whether code has a level of its own: objects tell code and data apart at the levels behind it, then. */
int nm_levels_split(const struct nm_levels *levels);

/* A figure of the cost model: the likely one, and those of the ends of a range. */
enum nm_case { NM_LIKELY, NM_LEAST, NM_MOST, NM_CASES };

struct nm_waiting {
	double per_instruction; /* cycles of an instruction, without misses */
	double dependent;       /* the part of its latency, and of a page walk, that a dependent load waits */
	double hidden;          /* cycles of a latency that other work hides, if the load is not dependent, */
	double together;        /* and how many such loads wait at a time */
	double covered;         /* the part of such a load's wait that is left if it is covered, */
	double transfer;        /* and the cycles that it takes at most: those of the transfer of a line */
	double walk;            /* the part of a page walk that a load waits that is not dependent */
	double first;           /* cycles that a dependent load takes without a miss */
	double written;         /* the part of a covered load's wait that a write-back takes */
	double scattered;       /* the part of the conflicts that the places of pages in memory avoid */
};
extern const struct nm_waiting nm_waiting[NM_CASES];

/* Cycles that a load waits, by kind, and what its page walk adds if it is dependent or not. */
struct nm_waits {
	double dependent, together, covered;
	double dependent_walk, walk;
};

/* For a level or memory of that latency, without page walks. */
struct nm_waits nm_waits_of(enum nm_case which, double latency);

/* What a miss of `source` adds to the waits that are charged to the misses of `level`, the same or a level before
 * it of the same machine. 0, if its counts do not have the kinds of loads. */
struct nm_waits nm_levels_waits(const struct nm_levels *levels, const struct nm_level *level,
				const struct nm_level *source, enum nm_case which);

/* The latency of what serves the misses of a level. */
int64_t nm_levels_next_latency(const struct nm_levels *levels, const struct nm_level *level);

/* What the counts of a level mean for the misses of a level before it, or for its own. */
enum nm_charged_side { NM_CHARGED_BOTH, NM_CHARGED_CODE, NM_CHARGED_DATA };
struct nm_charge {
	int is_own;                /* they are those of the level itself */
	enum nm_charged_side side; /* of the references, only these count */
	int64_t hit, miss;         /* cycles of each */
	struct nm_waits waits;     /* where the machine has prefetchers, the likely cycles that a load adds */
};

/* What the counts of level j mean for level i. 1, or 0: nothing. */
int nm_levels_charge(const struct nm_levels *levels, unsigned i, unsigned j, struct nm_charge *ret_charge);

/* Of the page walks of one row of `counts`, those of dependent loads, if its loads have them alike. */
double nm_dependent_walks(const struct nm_metric_sums *cell);

/* The cycles that sums of counts are charged with; dependent_walks: the sum over their rows. */
double nm_charge_cycles(const struct nm_charge *charge, const struct nm_metric_sums *sums,
			double dependent_walks);

#endif
