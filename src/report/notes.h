/* SPDX-License-Identifier: MIT
 *
 * notes.h - the sentences under the summary.
 */
#ifndef NM_REPORT_NOTES_H
#define NM_REPORT_NOTES_H

#include "arena.h"
#include "table.h"
#include "verdict.h"

struct nm_notes nm_vec(const char *);

/* What to try against the first pairs if the verdict is that the program is memory-bound, and what was wrong
 * with the recording. The sentences live in the pool of `pairs`, and so do the
 * candidate layouts that they advise, unless ret_layouts is NULL. */
int nm_notes_make(struct nm_profile *profile, const struct nm_selection *selection,
		  const struct nm_verdict *verdict, struct nm_table *pairs, struct nm_notes *ret_notes,
		  struct nm_notes *ret_layouts, struct nm_error *err);

/* ---- advised_layouts.c ---- */

/* The candidate layouts (src/whatif/candidate.h) that the summary's sentences advise. Call nm_advised_layouts_done in
 * any case. */
struct nm_advised_layouts {
	struct nm_vec(const char *) texts;
	struct nm_strings names; /* the texts */
};
int nm_advised_layouts_make(struct nm_profile *profile, struct nm_advised_layouts *ret_layouts,
			    struct nm_error *err);
void nm_advised_layouts_done(struct nm_advised_layouts *layouts);

/* ---- huge_pages.c ---- */

/* The misses of the last level of a TLB that huge pages would save. */
struct nm_huge_pages_saving {
	char level[40], object[200]; /* object: the one that saves most */
	const char *pages;           /* "2M"; NULL: not simulated */
	int64_t misses, saved, of_object;
};
int nm_huge_pages_estimate(struct nm_profile *profile, const char *process,
			   struct nm_huge_pages_saving *ret_saving, struct nm_error *err);

/* ---- prefetches.c ---- */

/* Takes a sentence, malloc'ed, for each place whose prefetches are useless or, if the program is memory-bound, too
 * late or too early. `take` returns 0 or a code. */
int nm_prefetches_judge(struct nm_profile *profile, const char *process, int is_bound,
			int (*take)(void *arg, char *sentence), void *arg, struct nm_error *err);

#endif
