/* SPDX-License-Identifier: MIT
 *
 * name_match.h - matches names that a user types to select objects, functions and files.
 */
#ifndef NM_NAME_MATCH_H
#define NM_NAME_MATCH_H

#include "reader.h"

struct nm_name_pattern {
	const char *operator_; /* SQL: "=" or "GLOB" */
	char *pattern;         /* malloc'ed */
};

/* Finds what the user means by `typed` among the column `name` of the query `names`: one of its values, else
 * a pattern of *, ? and [...] that fits some, else, where `paths`, the last components of some. Leaves
 * *ret_pattern alone if typed is NULL. NM_EINVAL: nothing fits; the message suggests what is close. */
int nm_match_name(struct nm_profile *profile, const char *what, const char *typed, const char *names,
		  int paths, struct nm_name_pattern *ret_pattern, struct nm_error *err);
void nm_name_pattern_done(struct nm_name_pattern *choice);

/* Returns NM_EINVAL with the message `no WHAT "typed"` and those of the words (ended by NULL) that are close,
 * or else all. */
int nm_fail_unknown(const char *what, const char *typed, const char *const *words, struct nm_error *err);

/* Fills `list` with up to three of the texts of the query `names` that are close to `typed`, "a, or b"; "": none is.
 * Of a path its last component counts, of a function its name without parameters. 0 or a code. */
int nm_near_names(struct nm_profile *profile, const char *typed, const char *names, char *list, size_t room,
		  struct nm_error *err);

#endif
