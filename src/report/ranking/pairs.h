/* SPDX-License-Identifier: MIT
 *
 * pairs.h - all pairs of object and line at the level that is reported on: read once, for the first pairs, the first
 * objects, and the rest that is not shown by rows.
 */
#ifndef NM_REPORT_PAIRS_H
#define NM_REPORT_PAIRS_H

#include "level_cube.h"

/* What the first screen keeps apart, as the SQL expression on columns of `counts` and `places` numbers it. Linking: the
 * dynamic linker's code, when it works for no call of the user's, and the tables in which it looks symbols up. Waiting:
 * the progress loops of MPI. */
enum nm_apart { NM_APART_NOT, NM_APART_LINKING, NM_APART_WAITING, NM_APARTS };
#define NM_WAITING_IN_MPI "waiting in MPI" /* their user_function in the views */
extern const char nm_apart_expression[];

/* Whether numbers (views `cells` and `places`) tell pairs apart: keys NM_PAIR_APART, NM_PAIR_SITE and NM_PAIR_NAME (of
 * the object); else keys are NM_PAIR_APART, object, function, file and line. NM_PAIR_APART is enum nm_apart, which is
 * told where the selection leaves some apart. */
enum { NM_PAIR_APART = NM_CUBE_ASKED, NM_PAIR_SITE, NM_PAIR_NAME, NM_PAIR_NUMBERS };
int nm_pairs_have_numbers(const struct nm_selection *selection);

/* Reads the pairs of the selected process and thread, or, if not by line, only the objects of those with numbers. As
 * nm_level_cube_load. */
int nm_pairs_load(struct nm_level_cube *ret_pairs, struct nm_profile *profile,
		  const struct nm_selection *selection, int by_line, struct nm_error *err);

/* The condition on pairs that are not kept apart. */
struct nm_cube_condition nm_pairs_shown(void);

/* The sums of all pairs, by enum nm_apart. 0 or NM_ENOMEM. */
struct nm_rest {
	int64_t pairs, misses, last_misses, cycles;
};
int nm_rest_sum(const struct nm_level_cube *pairs, const struct nm_selection *selection,
		struct nm_rest ret_rest[NM_APARTS]);

#endif
