/* SPDX-License-Identifier: MIT
 *
 * selection.h - checks a user's selection in a profile: a level, a process, a thread, a region.
 */
#ifndef NM_PROFILE_SELECTION_H
#define NM_PROFILE_SELECTION_H

#include "reader.h"

/* 0 if the profile has it; else NM_EINVAL, and the message lists what it has. */
int nm_select_level(struct nm_profile *profile, const char *level, struct nm_error *err);
int nm_select_process(struct nm_profile *profile, const char *process, struct nm_error *err);
/* Of the profiles that it was merged from; NM_EINVAL also if it was not. */
int nm_select_input(struct nm_profile *profile, const char *input, struct nm_error *err);
int nm_select_thread(struct nm_profile *profile, int64_t thread, struct nm_error *err);
/* Also NM_EINVAL if the program named none. */
int nm_select_region(struct nm_profile *profile, const char *region, struct nm_error *err);

/* 0 if the profile has counts of simulated caches; NM_EINVAL if it is of a sampled recording: the message
 * says what to use instead. */
int nm_select_counts(struct nm_profile *profile, struct nm_error *err);
/* 1 for a profile of a sampled recording, 0 for others, or a code. */
int nm_profile_is_sampled(struct nm_profile *profile, struct nm_error *err);

/* 1 for a profile of a processor's samples (nearmiss import), 0 for others, or a code. */
int nm_profile_has_samples(struct nm_profile *profile, struct nm_error *err);

/* 1 if it holds call chains (views contexts and context_counts), 0 if it does not, or a code. */
int nm_profile_has_contexts(struct nm_profile *profile, struct nm_error *err);

/* Why there is nothing of regions: what to do. */
extern const char nm_no_regions[];

/* The same of phases. */
extern const char nm_not_by_phase[];

/* Whether the program named regions; whether the profile is counted by phase: 1, 0 or a code. */
int nm_profile_has_regions(struct nm_profile *profile, struct nm_error *err);
int nm_profile_is_by_phase(struct nm_profile *profile, struct nm_error *err);

/* The name of a phase, given that or the letter that a timeline draws it with; process: that has it, or NULL. The
 * second is for profiles that are counted by phase. *ret_name is malloc'ed. NM_EINVAL lists what there is. */
int nm_find_phase(struct nm_profile *profile, const char *phase, const char *process, char **ret_name,
		  struct nm_error *err);
int nm_select_phase(struct nm_profile *profile, const char *phase, const char *process, char **ret_name,
		    struct nm_error *err);

/* 1 if the view has a row, 0 if it has none, or a code. */
int nm_profile_has_rows(struct nm_profile *profile, const char *view, struct nm_error *err);

/* The first level that takes data; malloc'ed. */
int nm_select_first_level(struct nm_profile *profile, char **ret_level, struct nm_error *err);

#endif
