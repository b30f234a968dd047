/* SPDX-License-Identifier: MIT
 *
 * evictions_priv.h - the two forms in which evictions are shown.
 */
#ifndef NM_REPORT_EVICTIONS_PRIV_H
#define NM_REPORT_EVICTIONS_PRIV_H

#include "report_priv.h"

/* The matrix of the objects that lost (took, or took from themselves) most lines. */
int nm_eviction_matrix(struct nm_profile *profile, const struct nm_asked *asked, const struct nm_style *style,
		       FILE *out, struct nm_error *err);

#endif
