/* SPDX-License-Identifier: MIT
 *
 * notes.h - the sentences under the summary.
 */
#ifndef NM_REPORT_NOTES_H
#define NM_REPORT_NOTES_H

#include "table.h"
#include "verdict.h"

struct nm_notes nm_vec(const char *);

/* What to try against the first pairs if the verdict is that the program is memory-bound, and what was wrong
 * with the recording. The sentences live in the pool of `pairs`. */
int nm_notes_make(struct nm_profile *profile, const struct nm_selection *selection,
		  const struct nm_verdict *verdict, struct nm_table *pairs, struct nm_notes *ret_notes,
		  struct nm_error *err);

/* ---- huge_pages.c ---- */

/* The misses of the last level of a TLB that huge pages would save. */
struct nm_huge_pages_saving {
	char level[40], object[200]; /* object: the one that saves most */
	const char *pages;           /* "2M"; NULL: not simulated */
	int64_t misses, saved, of_object;
};
int nm_huge_pages_estimate(struct nm_profile *profile, const char *process,
			   struct nm_huge_pages_saving *ret_saving, struct nm_error *err);

#endif
