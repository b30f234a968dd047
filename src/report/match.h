/* SPDX-License-Identifier: MIT
 *
 * match.h - which object, function and line of one profile is which of another, through edits of the source.
 *
 * - An object is the one of the same name. Names that differ only in the numbers of lines or addresses, as
 *   heap blocks have them, match in their order if both profiles have as many of them.
 * - A function is the one of the same name in the same file, else in a file of the same name in another
 *   folder, else in the only file that has one of that name; else one of the same file whose lines are alike.
 * - Lines of a function: lines.h.
 */
#ifndef NM_DIFF_MATCH_H
#define NM_DIFF_MATCH_H

#include "facts.h"
#include "texts.h"

/* One profile with its source texts. */
struct nm_diff_matched {
	struct nm_diff_side *side;
	struct nm_diff_texts *texts;
};

/* Sets the common names of the facts of `to`, so that what `from` has too has the names there. *unique counts
 * lines that only one profile has; start at 0. */
int nm_diff_match(const struct nm_diff_matched *from, const struct nm_diff_matched *to,
		  struct nm_strings *pool, int64_t *unique, struct nm_error *err);

#endif
