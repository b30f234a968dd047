/* SPDX-License-Identifier: MIT
 *
 * sharing_priv.h - the forms in which contention is shown.
 */
#ifndef NM_REPORT_SHARING_PRIV_H
#define NM_REPORT_SHARING_PRIV_H

#include "report_priv.h"
#include "sharing.h"

#define NM_COLUMNS_IN(list) (unsigned)(sizeof(list) / sizeof *(list))

/* Lines of memory, of so many bytes, as text: the most false sharing first. */
int nm_sharing_lines(struct nm_profile *profile, struct nm_selection *selection, int64_t bytes,
		     const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
