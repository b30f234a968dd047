/* SPDX-License-Identifier: MIT
 *
 * profile_check.h - checks that a profile of unknown origin holds what readers rely on.
 */
#ifndef NM_PROFILE_CHECK_H
#define NM_PROFILE_CHECK_H

#include "reader.h"

/* Checks that the views of the first version are there, with their columns, and that the short ones (all but
 * counts and evictions) hold values of the right type and range. NM_EFORMAT names the view. path: for the
 * message. */
int nm_profile_check(struct nm_profile *profile, const char *path, struct nm_error *err);

/* The same for call chains: a parent comes before what it calls, so no chain is a cycle. */
int nm_profile_check_contexts(struct nm_profile *profile, struct nm_error *err);

#endif
