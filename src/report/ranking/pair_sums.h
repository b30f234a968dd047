/* SPDX-License-Identifier: MIT
 *
 * pair_sums.h - what all pairs of object and line come to at the level that is reported on: read once, for the first
 * pairs, the first objects, and the rest that is not shown by rows.
 */
#ifndef NM_REPORT_PAIR_SUMS_H
#define NM_REPORT_PAIR_SUMS_H

#include "cube.h"
#include "report_selection.h"
#include "vector.h"

/* What the first screen keeps apart, as the SQL expression on columns of `counts` and `places` numbers it. Linking: the
 * dynamic linker's code, when it works for no call of the user's, and the tables in which it looks symbols up. Waiting:
 * the progress loops of MPI. */
enum nm_apart { NM_APART_NOT, NM_APART_LINKING, NM_APART_WAITING, NM_APARTS };
#define NM_WAITING_IN_MPI "waiting in MPI" /* their user_function in the views */
extern const char nm_apart_expression[];

/* Sums of the cube. Own: rows of the level itself, without which a pair is not there. Apart: the greatest enum
 * nm_apart. */
enum nm_pair_sum {
	NM_PAIR_OWN,
	NM_PAIR_COLD,
	NM_PAIR_MISSES,
	NM_PAIR_LAST_MISSES,
	NM_PAIR_APART,
	NM_PAIR_SUMS
};

struct nm_pair_sums {
	struct nm_cube cube;
	struct nm_vec(double) cycles; /* of each row of the cube */
	struct nm_cube_names names;   /* of its keys, if they are texts */
};

/* Keys of the cube. Numbers (views `cells` and `places`) if they tell pairs apart: NM_PAIR_SITE, NM_PAIR_NAME (of the
 * object); else object, function, file, line. The last key is enum nm_apart, which is told where the selection leaves
 * some apart. */
enum { NM_PAIR_SITE, NM_PAIR_NAME, NM_PAIR_NUMBERS };
int nm_pairs_have_numbers(const struct nm_selection *selection);

/* Reads the pairs of the selected process and thread, or, if not by line, only the objects of those with numbers.
 * *ret_sums is overwritten. 0 or a code: then it is empty. */
int nm_pair_sums_load(struct nm_pair_sums *ret_sums, struct nm_profile *profile,
		      const struct nm_selection *selection, int by_line, struct nm_error *err);

/* Sums them by these keys; without those that are kept apart, if that is asked for. As above; NM_ENOMEM. */
int nm_pair_sums_group(struct nm_pair_sums *ret_sums, const struct nm_pair_sums *pairs, const unsigned *by,
		       unsigned by_count, int without_apart);
void nm_pair_sums_done(struct nm_pair_sums *sums);

/* The sums of all pairs, by enum nm_apart. 0 or NM_ENOMEM. */
struct nm_rest {
	int64_t pairs, misses, last_misses, cycles;
};
int nm_rest_sum(const struct nm_pair_sums *pairs, struct nm_rest ret_rest[NM_APARTS]);

#endif
