/* SPDX-License-Identifier: MIT
 *
 * facts.h - the counts of one profile, as diff compares them: sums by object and line of code.
 */
#ifndef NM_DIFF_FACTS_H
#define NM_DIFF_FACTS_H

#include "arena.h"
#include "diff.h"
#include "report_selection.h"
#include "vector.h"

enum nm_diff_metric {
	NM_DIFF_REFERENCES,
	NM_DIFF_MISSES,
	NM_DIFF_LOADS,
	NM_DIFF_CYCLES, /* that misses cost, estimated (levels.h) */
	NM_DIFF_METRICS
};
extern const char *const nm_diff_metric_names[NM_DIFF_METRICS + 1]; /* NULL behind the last */

/* What rows may be told apart by. FUNCTION, FILE and OBJECT of a fact are always there. */
enum nm_diff_key {
	NM_DIFF_PROCESS,
	NM_DIFF_LEVEL,
	NM_DIFF_CLASS, /* of misses; then only loads are counted, and misses are lines */
	NM_DIFF_FUNCTION,
	NM_DIFF_FILE,
	NM_DIFF_LINE,
	NM_DIFF_OBJECT,
	NM_DIFF_TYPE,
	NM_DIFF_FIELD,
	NM_DIFF_KEYS
};
extern const char *const nm_diff_key_names[NM_DIFF_KEYS + 1];

/* Names are interned in one pool for all profiles: the same name is the same pointer. NULL: none is known. */
struct nm_diff_names {
	const char *text[NM_DIFF_KEYS]; /* [NM_DIFF_LINE] is NULL: */
	int64_t line;                   /* 0: unknown */
};

struct nm_diff_fact {
	struct nm_diff_names own, /* as recorded */
	    common;               /* as the first profile that has the same thing calls it (match.c) */
	int64_t sums[NM_DIFF_METRICS];
	int64_t executed; /* references at the first level and class: what the line did */
};

struct nm_diff_side {
	const char *path;
	struct nm_profile *profile;
	struct nm_selection selection;
	const char *command, *machine; /* these and `pinned` are in the pool */
	const char *pinned;            /* what a hermetic recording pins; "" of another */
	int64_t instructions;
	struct nm_vec(struct nm_diff_fact) facts;
	int64_t totals[NM_DIFF_METRICS];  /* of selection.request.level */
	int64_t misses[NM_REPORT_LEVELS]; /* by level, as in selection.levels */
};

/* Reads a profile whose path and profile are set; all else must be {0}. has: by key, whether rows are told
 * apart by it. Call nm_diff_side_done in any case. */
int nm_diff_side_load(struct nm_diff_side *side, const struct nm_diff_request *request, const char *has,
		      struct nm_strings *pool, struct nm_error *err);
void nm_diff_side_done(struct nm_diff_side *side);

#endif
