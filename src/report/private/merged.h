/* SPDX-License-Identifier: MIT
 *
 * merged.h - the profiles that a merged one was made of: reports of them, and the lines about them on the first screen.
 */
#ifndef NM_MERGED_H
#define NM_MERGED_H

#include "report_priv.h"

enum { NM_MERGED_REPORTS = 4 };
extern const struct nm_report nm_merged_reports[NM_MERGED_REPORTS];

/* The groups; none if the profile is not merged. */
int nm_groups_fill(struct nm_profile *profile, const struct nm_selection *selection,
		   struct nm_report_table *ret_groups, struct nm_error *err);

/* "merged      6 profiles; 4 alike: rank 1-4; 2 alike: rank 0, 5 (most in ...)". 0 or NM_ENOMEM. */
int nm_groups_print(const struct nm_table *groups, unsigned width, FILE *out);

#endif
