/* SPDX-License-Identifier: MIT
 *
 * open_profile.h - opens a profile, or the samples in a file of perf as if they were imported.
 */
#ifndef NM_OPEN_PROFILE_H
#define NM_OPEN_PROFILE_H

#include "reader.h"
#include "run.h"

/* As nm_profile_open. Of a perf.data file a profile is made that nobody else sees; a damaged one gives a message
 * and what was read. */
int nm_open_profile(struct nm_profile **ret_profile, const char *path, struct nm_error *err);

/* Progress of an import, on a terminal unless `quiet`. */
struct nm_run_feedback nm_samples_feedback(int quiet);

#endif
