/* SPDX-License-Identifier: MIT
 *
 * merged.h - what the first screen says of a merged profile: how many profiles it was made of, and which of them
 * behave alike.
 */
#ifndef NM_MERGED_H
#define NM_MERGED_H

#include "report_priv.h"

/* The groups; none if the profile is not merged. */
int nm_groups_fill(struct nm_profile *profile, const struct nm_selection *selection,
		   struct nm_report_table *ret_groups, struct nm_error *err);

/* "merged      6 profiles; 4 behave alike: rank 1-4; 2 behave alike: rank 0, rank 5 ...". 0 or NM_ENOMEM. */
int nm_groups_print(const struct nm_table *groups, unsigned width, FILE *out);

#endif
