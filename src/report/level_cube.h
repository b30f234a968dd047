/* SPDX-License-Identifier: MIT
 *
 * level_cube.h - the view `counts`, read once and summed by keys, and what it says of the misses of a level.
 *
 * A miss of a level is a reference to the level behind it. So what the misses of a level cost is said by its own
 * counts and by those of the levels behind it, weighted (levels.h). They are summed by keys as they are stored, and
 * weighted only then: one pass over the profile serves every level, every grouping and every total.
 *
 *     nm_level_cube_load(&cube, profile, &(struct nm_level_cube_request){...}, &err);
 *     nm_charge(&by_object, &cube, selection, "L1d", (unsigned[]){NM_CUBE_ASKED}, 1, NULL, 0);
 */
#ifndef NM_REPORT_LEVEL_CUBE_H
#define NM_REPORT_LEVEL_CUBE_H

#include "cube.h"
#include "report_selection.h"
#include "vector.h"

/* A key: its name, and the SQL that it comes from, of the view `counts` and others that are read. */
struct nm_level_key {
	const char *name, *from;
	int is_number;
};

struct nm_level_cube_request {
	const struct nm_selection *selection; /* its process, thread and patterns select rows */
	const char *level;                    /* what is asked of: it and those behind it; NULL: all levels */
	const struct nm_level_key *keys;
	unsigned key_count;
	const char *view;      /* "counts", or another with its columns, which are read as `counts` */
	const char *condition; /* SQL, of rows that are read; or NULL */
	int has_types;         /* keys are from `o` too: process, object, type */
	const char *apart;     /* SQL of `places`, above 0: keys are from `z` too: place, apart; or NULL */
};

/* The first keys of a cube: the number in selection.levels, and whether the object is code, if levels tell. */
enum { NM_CUBE_LEVEL, NM_CUBE_CODE, NM_CUBE_ASKED };

struct nm_level_cube {
	struct nm_cube cube;                   /* the sums: counts.def */
	struct nm_vec(double) dependent_walks; /* of each row (levels.h) */
	struct nm_cube_names names;            /* as they are stored */
};

/* *ret_cube is overwritten. 0 or a code: then it is empty. */
int nm_level_cube_load(struct nm_level_cube *ret_cube, struct nm_profile *profile,
		       const struct nm_level_cube_request *request, struct nm_error *err);
void nm_level_cube_done(struct nm_level_cube *cube);

/* Adds sums to the row with these keys. 0 or NM_ENOMEM. */
int nm_level_cube_add(struct nm_level_cube *cube, const nm_key *keys, const struct nm_metric_sums *sums);

/* Whether a row with these keys is of level `source`, and of that side. */
int nm_is_charged(const nm_key *keys, unsigned source, enum nm_charged_side side);

/* Sums of what is charged to a level. Own: rows of the level itself, without which it was not referenced. */
enum nm_charged_sum {
	NM_CHARGED_OWN,
	NM_CHARGED_LINES,
	NM_CHARGED_LAST_MISSES, /* of the level that selection.last names */
	NM_CHARGED_COUNTS,      /* of the level itself: counts.def; behind them the misses of each of
				 * selection.machines */
	NM_CHARGED_MACHINES = NM_CHARGED_COUNTS + NM_COUNTS
};

struct nm_charged {
	struct nm_cube cube;
	struct nm_vec(double) cycles; /* of each row */
};

/* Sums what is charged to a level (NULL: to each level) by keys of the cube, of which NM_CUBE_LEVEL is the level that
 * it is charged to, of the rows that meet the conditions. *ret_charged is overwritten. 0 or NM_ENOMEM: then it is
 * empty. */
int nm_charge(struct nm_charged *ret_charged, const struct nm_level_cube *cube,
	      const struct nm_selection *selection, const char *level, const unsigned *by, unsigned by_count,
	      const struct nm_cube_condition *conditions, unsigned condition_count);
void nm_charged_done(struct nm_charged *charged);

/* A row as metrics are computed of. */
struct nm_metric_row nm_charged_row(const struct nm_charged *charged, size_t row);

#endif
