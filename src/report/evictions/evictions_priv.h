/* SPDX-License-Identifier: MIT
 *
 * evictions_priv.h - the forms in which evictions are shown. Of a request, `object` is the evictor and
 * `function` the victim.
 */
#ifndef NM_REPORT_EVICTIONS_PRIV_H
#define NM_REPORT_EVICTIONS_PRIV_H

#include "report_priv.h"

/* The matrix of the objects that lost (took, or took from themselves) most lines. */
int nm_eviction_matrix(struct nm_profile *profile, const struct nm_selection *selection,
		       const struct nm_style *style, FILE *out, struct nm_error *err);

/* Writes "matrix evicted 150,000 lines of matrix from L1d: 90.4 % of all that matrix lost", what more there is to say,
 * and an empty line. */
int nm_eviction_title(struct nm_profile *profile, const struct nm_selection *selection, const char *more,
		      unsigned width, FILE *out, struct nm_error *err);

/* The sets that lost lines of the chosen pair, or of all objects. */
int nm_eviction_sets(struct nm_profile *profile, struct nm_selection *selection, const struct nm_style *style,
		     FILE *out, struct nm_error *err);

#endif
