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

/* How `typed` is meant among the values `name` of the query `names`: as one of them, else as a pattern of *,
 * ? and [...] that fits some, else as the last components of a path where `paths`. *ret_pattern is untouched
 * if typed is NULL. NM_EINVAL: nothing fits; the text tells what is near. */
int nm_match_name(struct nm_profile *profile, const char *what, const char *typed, const char *names,
		  int paths, struct nm_name_pattern *ret_pattern, struct nm_error *err);
void nm_name_pattern_done(struct nm_name_pattern *choice);

/* NM_EINVAL "no WHAT "typed"", with the words (ended by NULL) that there are, or the nearest of them. */
int nm_fail_unknown(const char *what, const char *typed, const char *const *words, struct nm_error *err);

#endif
